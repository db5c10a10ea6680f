"""A table of maps on disk: every entry of a map stands for itself, those touched lately are in memory.

Decides the order in which a map is iterated over: by the bytes of its keys, whatever is in memory. So a map can be larger
than memory, and what an entry costs does not grow with its map. Generations as in ``disk_table``. Made by the disk backend.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Any

from headrace.state.descriptors import StateDescriptor
from headrace.state.disk_file import DiskFile
from headrace.state.disk_table import SAMPLE_AT, SAMPLES
from headrace.state.entry_codec import encode_key
from headrace.state.heap_table import MISSING, HeapMapTable
from headrace.state.interfaces import MapState
from headrace.state.key_groups import GroupCache
from headrace.state.keyed_states import KeyHolder
from headrace.state.tombstone import TOMBSTONE, Entries, StateDelta

__all__ = ["DiskMapState", "DiskMapTable"]

_BYTES = itemgetter(0)


class DiskMapTable(HeapMapTable):
    """Maps by their owner. ``data`` has the young generation: owner -> map key -> value, MISSING for what is not there."""

    __slots__ = ("_file", "_group_of", "_next_sample", "_old", "_undelivered", "_unwritten", "in_memory")

    sweeps = False

    def __init__(self, name: str, kind: str, namespaced: bool, file: DiskFile, group_of: GroupCache) -> None:
        """Start with what the file has."""
        super().__init__(name, kind, namespaced)
        self._file = file
        self._group_of = group_of
        self._old: dict[Any, dict[Any, Any]] = {}
        # As in `DiskTable`: in one of these until they are both on disk and in a delta.
        self._next_sample = SAMPLE_AT
        self._unwritten: set[tuple[Any, Any]] = set()
        self._undelivered: set[tuple[Any, Any]] = set()
        self.in_memory = 0
        """How many entries came in since the last `retire`."""

    def _cached(self, owner: Any) -> dict[Any, Any]:
        entries = self.data.get(owner)
        if entries is None:
            entries = self.data[owner] = self._old.pop(owner, None) or {}
            self.in_memory += len(entries) + 1
        return entries

    def lookup(self, owner: Any, key: Any) -> Any:
        """Give the value of an entry, MISSING if there is none."""
        cached = self._cached(owner)
        value = cached.get(key, TOMBSTONE)
        if value is TOMBSTONE:
            value = cached[key] = self._file.get((owner, key), MISSING)
            self.in_memory += 1
        return value

    def put(self, owner: Any, key: Any, value: Any) -> None:
        """Set the value of an entry."""
        cached = self._cached(owner)
        self.in_memory += key not in cached
        cached[key] = value
        self.dirty.add((owner, key))

    def remove(self, owner: Any, key: Any) -> bool:
        """Remove an entry; say whether it was there."""
        if self.lookup(owner, key) is MISSING:
            return False
        self.put(owner, key, MISSING)
        return True

    def entries(self, owner: Any) -> Iterator[tuple[Any, Any]]:
        """Iterate over the entries of a map as they were when it began; what is only on disk is read one by one."""
        cached = dict(self._cached(owner))
        in_memory = sorted(((encode_key(key)[0], key, value) for key, value in cached.items()), key=_BYTES)
        for _, key, value in merge(in_memory, self._stored(owner, cached), key=_BYTES):
            if value is not MISSING:
                yield key, value

    def _stored(self, owner: Any, but: dict[Any, Any]) -> Iterator[tuple[bytes, Any, Any]]:
        for data, found in self._file.scan_owner(owner, self._group_of[self._key_of((owner, None))]):
            for (_, key), value in found:
                if key not in but:
                    yield data, key, value

    def clear(self, owner: Any) -> None:
        """Remove a map."""
        for key, _ in list(self.entries(owner)):
            self.put(owner, key, MISSING)

    def is_empty(self, owner: Any) -> bool:
        """Say whether a map has no entry."""
        if any(value is not MISSING for value in self._cached(owner).values()):
            return False
        return next(self.entries(owner), None) is None

    @property
    def changes(self) -> int:
        """How many entries changed since the last delta."""
        return len(self.dirty) + len(self._undelivered)

    def _written(self) -> None:
        """What is marked as changed is on disk; only the next delta must still know it."""
        self._unwritten = set()
        self._undelivered.update(self.dirty)
        self.dirty.clear()

    @property
    def average(self) -> float:
        """About how many bytes an entry has on disk; some are weighed whenever their number has doubled."""
        if self.in_memory >= self._next_sample:
            self._next_sample = 2 * self.in_memory
            values = (value for entries in reversed(self.data.values()) for value in reversed(entries.values()))
            self._file.weigh(islice((value for value in values if value is not MISSING), SAMPLES))
        return self._file.average

    def keys(self) -> Iterable[Any]:
        """Give the owners that have any entry, as they are now."""
        self.write_back()
        before: Any = MISSING
        for _, found in self._file.scan():
            for (owner, _), _ in found:
                if before is MISSING or owner != before:
                    yield owner
                before = owner

    def collect_delta(self, group_of: GroupCache) -> StateDelta:
        """Give the changed entries by key group; those that are only on disk are read again, but stay there."""
        changed = [*self.dirty, *self._undelivered.difference(self.dirty)]
        self._unwritten.update(self.dirty)
        self.dirty.clear()
        self._undelivered = set()
        return self._by_group([(entry, self._now(entry)) for entry in changed], group_of)

    def _known(self, entry: tuple[Any, Any]) -> Any:
        """The value of an entry that is in memory, MISSING if it is not there; TOMBSTONE if memory does not know."""
        owner, key = entry
        cached = self.data.get(owner)
        if cached is None:
            cached = self._old.get(owner)
        return TOMBSTONE if cached is None else cached.get(key, TOMBSTONE)

    def _now(self, entry: tuple[Any, Any]) -> Any:
        value = self._known(entry)
        if value is TOMBSTONE:
            value = self._file.get(entry, MISSING)
        return TOMBSTONE if value is MISSING else value

    def write_back(self) -> None:
        """Bring the disk up to date."""
        puts: Entries = []
        for entry in self._unwritten | self.dirty:
            value = self._known(entry)
            if value is not TOMBSTONE:
                puts.append((entry, TOMBSTONE if value is MISSING else value))
        if puts:
            self._file.put(puts)
        self._written()

    def retire(self) -> None:
        """Write back, and take out of memory what was not used since the last time."""
        self.write_back()
        self._old = dict(self.data)
        self.data.clear()
        self.in_memory = 0
        self._next_sample = SAMPLE_AT

    def snapshot_full(self, group_of: GroupCache) -> StateDelta:
        """Give all entries by key group, read from disk while the snapshot is used."""
        self.write_back()
        return self._file.by_group(self.expiry)  # type: ignore[return-value]  # read like a dict

    def load(self, group: int, entries: Entries, group_of: GroupCache | None = None) -> None:
        """Take over entries of a key group; they do not count as changed."""
        self.retire()
        self._old.clear()
        self._file.put(entries, group)

    def clean(self, entries: int) -> None:
        """Look at some entries on disk, going on where the last look ended, and remove what is expired."""
        expiry = self.expiry
        if expiry is None or expiry.query_after is None:
            return
        now = expiry.now()
        for number, (entry, value) in enumerate(self._file.take_turns(entries)):
            if number % expiry.query_after == 0:
                now = expiry.now()
            if expiry.living(value, now) is None and self._known(entry) is TOMBSTONE:
                self.put(entry[0], entry[1], MISSING)


class DiskMapState(MapState[Any, Any]):
    """A map per key, on disk. Iterators show the map as it was when they began, in the order of its keys' bytes."""

    __slots__ = ("_holder", "_table")

    def __init__(self, holder: KeyHolder, table: DiskMapTable, descriptor: StateDescriptor) -> None:
        """Bind the table."""
        self._holder = holder
        self._table = table

    def get(self, key: Any) -> Any:
        """Give the value under ``key``, ``None`` if there is none."""
        value = self._table.lookup(self._holder.key, key)
        return None if value is MISSING else value

    def put(self, key: Any, value: Any) -> None:
        """Set the value under ``key``."""
        self._table.put(self._holder.key, key, value)

    def put_all(self, dict_value: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        """Set all entries of ``dict_value``."""
        for key, value in dict(dict_value).items():
            self._table.put(self._holder.key, key, value)

    def remove(self, key: Any) -> None:
        """Remove ``key``."""
        self._table.remove(self._holder.key, key)

    def contains(self, key: Any) -> bool:
        """Say whether there is an entry under ``key``."""
        return self._table.lookup(self._holder.key, key) is not MISSING

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over the entries."""
        return self._table.entries(self._holder.key)

    def keys(self) -> Iterator[Any]:
        """Iterate over the keys."""
        return (key for key, _ in self.items())

    def values(self) -> Iterator[Any]:
        """Iterate over the values."""
        return (value for _, value in self.items())

    def is_empty(self) -> bool:
        """Say whether there is no entry."""
        return self._table.is_empty(self._holder.key)

    def clear(self) -> None:
        """Remove all entries of the current key."""
        self._table.clear(self._holder.key)
