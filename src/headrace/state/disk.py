"""The disk backend: keyed state and timers of one operator's subtask on the local disk, recently used entries in memory.

Decides when entries leave memory: when the recent ones may take more than half of the budget. So memory holds at most
the budget and the entries that one run of records touches. While everything fits, nothing is written to disk. State files
are the same as those of the heap backend. Made by the task for each operator.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headrace.config.worker_settings import DEFAULT_MEMORY
from headrace.foundation.extras import require_rocksdict
from headrace.state.disk_file import DiskFile
from headrace.state.disk_map_table import DiskMapTable
from headrace.state.disk_store import DiskStore
from headrace.state.disk_table import DiskTable, StoredTable
from headrace.state.disk_timers import DiskTimerQueue
from headrace.state.key_groups import GroupCache
from headrace.state.keyed_backend import TIMER_PREFIX, KeyedBackend
from headrace.state.keyed_states import KeyedMapState
from headrace.state.tombstone import KeyedDelta, StateDelta

__all__ = ["DEFAULT_MEMORY", "DiskKeyedBackend"]

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
        """Return the key group of a key."""
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
