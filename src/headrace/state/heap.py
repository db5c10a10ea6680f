"""The heap backend: keyed state and timers of one operator's subtask as live Python objects.

Decides how restored deltas get into its tables. Never reads or writes files (``headrace.state.files`` does). Made by
the task for each operator.
"""

from __future__ import annotations

from typing import Any

from headrace.state.heap_table import HeapMapTable, HeapTable
from headrace.state.key_groups import GroupCache
from headrace.state.keyed_backend import NO_KEY, TIMER_PREFIX, KeyedBackend
from headrace.state.keyed_states import HeapMapState
from headrace.state.table import Table
from headrace.state.timers import TimerQueue
from headrace.state.tombstone import TOMBSTONE, Entries, KeyedDelta, StateDelta

__all__ = ["NO_KEY", "TIMER_PREFIX", "HeapKeyedBackend"]


class HeapKeyedBackend(KeyedBackend):
    """Tables of live objects by state name, for a range of key groups.

    >>> from headrace.common.typeinfo import Types
    >>> from headrace.state.descriptors import ValueStateDescriptor
    >>> backend = HeapKeyedBackend(128, range(128))
    >>> count = backend.get_state(ValueStateDescriptor("count", Types.LONG()))
    >>> backend.key = "a"
    >>> count.update(1)
    >>> delta = backend.collect_delta()
    >>> restored = HeapKeyedBackend(128, range(128))
    >>> restored.apply(delta)
    >>> restored.key = "a"
    >>> restored.get_state(ValueStateDescriptor("count", Types.LONG())).value()
    1
    """

    __slots__ = ("_pending",)

    map_state = HeapMapState

    def __init__(self, max_parallelism: int, key_groups: range) -> None:
        super().__init__(max_parallelism, key_groups, GroupCache(max_parallelism))
        # Restored states stay by key group until the program asks for them: only then it is known if they are namespaced.
        self._pending: dict[str, dict[int, dict[Any, Any]]] = {}

    def snapshot_full(self) -> KeyedDelta:
        groups = self._groups
        snapshot: KeyedDelta = {
            name: found
            for name, by_group in self._pending.items()
            if (found := {group: list(entries.items()) for group, entries in by_group.items() if entries})
        }
        snapshot |= {name: table.snapshot_full(groups) for name, table in self._tables.items() if table.data}
        snapshot |= {TIMER_PREFIX + name: queue.snapshot_full() for name, queue in self._timers.items() if len(queue)}
        return snapshot | self.raw.snapshot_full()

    def _make_table(self, name: str, kind: str, namespaced: bool) -> Table:
        table: Table = (HeapMapTable if self.is_map(kind) else HeapTable)(name, kind, namespaced)
        for group, entries in self._pending.pop(name, {}).items():
            table.load(group, list(entries.items()), self._groups)
        return table

    def _make_timers(self, name: str) -> TimerQueue:
        queue = TimerQueue(self._groups.__getitem__)
        self._load_timers(name, queue)
        return queue

    def finish_restore(self) -> None:
        """Hand restored timers to their queues, all at once."""
        for name, queue in self._timers.items():
            self._load_timers(name, queue)

    def _load_timers(self, name: str, queue: TimerQueue) -> None:
        restored = self._pending.pop(TIMER_PREFIX + name, {})
        if restored:
            queue.apply({group: list(entries.items()) for group, entries in restored.items()}, self.key_groups)

    def _apply(self, name: str, by_group: StateDelta) -> None:
        if name in self._tables:
            for group, entries in by_group.items():
                self._tables[name].load(group, entries)
        else:
            pending = self._pending.setdefault(name, {})
            # The queue may have the timer that a tombstone deletes.
            keep = name.startswith(TIMER_PREFIX) and name[len(TIMER_PREFIX) :] in self._timers
            for group, entries in by_group.items():
                _apply_entries(pending.setdefault(group, {}), entries, keep)


def _apply_entries(data: dict[Any, Any], entries: Entries, keep: bool) -> None:
    data.update(entries)
    for entry_key, value in entries:
        if value is TOMBSTONE and not keep:
            data.pop(entry_key, None)
