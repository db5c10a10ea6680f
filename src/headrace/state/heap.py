"""The heap backend: keyed state and timers of one operator's subtask as live Python objects.

Decides which table stands behind which name, and what a restored delta means for it. Never reads or writes files
(``headrace.state.files`` does) and never chooses the current key (the operator does, by ``backend.key = key`` for
each record). Made by the task for each keyed operator.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NoReturn, overload

from headrace.common.errors import StateError, TypeMismatchError
from headrace.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from headrace.state.heap_states import (
    HeapAggregatingState,
    HeapListState,
    HeapMapState,
    HeapReducingState,
    HeapValueState,
    KeyHolder,
)
from headrace.state.heap_table import HeapTable
from headrace.state.key_groups import GroupCache
from headrace.state.opaque_key import unwrap_key
from headrace.state.timers import TimerQueue
from headrace.state.tombstone import TOMBSTONE, KeyedDelta, StateDelta
from headrace.state.ttl_states import TTL_IMPLEMENTATIONS, ttl_kind

__all__ = ["NO_KEY", "TIMER_PREFIX", "HeapKeyedBackend"]

TIMER_PREFIX = "_timer_state/"
_TABLE = "table"

_IMPLEMENTATIONS: dict[str, type[Any]] = {
    ValueStateDescriptor.kind: HeapValueState,
    ListStateDescriptor.kind: HeapListState,
    MapStateDescriptor.kind: HeapMapState,
    ReducingStateDescriptor.kind: HeapReducingState,
    AggregatingStateDescriptor.kind: HeapAggregatingState,
}


def wall_clock() -> int:
    """Give the wall-clock time in milliseconds.

    >>> wall_clock() > 1_700_000_000_000
    True
    """
    return time.time_ns() // 1_000_000


class _NoKey:
    """The current key while there is none: any use of it in a table raises."""

    __slots__ = ()

    def __hash__(self) -> NoReturn:
        raise StateError(
            "Keyed state can only be used on a keyed stream, while a record or timer of a key is processed",
            remedy="put key_by(...) before the operator; do not use keyed state in open(), close() or for broadcast "
            "elements",
        )

    def __repr__(self) -> str:
        return "NO_KEY"


NO_KEY = _NoKey()


class HeapKeyedBackend(KeyHolder):
    """Tables of live objects by state name, for a range of key groups.

    >>> from headrace.common.typeinfo import Types
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

    __slots__ = ("_groups", "_kinds", "_pending", "_tables", "_timers", "key_groups", "max_parallelism", "now")

    def __init__(self, max_parallelism: int, key_groups: range) -> None:
        """Start empty, with no current key."""
        self.key: Any = NO_KEY
        self.now: Callable[[], int] = wall_clock
        """The processing time by which states with a time to live expire, in milliseconds."""
        self.max_parallelism = max_parallelism
        self.key_groups = key_groups
        self._groups = GroupCache(max_parallelism)
        self._tables: dict[str, HeapTable] = {}
        self._timers: dict[str, TimerQueue] = {}
        # Restored states that nobody asked for yet stay by key group: only who asks knows if they are namespaced.
        self._pending: dict[str, dict[int, dict[Any, Any]]] = {}
        self._kinds: dict[str, str] = {}

    def current_key(self) -> Any:
        """Give the current key as the user's key selector returned it."""
        if self.key is NO_KEY:
            hash(NO_KEY)
        return unwrap_key(self.key)

    @overload
    def get_state(self, descriptor: ValueStateDescriptor) -> HeapValueState: ...
    @overload
    def get_state(self, descriptor: ListStateDescriptor) -> HeapListState: ...
    @overload
    def get_state(self, descriptor: MapStateDescriptor) -> HeapMapState: ...
    @overload
    def get_state(self, descriptor: ReducingStateDescriptor) -> HeapReducingState: ...
    @overload
    def get_state(self, descriptor: AggregatingStateDescriptor) -> HeapAggregatingState: ...
    def get_state(self, descriptor: StateDescriptor) -> Any:
        """Give the state that the descriptor describes; the same name always means the same contents."""
        implementation = _IMPLEMENTATIONS.get(getattr(descriptor, "kind", ""))
        if implementation is None:
            raise TypeMismatchError("Not a state descriptor", seen=descriptor, expected="a StateDescriptor")
        if descriptor.name.startswith(TIMER_PREFIX):
            raise StateError(f"State names must not start with {TIMER_PREFIX!r}", seen=descriptor.name)
        if descriptor.ttl_config is not None and descriptor.ttl_config.is_enabled():
            table = self.table(descriptor.name, kind=ttl_kind(descriptor.kind))
            return TTL_IMPLEMENTATIONS[descriptor.kind](self, table, descriptor, self.now)
        return implementation(self, self.table(descriptor.name, kind=descriptor.kind), descriptor)

    def keys_of(self, descriptor: StateDescriptor) -> list[Any]:
        """Give all keys that have an entry in a state that :meth:`get_state` was asked for."""
        return list(self._tables[descriptor.name].data)

    def table(self, name: str, *, namespaced: bool = False, kind: str = _TABLE) -> HeapTable:
        """Give the table of that name, made empty (or from what was restored) at the first call."""
        table = self._tables.get(name)
        if table is None:
            self._check_kind(name, kind)
            table = self._tables[name] = HeapTable(name, kind, namespaced)
            for group, entries in self._pending.pop(name, {}).items():
                table.data.update(entries)
                self._groups.learn([entry_key[0] for entry_key in entries] if namespaced else entries, group)
        elif table.kind != kind or table.namespaced != namespaced:
            raise _wrong_kind(name, _shown(table.kind, table.namespaced), _shown(kind, namespaced))
        return table

    def timers(self, name: str) -> TimerQueue:
        """Give the timer queue of that name, made empty (or from what was restored) at the first call."""
        queue = self._timers.get(name)
        if queue is None:
            queue = self._timers[name] = TimerQueue(self._groups.__getitem__)
            restored = self._pending.pop(TIMER_PREFIX + name, {})
            if restored:
                queue.apply({group: list(entries.items()) for group, entries in restored.items()}, self.key_groups)
        return queue

    def state_kinds(self) -> dict[str, str]:
        """Give the kind of every state, to be filed beside the entries and handed to :meth:`apply` again."""
        return self._kinds | {name: table.kind for name, table in self._tables.items()}

    def collect_delta(self) -> KeyedDelta:
        """Give what changed since the last call, by state and key group, and start anew.

        Values are the live objects: pickle the delta before the next record is processed. The cost grows with what
        changed only.
        """
        groups = self._groups
        delta = {name: table.collect_delta(groups) for name, table in self._tables.items() if table.dirty}
        for name, queue in self._timers.items():
            changed = queue.collect_delta()
            if changed:
                delta[TIMER_PREFIX + name] = changed
        return delta

    def snapshot_full(self) -> KeyedDelta:
        """Give everything, in the same shape; what counts as changed stays as it is."""
        groups = self._groups
        snapshot = {
            name: {group: list(entries.items()) for group, entries in by_group.items()}
            for name, by_group in self._pending.items()
        }
        snapshot |= {name: table.snapshot_full(groups) for name, table in self._tables.items() if table.data}
        snapshot |= {TIMER_PREFIX + name: queue.snapshot_full() for name, queue in self._timers.items() if len(queue)}
        return snapshot

    def apply(self, delta: KeyedDelta, kinds: dict[str, str] | None = None) -> None:
        """Take over a delta or snapshot, as far as it belongs to this backend's key groups.

        Later calls win. What is applied does not count as changed.
        """
        for name, kind in (kinds or {}).items():
            if name in self._tables and self._tables[name].kind != kind:
                raise _wrong_kind(name, kind, self._tables[name].kind)
            self._kinds[name] = kind
        for name, by_group in delta.items():
            if name in self._tables:
                data = self._tables[name].data
                for group, entries in by_group.items():
                    if group in self.key_groups:
                        _apply_entries(data, entries)
            elif name.startswith(TIMER_PREFIX) and name[len(TIMER_PREFIX) :] in self._timers:
                self._timers[name[len(TIMER_PREFIX) :]].apply(by_group, self.key_groups)
            else:
                self._apply_pending(name, by_group)

    def _apply_pending(self, name: str, by_group: StateDelta) -> None:
        pending = self._pending.setdefault(name, {})
        for group, entries in by_group.items():
            if group in self.key_groups:
                _apply_entries(pending.setdefault(group, {}), entries)

    def _check_kind(self, name: str, kind: str) -> None:
        restored = self._kinds.get(name, kind)
        if restored != kind:
            raise _wrong_kind(name, restored, kind)


def _apply_entries(data: dict[Any, Any], entries: list[tuple[Any, Any]]) -> None:
    data.update(entries)
    for entry_key, value in entries:
        if value is TOMBSTONE:
            data.pop(entry_key, None)


def _shown(kind: str, namespaced: bool) -> str:
    return f"{kind} per window" if namespaced else kind


def _wrong_kind(name: str, present: str, wanted: str) -> StateError:
    return StateError(
        f"The state {name!r} is a {present} and cannot be used as a {wanted}",
        seen=wanted,
        expected=present,
        remedy="give each state of an operator its own name",
    )
