"""The base of keyed backends: states, tables and timer queues by name, for a range of key groups.

Decides which table a name means, and refuses a name that is used for two kinds of state. Subclasses decide how entries
are kept: as live objects (``heap``) or on disk (``disk``). Operators see this class only. Never chooses the current key:
the operator sets ``backend.key`` for each record.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn, overload

from headrace.errors import StateError, TypeMismatchError
from headrace.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from headrace.state.interfaces import AggregatingState, ListState, MapState, ReducingState, ValueState
from headrace.state.key_groups import GroupCache
from headrace.state.keyed_states import (
    KeyedAggregatingState,
    KeyedListState,
    KeyedReducingState,
    KeyedValueState,
    KeyHolder,
)
from headrace.state.opaque_key import unwrap_key
from headrace.state.raw_state import RAW_PREFIX, RawKeyedState
from headrace.state.state_types import StateTypes
from headrace.state.table import Table
from headrace.state.timers import TimerQueue
from headrace.state.tombstone import KeyedDelta
from headrace.state.ttl_states import (
    TtlAggregatingState,
    TtlListState,
    TtlMapState,
    TtlReducingState,
    TtlValueState,
    ttl_kind,
)

TIMER_PREFIX = "_timer_state/"
OWN_TABLE = "table"
"""The kind of tables that belong to operators themselves."""

_IMPLEMENTATIONS: dict[str, tuple[type[Any] | None, type[Any]]] = {
    ValueStateDescriptor.kind: (KeyedValueState, TtlValueState),
    ListStateDescriptor.kind: (KeyedListState, TtlListState),
    MapStateDescriptor.kind: (None, TtlMapState),
    ReducingStateDescriptor.kind: (KeyedReducingState, TtlReducingState),
    AggregatingStateDescriptor.kind: (KeyedAggregatingState, TtlAggregatingState),
}
"""The implementation without and with a time to live; None if the backend decides."""


def wall_clock() -> int:
    """Return the wall-clock time in milliseconds.

    >>> wall_clock() > 1_700_000_000_000
    True
    """
    return time.time_ns() // 1_000_000


class _NoKey:
    """The current key while there is none: using it in a table raises an error."""

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


class KeyedBackend(KeyHolder):
    """Tables and timers of one operator's subtask."""

    __slots__ = (
        "_groups",
        "_kinds",
        "_sweepers",
        "_tables",
        "_timers",
        "key_groups",
        "max_parallelism",
        "now",
        "raw",
        "types",
    )

    map_state: type[Any]
    """The implementation of map states."""
    large = False
    """Whether state may be larger than memory: then operators keep everything in their tables."""

    def __init__(self, max_parallelism: int, key_groups: range, groups: GroupCache) -> None:
        self.key: Any = NO_KEY
        self.now: Callable[[], int] = wall_clock
        """The processing time by which states with a time to live expire, in milliseconds."""
        self.max_parallelism = max_parallelism
        self.key_groups = key_groups
        self._groups = groups
        self._tables: dict[str, Table] = {}
        self._timers: dict[str, TimerQueue] = {}
        self._kinds: dict[str, str] = {}
        self._sweepers: list[Callable[[], None]] = []
        self.raw = RawKeyedState()
        """Bytes by key group that functions manage themselves."""
        self.types = StateTypes()
        """The declared types of the states that programs ask for."""

    def current_key(self) -> Any:
        """Return the current key as the user's key selector returned it."""
        if self.key is NO_KEY:
            hash(NO_KEY)
        return unwrap_key(self.key)

    def in_turn(self, keys: Iterable[Any]) -> Iterable[Any]:
        """Return the keys of a run of records, to be made the current key one after the other.

        States whose time to live asks for a clean-up with every record do it as each key is taken. Without such states
        these are the keys themselves, so records cost nothing more.
        """
        return self._sweeping(keys) if self._sweepers else keys

    def _sweeping(self, keys: Iterable[Any]) -> Iterator[Any]:
        for key in keys:
            for sweep in self._sweepers:
                sweep()
            yield key

    # -- states ---------------------------------------------------------------------------------------------------

    @overload
    def get_state(self, descriptor: ValueStateDescriptor) -> ValueState[Any]: ...
    @overload
    def get_state(self, descriptor: ListStateDescriptor) -> ListState[Any]: ...
    @overload
    def get_state(self, descriptor: MapStateDescriptor) -> MapState[Any, Any]: ...
    @overload
    def get_state(self, descriptor: ReducingStateDescriptor) -> ReducingState[Any]: ...
    @overload
    def get_state(self, descriptor: AggregatingStateDescriptor) -> AggregatingState[Any, Any]: ...
    def get_state(self, descriptor: StateDescriptor) -> Any:
        """Return the state that the descriptor describes; the same name always means the same contents."""
        for prefix in (TIMER_PREFIX, RAW_PREFIX):
            if getattr(descriptor, "name", "").startswith(prefix):
                raise StateError(f"State names must not start with {prefix!r}", seen=descriptor.name)
        return self.state_at(self, descriptor)

    def state_at(
        self, holder: KeyHolder, descriptor: StateDescriptor, prefix: str = "", namespaced: bool = False
    ) -> Any:
        """Return a state whose current key (with its namespace) is ``holder.key``, filed under a name with ``prefix``."""
        kind = getattr(descriptor, "kind", "")
        if kind not in _IMPLEMENTATIONS:
            raise TypeMismatchError("Not a state descriptor", seen=descriptor, expected="a StateDescriptor")
        plain, expiring = _IMPLEMENTATIONS[kind]
        name = prefix + descriptor.name
        expires = descriptor.ttl_config is not None and descriptor.ttl_config.is_enabled()
        table = self.table(name, namespaced=namespaced, kind=ttl_kind(kind) if expires else kind)
        self.types.declare(name, descriptor.type_info)
        if not expires:
            return (plain or self.map_state)(holder, table, descriptor)
        state = expiring(holder, table, descriptor, self.now)
        if state.sweeps_for_every_record:
            self._sweepers.append(state.sweep)
        return state

    def keys_of(self, descriptor: StateDescriptor) -> Iterable[Any]:
        """Return all keys that have an entry in a state that :meth:`get_state` was asked for."""
        return self._tables[descriptor.name].keys()

    def table(self, name: str, *, namespaced: bool = False, kind: str = OWN_TABLE) -> Any:
        """Return the table of that name, made at the first call: empty, or as it was restored."""
        table = self._tables.get(name)
        if table is None:
            restored = self._kinds.get(name, kind)
            if restored != kind:
                raise _wrong_kind(name, restored, kind)
            table = self._tables[name] = self._make_table(name, kind, namespaced)
        elif table.kind != kind or table.namespaced != namespaced:
            raise _wrong_kind(name, _shown(table.kind, table.namespaced), _shown(kind, namespaced))
        return table

    def timers(self, name: str) -> TimerQueue:
        """Return the timer queue of that name, made at the first call: empty, or as it was restored."""
        queue = self._timers.get(name)
        if queue is None:
            queue = self._timers[name] = self._make_timers(name)
        return queue

    @staticmethod
    def is_map(kind: str) -> bool:
        """Return whether a kind of state is filed entry by entry."""
        return kind in _MAP_KINDS

    @abstractmethod
    def _make_table(self, name: str, kind: str, namespaced: bool) -> Table:
        """Make a table with the entries that were restored under that name."""

    @abstractmethod
    def _make_timers(self, name: str) -> TimerQueue:
        """Make a queue with the timers that were restored under that name."""

    # -- saving ---------------------------------------------------------------------------------------------------

    def state_kinds(self) -> dict[str, str]:
        """Return the kind of every state, to be saved with the entries and passed to :meth:`apply`."""
        return self._kinds | {name: table.kind for name, table in self._tables.items()} | self.raw.kinds()

    def collect_delta(self) -> KeyedDelta:
        """Return what changed since the last call, by state and key group, and start the next delta.

        Values are the live objects: pickle the delta before the next record is processed. The cost grows only with the
        number of changes.
        """
        groups = self._groups
        delta = {name: table.collect_delta(groups) for name, table in self._tables.items() if table.changes}
        for name, queue in self._timers.items():
            changed = queue.collect_delta()
            if changed:
                delta[TIMER_PREFIX + name] = changed
        return delta | self.raw.collect_delta()

    @abstractmethod
    def snapshot_full(self) -> KeyedDelta:
        """Return everything, in the same shape. Changes still count for the next delta. Use it before the next record."""

    def asked_for(self) -> dict[str, str]:
        """Return the kinds of the states that the program asked for since its start, not only restored."""
        return {name: table.kind for name, table in self._tables.items()}

    def restored_kinds(self) -> dict[str, str]:
        return dict(self._kinds)

    def apply(self, delta: KeyedDelta, kinds: dict[str, str] | None = None) -> None:
        """Add the entries of a delta or snapshot that belong to this backend's key groups.

        Later calls win. The entries do not count as changed.
        """
        self.apply_part(delta, kinds)
        self.finish_restore()

    def apply_part(self, delta: KeyedDelta, kinds: dict[str, str] | None = None) -> None:
        """Add a part of a delta. After the last part, call `finish_restore`."""
        for name, kind in (kinds or {}).items():
            if name in self._tables and self._tables[name].kind != kind:
                raise _wrong_kind(name, kind, self._tables[name].kind)
            self._kinds[name] = kind
        for name, by_group in delta.items():
            mine = {group: entries for group, entries in by_group.items() if group in self.key_groups}
            if mine and name.startswith(RAW_PREFIX):
                self.raw.apply(name, mine)
            elif mine:
                self._apply(name, mine)

    def finish_restore(self) -> None:
        """Finish a restore, after its last part."""

    @abstractmethod
    def _apply(self, name: str, by_group: Any) -> None:
        """Add entries of one state."""

    def make_room(self) -> None:
        """Take entries out of memory if necessary. Called between two runs of records, when nothing holds values."""

    def close(self) -> None:
        """Release files and other resources."""


_MAP_KINDS = (MapStateDescriptor.kind, ttl_kind(MapStateDescriptor.kind))


def _shown(kind: str, namespaced: bool) -> str:
    return f"{kind} per window" if namespaced else kind


def _wrong_kind(name: str, present: str, wanted: str) -> StateError:
    remedy = "give each state of an operator its own name"
    if ttl_kind(present) == wanted or present == ttl_kind(wanted):
        remedy = "a time to live cannot be added to saved state, nor taken from it: use another name for the new state"
    return StateError(
        f"The state {name!r} is a {present} and cannot be used as a {wanted}",
        seen=wanted,
        expected=present,
        remedy=remedy,
    )
