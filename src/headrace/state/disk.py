"""The disk backend: keyed state and timers of one operator's subtask on the local disk, recently used entries in memory.

Decides when entries leave memory: when the recent ones may take more than half of the budget. So memory holds at most
the budget and the entries that one run of records touches. While everything fits, nothing is written to disk. State files
are the same as those of the heap backend. Made by the task for each operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from operator import itemgetter
from pathlib import Path
from typing import Any

from headrace.config.worker_settings import DEFAULT_MEMORY
from headrace.foundation.extras import require_rocksdict
from headrace.state.cached_entries import UNKNOWN
from headrace.state.disk_file import DiskFile
from headrace.state.disk_store import DiskStore
from headrace.state.disk_table import DiskTable, StoredTable
from headrace.state.disk_timers import DiskTimerQueue
from headrace.state.entry_codec import encode_key
from headrace.state.key_groups import GroupCache
from headrace.state.keyed_backend import TIMER_PREFIX, KeyedBackend
from headrace.state.keyed_states import KeyedMapState
from headrace.state.table import MISSING, MapTable
from headrace.state.tombstone import TOMBSTONE, KeyedDelta, StateDelta

__all__ = ["DEFAULT_MEMORY", "DiskKeyedBackend"]

_BYTES = itemgetter(0)


class DiskMapTable(StoredTable, MapTable):
    """Maps by owner. ``data`` has the young generation: owner -> map key -> value, MISSING if it does not exist.

    Every entry of a map is stored by itself, so a map can be larger than memory, and the cost of an entry does not grow with
    its map. A map is iterated over by the bytes of its keys, whatever is in memory. Two generations like `cached_entries`.
    """

    __slots__ = ("_group_of", "_in_memory", "_old")

    def __init__(self, name: str, kind: str, namespaced: bool, file: DiskFile, group_of: GroupCache) -> None:
        super().__init__(name, kind, namespaced, file, {})
        self._group_of = group_of
        self._old: dict[Any, dict[Any, Any]] = {}
        self._in_memory = 0

    @property
    def in_memory(self) -> int:
        return self._in_memory

    def _cached(self, owner: Any) -> dict[Any, Any]:
        entries: dict[Any, Any] | None = self.data.get(owner)
        if entries is None:
            entries = self.data[owner] = self._old.pop(owner, None) or {}
            self._in_memory += len(entries) + 1
        return entries

    def lookup(self, owner: Any, key: Any) -> Any:
        cached = self._cached(owner)
        value = cached.get(key, UNKNOWN)
        if value is UNKNOWN:
            value = cached[key] = self._file.get((owner, key), MISSING)
            self._in_memory += 1
        return value

    def put(self, owner: Any, key: Any, value: Any) -> None:
        cached = self._cached(owner)
        self._in_memory += key not in cached
        cached[key] = value
        self.dirty.add((owner, key))

    def remove(self, owner: Any, key: Any) -> bool:
        if self.lookup(owner, key) is MISSING:
            return False
        self.put(owner, key, MISSING)
        return True

    def entries(self, owner: Any) -> Iterator[tuple[Any, Any]]:
        """Iterate over the entries of a map as they are at the start; those only on disk are read one by one."""
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
        for key, _ in list(self.entries(owner)):
            self.put(owner, key, MISSING)

    def is_empty(self, owner: Any) -> bool:
        if any(value is not MISSING for value in self._cached(owner).values()):
            return False
        return next(self.entries(owner), None) is None

    def keys(self) -> Iterable[Any]:
        self.write_back()
        before: Any = MISSING
        for _, found in self._file.scan():
            for (owner, _), _ in found:
                if before is MISSING or owner != before:
                    yield owner
                before = owner

    def _newest(self) -> Iterator[Any]:
        values = (value for entries in reversed(self.data.values()) for value in reversed(entries.values()))
        return (value for value in values if value is not MISSING)

    def _known(self, entry: Any) -> Any:
        owner, key = entry
        cached = self.data.get(owner)
        if cached is None:
            cached = self._old.get(owner, _NOTHING)
        value = cached.get(key, UNKNOWN)
        return TOMBSTONE if value is MISSING else value

    def _set(self, entry: Any, value: Any) -> None:
        self.put(entry[0], entry[1], MISSING if value is None else value)

    def _drop(self) -> None:
        self._old = dict(self.data)
        self.data.clear()
        self._in_memory = 0


_NOTHING: dict[Any, Any] = {}


_ENTRY_OVERHEAD = 200  # bytes: dict slots, tuples, object headers
_OBJECT_FACTOR = 3  # live objects compared with their pickles
_TIMER_BYTES = 400
_CLEANED_PER_TOUCHED = 2


class DiskKeyedBackend(KeyedBackend):
    """Tables on disk by state name, for a range of key groups.

    ``memory`` is the budget in bytes: a quarter goes to the database, the rest to live objects. The sizes of objects are
    estimated from those of pickles.

    >>> import tempfile
    >>> from headrace.state.descriptors import ValueStateDescriptor
    >>> backend = DiskKeyedBackend(128, range(128), Path(tempfile.mkdtemp(), "state"))
    >>> count = backend.get_state(ValueStateDescriptor("count", None))
    >>> backend.key = "a"
    >>> count.update(1)
    >>> backend.collect_delta() == {"count": {backend.group_of("a"): [("a", 1)]}}
    True
    >>> backend.close()
    """

    __slots__ = ("_budget", "_files", "_store")

    map_state = KeyedMapState
    large = True

    def __init__(self, max_parallelism: int, key_groups: range, directory: Path, memory: int = DEFAULT_MEMORY) -> None:
        """Take the directory in which the database is made and removed, and the memory budget."""
        require_rocksdict()
        objects = memory - memory // 4
        super().__init__(max_parallelism, key_groups, GroupCache(max_parallelism, max(1000, objects // 8 // 150)))
        self._budget = objects
        self._store = DiskStore(directory, memory // 4)
        self._files: dict[str, int] = {}

    def group_of(self, key: Any) -> int:
        return self._groups[key]

    @property
    def on_disk(self) -> bool:
        """Whether the state was ever too large for memory."""
        return self._store.is_open

    # -- tables ---------------------------------------------------------------------------------------------------

    def _number(self, name: str) -> int:
        """Return the number of a state in the store; timers have two, the second one for their index."""
        return self._files.setdefault(name, 2 * len(self._files))

    def _make_table(self, name: str, kind: str, namespaced: bool) -> StoredTable:
        groups = self._groups
        number = self._number(name)
        if self.is_map(kind):
            owner = (lambda entry: groups[entry[0][0]]) if namespaced else (lambda entry: groups[entry[0]])
            return DiskMapTable(name, kind, namespaced, DiskFile(self._store, number, owner), groups)
        group_of = (lambda entry: groups[entry[0]]) if namespaced else groups.__getitem__
        return DiskTable(name, kind, namespaced, DiskFile(self._store, number, group_of))

    def _make_timers(self, name: str) -> DiskTimerQueue:
        groups = self._groups
        number = self._number(TIMER_PREFIX + name)
        file = DiskFile(self._store, number, lambda timer: groups[timer[1]])
        return DiskTimerQueue(
            groups.__getitem__, self._store, file, number + 1, self._budget // 4 // _TIMER_BYTES, self.make_room
        )

    # -- memory ---------------------------------------------------------------------------------------------------

    def make_room(self) -> None:
        for queue in self._timers.values():
            queue.make_room()  # type: ignore[attr-defined]  # all are DiskTimerQueues
        tables: list[Any] = list(self._tables.values())
        used = sum(table.in_memory * (_OBJECT_FACTOR * table.average + _ENTRY_OVERHEAD) for table in tables)
        if used * 2 > self._budget:
            for table in tables:
                table.retire()

    def collect_delta(self) -> KeyedDelta:
        """Return the changes since the last call, and clean up some of the expired entries on disk."""
        for table in self._tables.values():
            if table.expiry is not None and self._store.is_open:
                table.clean(_CLEANED_PER_TOUCHED * table.changes + 1)  # type: ignore[attr-defined]
        return super().collect_delta()

    # -- saving ---------------------------------------------------------------------------------------------------

    def snapshot_full(self) -> KeyedDelta:
        """Return everything, read from disk while it is used: use it before the next record."""
        snapshot: dict[str, Any] = {name: table.snapshot_full(self._groups) for name, table in self._tables.items()}
        snapshot |= {TIMER_PREFIX + name: queue.snapshot_full() for name, queue in self._timers.items()}
        for name, number in self._files.items():
            if name not in snapshot:
                snapshot[name] = DiskFile(self._store, number, _no_group).by_group(None)
        return {name: by_group for name, by_group in snapshot.items() if len(by_group)} | self.raw.snapshot_full()

    def _apply(self, name: str, by_group: StateDelta) -> None:
        if name.startswith(TIMER_PREFIX):
            self.timers(name[len(TIMER_PREFIX) :]).apply(by_group, self.key_groups)
        elif name in self._tables:
            for group, entries in by_group.items():
                self._tables[name].load(group, entries)
        else:
            file = DiskFile(self._store, self._number(name), _no_group)
            for group, entries in by_group.items():
                file.put(entries, group)

    def close(self) -> None:
        self._store.close()


def _no_group(entry_key: Any) -> int:
    raise AssertionError(f"the key group of {entry_key!r} is given with it")
