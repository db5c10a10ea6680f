"""Keyed state with a time to live, over heap tables: the states that a descriptor with `enable_time_to_live` gives.

Decides when a value is expired, who may still see it, and when it goes. Each value, list element and map entry is stored
as a pair of itself and the time of its last use, so states without a time to live pay nothing for those that have one. The
rules are Flink's:

1. A value is expired when its last use (a write; with OnReadAndWrite also a read) is the time to live or longer ago.
2. An expired value is removed when it is come across. With NeverReturnExpired nobody sees it any more, with
   ReturnExpiredIfNotCleanedUp whoever comes across it sees it once more.
3. With clean-up in the background (the default) or incrementally, each use also looks at a few other keys in turn, so
   that what is never asked for again goes too.

The clock is the processing time of the subtask. Made by `HeapKeyedBackend`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from headrace.common.time import Duration, Time
from headrace.state.descriptors import AggregatingStateDescriptor, ReducingStateDescriptor, StateDescriptor
from headrace.state.heap_states import KeyHolder
from headrace.state.heap_table import HeapTable
from headrace.state.interfaces import AggregatingState, ListState, MapState, ReducingState, ValueState
from headrace.state.ttl import StateTtlConfig

__all__ = ["TTL_IMPLEMENTATIONS", "ttl_kind"]

Timed = tuple[Any, int]
"""A value and the time of its last use in milliseconds."""


def ttl_kind(kind: str) -> str:
    """Give the kind under which a state with a time to live is filed: its entries look different.

    >>> ttl_kind("ValueState")
    'ValueState with time to live'
    """
    return f"{kind} with time to live"


def milliseconds(ttl: Time | Duration) -> int:
    """Give a time to live in milliseconds.

    >>> milliseconds(Time.seconds(2)), milliseconds(Duration.of_millis(5))
    (2000, 5)
    """
    return ttl.to_milliseconds() if isinstance(ttl, Time) else ttl.to_millis()


class _TtlState:
    """What all kinds share: the entry of the current key, its age, and the look at a few others."""

    __slots__ = ("_data", "_dirty", "_holder", "_now", "_on_read", "_others", "_see_expired", "_sweep_size", "_ttl")

    def __init__(
        self, holder: KeyHolder, table: HeapTable, descriptor: StateDescriptor, now: Callable[[], int]
    ) -> None:
        config = descriptor.ttl_config
        assert config is not None
        self._holder, self._now = holder, now
        self._data, self._dirty = table.data, table.dirty
        self._ttl = milliseconds(config.get_ttl())
        self._on_read = config.get_update_type() is StateTtlConfig.UpdateType.OnReadAndWrite
        visibility = config.get_state_visibility()
        self._see_expired = visibility is StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp
        incremental = config.get_cleanup_strategies().get_incremental_cleanup_strategy()
        self._sweep_size = 0 if incremental is None else incremental.get_cleanup_size()
        self._others: Iterator[Any] = iter(())

    def clear(self) -> None:
        """Remove the entry of the current key."""
        self._remove(self._holder.key)

    def _remove(self, key: Any) -> None:
        if key in self._data:
            del self._data[key]
            self._dirty.add(key)

    def _put(self, key: Any, entry: Any) -> None:
        self._data[key] = entry
        self._dirty.add(key)

    def _expired(self, used: int, now: int) -> bool:
        return used + self._ttl <= now

    def _sweep(self, now: int) -> None:
        """Looks at a few other keys, going on where the last look ended."""
        for _ in range(self._sweep_size):
            key = next(self._others, _NONE)
            if key is _NONE:
                self._others = iter(list(self._data))
                return
            if key in self._data:
                before = self._data[key]
                after = self._living(before, now)
                if after is None:
                    self._remove(key)
                elif after is not before:
                    self._put(key, after)

    def _living(self, entry: Any, now: int) -> Any:
        """What of an entry is not expired: itself, less of it, or None."""
        return None if self._expired(entry[1], now) else entry

    def _read(self) -> Any:
        """The value of the current key by the rules above; None if there is none."""
        now, key = self._now(), self._holder.key
        self._sweep(now)
        entry: Timed | None = self._data.get(key)
        if entry is None:
            return None
        value, used = entry
        if self._expired(used, now):
            self._remove(key)
            return value if self._see_expired else None
        if self._on_read and used != now:
            self._put(key, (value, now))
        return value

    def _unexpired(self, key: Any, now: int) -> Any:
        """The value to go on from in a write: never an expired one."""
        entry: Timed | None = self._data.get(key)
        return None if entry is None or self._expired(entry[1], now) else entry[0]


_NONE = object()


class TtlValueState(_TtlState, ValueState[Any]):
    """A value per key."""

    __slots__ = ()

    def value(self) -> Any:
        """Give the value, ``None`` if there is none."""
        return self._read()

    def update(self, value: Any) -> None:
        """Set the value; ``None`` removes it."""
        now = self._now()
        self._sweep(now)
        if value is None:
            self.clear()
        else:
            self._put(self._holder.key, (value, now))


class TtlListState(_TtlState, ListState[Any]):
    """A list per key, each element with an age of its own."""

    __slots__ = ()

    def get(self) -> list[Any]:
        """Give the elements as a list."""
        now, key = self._now(), self._holder.key
        self._sweep(now)
        entry: list[Timed] | None = self._data.get(key)
        if entry is None:
            return []
        seen = [value for value, used in entry if self._see_expired or not self._expired(used, now)]
        kept = self._living(entry, now)
        if kept is None:
            self._remove(key)
        elif self._on_read:
            self._put(key, [(value, now) for value, _ in kept])
        elif kept is not entry:
            self._put(key, kept)
        return seen

    def add(self, value: Any) -> None:
        """Append one element."""
        self.add_all((value,))

    def add_all(self, values: Iterable[Any]) -> None:
        """Append all elements."""
        now, key = self._now(), self._holder.key
        self._sweep(now)
        added = [(value, now) for value in values]
        if added:
            self._data.setdefault(key, []).extend(added)
            self._dirty.add(key)

    def update(self, values: Iterable[Any]) -> None:
        """Replace the list; an empty one clears the state."""
        now = self._now()
        self._sweep(now)
        replaced = [(value, now) for value in values]
        if replaced:
            self._put(self._holder.key, replaced)
        else:
            self.clear()

    def _living(self, entry: list[Timed], now: int) -> list[Timed] | None:
        kept = [element for element in entry if not self._expired(element[1], now)]
        return entry if len(kept) == len(entry) else kept or None


class TtlMapState(_TtlState, MapState[Any, Any]):
    """A map per key, each entry with an age of its own."""

    __slots__ = ()

    def get(self, key: Any) -> Any:
        """Give the value under ``key``, ``None`` if there is none."""
        now, current = self._now(), self._holder.key
        self._sweep(now)
        entries: dict[Any, Timed] | None = self._data.get(current)
        if entries is None or key not in entries:
            return None
        value, used = entries[key]
        if self._expired(used, now):
            self._drop(current, key)
            return value if self._see_expired else None
        if self._on_read and used != now:
            entries[key] = (value, now)
            self._dirty.add(current)
        return value

    def put(self, key: Any, value: Any) -> None:
        """Set the value under ``key``."""
        self.put_all({key: value})

    def put_all(self, dict_value: Mapping[Any, Any]) -> None:
        """Set all entries of ``dict_value``."""
        now, current = self._now(), self._holder.key
        self._sweep(now)
        if dict_value:
            self._data.setdefault(current, {}).update({key: (value, now) for key, value in dict_value.items()})
            self._dirty.add(current)

    def remove(self, key: Any) -> None:
        """Remove ``key``; without entries the state is empty again."""
        current = self._holder.key
        self._sweep(self._now())
        if key in self._data.get(current, ()):
            self._drop(current, key)

    def contains(self, key: Any) -> bool:
        """Say whether there is an entry under ``key``."""
        now, current = self._now(), self._holder.key
        self._sweep(now)
        entries: dict[Any, Timed] = self._data.get(current, {})
        if key not in entries:
            return False
        if self._expired(entries[key][1], now):
            self._drop(current, key)
            return self._see_expired
        return True

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over the entries, oldest first."""
        return iter(self._seen().items())

    def keys(self) -> Iterator[Any]:
        """Iterate over the keys."""
        return iter(self._seen())

    def values(self) -> Iterator[Any]:
        """Iterate over the values."""
        return iter(self._seen().values())

    def is_empty(self) -> bool:
        """Say whether there is no entry."""
        return not self._seen(touch=False)

    def _drop(self, current: Any, key: Any) -> None:
        entries = self._data[current]
        del entries[key]
        if not entries:
            del self._data[current]
        self._dirty.add(current)

    def _seen(self, touch: bool = True) -> dict[Any, Any]:
        """What a look at the whole map shows; it counts as a use of all entries."""
        now, current = self._now(), self._holder.key
        self._sweep(now)
        entries: dict[Any, Timed] | None = self._data.get(current)
        if entries is None:
            return {}
        seen = {
            key: value for key, (value, used) in entries.items() if self._see_expired or not self._expired(used, now)
        }
        kept = self._living(entries, now)
        if kept is None:
            self._remove(current)
        elif self._on_read and touch:
            self._put(current, {key: (value, now) for key, (value, _) in kept.items()})
        elif kept is not entries:
            self._put(current, kept)
        return seen

    def _living(self, entry: dict[Any, Timed], now: int) -> dict[Any, Timed] | None:
        kept = {key: timed for key, timed in entry.items() if not self._expired(timed[1], now)}
        return entry if len(kept) == len(entry) else kept or None


class TtlReducingState(_TtlState, ReducingState[Any]):
    """A value per key into which a reduce function folds what is added."""

    __slots__ = ("_reduce",)

    def __init__(
        self, holder: KeyHolder, table: HeapTable, descriptor: ReducingStateDescriptor, now: Callable[[], int]
    ) -> None:
        """Bind the reduce function."""
        super().__init__(holder, table, descriptor, now)
        self._reduce = descriptor.get_reduce_function().reduce

    def get(self) -> Any:
        """Give the folded value, ``None`` if nothing was added."""
        return self._read()

    def add(self, value: Any) -> None:
        """Fold one value in; ``None`` clears the state."""
        now, key = self._now(), self._holder.key
        self._sweep(now)
        current = self._unexpired(key, now)
        if value is not None and current is not None:
            value = self._reduce(current, value)
        if value is None:
            self.clear()
        else:
            self._put(key, (value, now))


class TtlAggregatingState(_TtlState, AggregatingState[Any, Any]):
    """An accumulator per key."""

    __slots__ = ("_add", "_create", "_result")

    def __init__(
        self, holder: KeyHolder, table: HeapTable, descriptor: AggregatingStateDescriptor, now: Callable[[], int]
    ) -> None:
        """Bind the methods of the aggregate function."""
        super().__init__(holder, table, descriptor, now)
        function = descriptor.get_agg_function()
        self._create, self._add, self._result = function.create_accumulator, function.add, function.get_result

    def get(self) -> Any:
        """Give the result of the accumulator, ``None`` if nothing was added."""
        accumulator = self._read()
        return None if accumulator is None else self._result(accumulator)

    def add(self, value: Any) -> None:
        """Add one value to the accumulator; ``None`` clears the state."""
        now, key = self._now(), self._holder.key
        self._sweep(now)
        accumulator = None
        if value is not None:
            accumulator = self._unexpired(key, now)
            accumulator = self._add(value, self._create() if accumulator is None else accumulator)
        if accumulator is None:
            self.clear()
        else:
            self._put(key, (accumulator, now))


TTL_IMPLEMENTATIONS: dict[str, type[Any]] = {
    "ValueState": TtlValueState,
    "ListState": TtlListState,
    "MapState": TtlMapState,
    "ReducingState": TtlReducingState,
    "AggregatingState": TtlAggregatingState,
}
