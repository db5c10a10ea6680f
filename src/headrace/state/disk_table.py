"""A table on disk with the entries touched lately as live objects in memory.

Decides what is in memory: an entry that is asked for comes in and stays; what changed is written back when it must leave.
Entries leave in two steps, like in a cache with two generations: ``retire`` makes what came in since the last time the
old generation and forgets the former one. So what is used again and again stays, and a hit costs a dict lookup.

``data`` is a dict to its users. Values got from it may be changed in place if ``dirty`` is told before the next
``retire``, which only happens between two runs of records. Made by the disk backend.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from headrace.state.disk_file import DiskFile
from headrace.state.heap_table import HeapTable
from headrace.state.key_groups import GroupCache
from headrace.state.tombstone import TOMBSTONE, Entries, StateDelta

__all__ = ["CachedEntries", "DiskTable"]

_MISSING = object()
SAMPLE_AT, SAMPLES = 32, 8  # entries in memory before the first are weighed, and how many are


class CachedEntries(dict[Any, Any]):
    """The entries of a table. Itself it holds the young generation; all that a dict is asked for it answers for the rest too.

    What is found in the young generation is found by ``dict`` itself: only misses come to the methods of this class.
    """

    __slots__ = ("_absent", "_file", "_old")

    def __init__(self, file: DiskFile) -> None:
        """Start with what the file has."""
        super().__init__()
        self._file = file
        self._old: dict[Any, Any] = {}
        self._absent: set[Any] = set()  # keys known not to be there; counts only if the young generation has them not

    # -- what a dict does -----------------------------------------------------------------------------------------

    def __missing__(self, key: Any) -> Any:
        """Bring an entry in."""
        value = self._bring(key)
        if value is _MISSING:
            raise KeyError(key)
        return value

    def get(self, key: Any, default: Any = None) -> Any:
        """Give a value."""
        value = dict.get(self, key, _MISSING)
        if value is _MISSING:
            value = self._bring(key)
            if value is _MISSING:
                return default
        return value

    def __contains__(self, key: Any) -> bool:
        """Say whether there is such an entry."""
        return dict.__contains__(self, key) or self._bring(key) is not _MISSING

    def __delitem__(self, key: Any) -> None:
        """Remove an entry."""
        if key not in self:
            raise KeyError(key)
        dict.__delitem__(self, key)
        self._absent.add(key)

    def pop(self, key: Any, *default: Any) -> Any:
        """Remove an entry and give its value."""
        value = self.get(key, _MISSING)
        if value is not _MISSING:
            del self[key]
            return value
        if default:
            return default[0]
        raise KeyError(key)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Give a value, set to ``default`` if there was none."""
        value = self.get(key, _MISSING)
        if value is _MISSING:
            self[key] = value = default
        return value

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the keys."""
        return (key for key, _ in self.items())

    def keys(self) -> Any:
        """Iterate over the keys."""
        return iter(self)

    def values(self) -> Any:
        """Iterate over the values."""
        return (value for _, value in self.items())

    def items(self) -> Any:
        """Iterate over the entries as they were when it began; values that are only on disk stay there."""
        held = self.held()
        absent = frozenset(self._absent)
        yield from held.items()
        for _, entries in self._file.scan():
            for key, value in entries:
                if key not in held and key not in absent:
                    yield key, value

    def __len__(self) -> int:
        """Count the entries, one by one."""
        return sum(1 for _ in self.items())

    def __bool__(self) -> bool:
        """Say whether there is any entry."""
        return dict.__len__(self) > 0 or any(True for _ in self.items())

    def __eq__(self, other: object) -> bool:
        """Compare all entries."""
        return dict(self.items()) == other

    def __ne__(self, other: object) -> bool:
        """Compare all entries."""
        return not self == other

    __hash__ = None

    def clear(self) -> None:
        """Remove all entries."""
        for key in list(self):
            del self[key]

    # -- what the table does --------------------------------------------------------------------------------------

    @property
    def young(self) -> int:
        """How many entries the young generation knows, those that are not there included."""
        return dict.__len__(self) + len(self._absent)

    def held(self) -> dict[Any, Any]:
        """Give the entries in memory."""
        held = {key: value for key, value in self._old.items() if key not in self._absent}
        held.update(dict.items(self))
        return held

    def in_memory(self, key: Any) -> Any:
        """Give a value that is in memory, TOMBSTONE if it is known not to be there, None if nothing is known of it."""
        value = dict.get(self, key, _MISSING)
        if value is not _MISSING:
            return (value,)
        if key in self._absent:
            return TOMBSTONE
        value = self._old.get(key, _MISSING)
        return None if value is _MISSING else (value,)

    def retire(self) -> None:
        """Forget the old generation; all that is in memory must be on disk."""
        self._old = dict(dict.items(self))
        dict.clear(self)
        self._absent = set()

    def _bring(self, key: Any) -> Any:
        if key in self._absent:
            return _MISSING
        value = self._old.pop(key, _MISSING)
        if value is _MISSING:
            value = self._file.get(key, _MISSING)
            if value is _MISSING:
                self._absent.add(key)
                return _MISSING
        self[key] = value
        return value


class DiskTable(HeapTable):
    """One named state of one subtask, on disk."""

    __slots__ = ("_file", "_next_sample", "_undelivered", "_unwritten")

    sweeps = False

    data: CachedEntries

    def __init__(self, name: str, kind: str, namespaced: bool, file: DiskFile) -> None:
        """Start with what the file has."""
        super().__init__(name, kind, namespaced)
        self.data = CachedEntries(file)
        self._file = file
        # Changed entries are marked in ``dirty``; then in one of these, until they are both on disk and in a delta.
        self._next_sample = SAMPLE_AT
        self._unwritten: set[Any] = set()
        self._undelivered: set[Any] = set()

    @property
    def in_memory(self) -> int:
        """How many entries came in since the last `retire`."""
        return self.data.young

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
            self._file.weigh(islice(reversed(dict.values(self.data)), SAMPLES))
        return self._file.average

    def keys(self) -> Iterable[Any]:
        """Give the keys, as they are now."""
        return iter(self.data)

    def collect_delta(self, group_of: GroupCache) -> StateDelta:
        """Give the changed entries by key group; those that are only on disk are read again, but stay there."""
        changed = [*self.dirty, *self._undelivered.difference(self.dirty)]
        self._unwritten.update(self.dirty)
        self.dirty.clear()
        self._undelivered = set()
        return self._by_group([(key, self._now(key)) for key in changed], group_of)

    def _now(self, key: Any) -> Any:
        known = self.data.in_memory(key)
        if known is None:
            return self._file.get(key, TOMBSTONE)
        return known if known is TOMBSTONE else known[0]

    def write_back(self) -> None:
        """Bring the disk up to date."""
        changed = self._unwritten | self.dirty
        if not changed:
            return
        in_memory = self.data.in_memory
        puts: Entries = []
        for key in changed:
            known = in_memory(key)
            if known is not None:
                puts.append((key, known if known is TOMBSTONE else known[0]))
        self._file.put(puts)
        self._written()

    def retire(self) -> None:
        """Write back, and take out of memory what was not used since the last time."""
        self.write_back()
        self.data.retire()
        self._next_sample = SAMPLE_AT

    def snapshot_full(self, group_of: GroupCache) -> StateDelta:
        """Give all entries by key group, read from disk while the snapshot is used."""
        self.write_back()
        return self._file.by_group(self.expiry)  # type: ignore[return-value]  # read like a dict

    def load(self, group: int, entries: Entries, group_of: GroupCache | None = None) -> None:
        """Take over entries of a key group; they do not count as changed."""
        self.retire()
        self.data.retire()
        self._file.put(entries, group)

    def clean(self, entries: int) -> None:
        """Look at some entries on disk, going on where the last look ended, and remove what is expired."""
        expiry = self.expiry
        if expiry is None or expiry.query_after is None:
            return
        now = expiry.now()
        for number, (key, value) in enumerate(self._file.take_turns(entries)):
            if number % expiry.query_after == 0:
                now = expiry.now()
            living = expiry.living(value, now)
            # What is in memory is newer than what was read.
            if living is not value and self.data.in_memory(key) is None:
                if living is None:
                    del self.data[key]
                else:
                    self.data[key] = living
                self.dirty.add(key)
