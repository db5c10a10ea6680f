"""Keyed state with a time to live, over any backend's tables.

Decides when a value expires, whether it can still be seen, and when it is removed. Each value, list element and map entry
is stored with the time of its last use, so states without a time to live cost nothing more. The rules are Flink's:

1. A value expires when its last use (a write; with OnReadAndWrite also a read) is at least the time to live ago.
2. An expired value is removed when it is read. With NeverReturnExpired the read does not return it, with
   ReturnExpiredIfNotCleanedUp it returns it one last time.
3. With clean-up in the background (the default) or incrementally, each use also checks a few other keys in turn, so that
   values that are never read again are removed too. The disk backend instead cleans up a little at the end of each epoch,
   like RocksDB's compaction in Flink. With clean-up in full snapshots, these leave out expired entries.

The clock is the processing time of the subtask. Made by the keyed backends.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import Any

from headrace.state.descriptors import AggregatingStateDescriptor, ReducingStateDescriptor, StateDescriptor
from headrace.state.interfaces import AggregatingState, ListState, MapState, ReducingState, ValueState
from headrace.state.keyed_states import KeyHolder
from headrace.state.table import MISSING, MapTable, Table
from headrace.state.ttl import Expiry, StateTtlConfig

Timed = tuple[Any, int]
"""A value and the time of its last use in milliseconds."""


def ttl_kind(kind: str) -> str:
    """Return the kind under which a state with a time to live is filed: its entries look different.

    >>> ttl_kind("ValueState")
    'ValueState with time to live'
    """
    return f"{kind} with time to live"


class TtlState:
    """The base of all kinds: the entry of the current key, its age, and the check of a few other keys."""

    __slots__ = ("_data", "_dirty", "_expiry", "_holder", "_now", "_on_read", "_others", "_see_expired", "_sweep_size",
                 "_table", "sweeps_for_every_record")  # fmt: skip

    per_element = False

    def __init__(self, holder: KeyHolder, table: Table, descriptor: StateDescriptor, now: Callable[[], int]) -> None:
        config = descriptor.ttl_config
        assert config is not None
        self._holder, self._now = holder, now
        self._table, self._data, self._dirty = table, table.data, table.dirty
        self._expiry = table.expiry = Expiry(config, now, self.per_element)
        self._on_read = config.get_update_type() is StateTtlConfig.UpdateType.OnReadAndWrite
        visibility = config.get_state_visibility()
        self._see_expired = visibility is StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp
        incremental = config.get_cleanup_strategies().get_incremental_cleanup_strategy() if table.sweeps else None
        self._sweep_size = 0 if incremental is None else incremental.get_cleanup_size()
        self.sweeps_for_every_record = incremental is not None and incremental.run_cleanup_for_every_record()
        self._others: Iterator[Any] = iter(())

    def sweep(self) -> None:
        """Check a few other keys. Called for every record if the state is configured so."""
        self._sweep(self._now())

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

    def _sweep(self, now: int) -> None:
        """Check a few other keys, continuing where the last check ended."""
        for _ in range(self._sweep_size):
            key = next(self._others, _NONE)
            if key is _NONE:
                self._others = iter(list(self._data))
                return
            if key in self._data:
                self._clean(key, now)

    def _clean(self, key: Any, now: int) -> None:
        """Remove expired values of a key."""
        before = self._data[key]
        after = self._expiry.living(before, now)
        if after is None:
            self._remove(key)
        elif after is not before:
            self._put(key, after)

    def _read(self) -> Any:
        """Return the value of the current key by the rules above; None if there is none."""
        now, key = self._now(), self._holder.key
        self._sweep(now)
        entry: Timed | None = self._data.get(key)
        if entry is None:
            return None
        value, used = entry
        if self._expiry.expired(used, now):
            self._remove(key)
            return value if self._see_expired else None
        if self._on_read and used != now:
            self._put(key, (value, now))
        return value

    def _unexpired(self, key: Any, now: int) -> Any:
        """Return the value that a write continues from: never an expired one."""
        entry: Timed | None = self._data.get(key)
        return None if entry is None or self._expiry.expired(entry[1], now) else entry[0]


_NONE = object()


class TtlValueState(TtlState, ValueState[Any]):
    """A value per key."""

    __slots__ = ()

    def value(self) -> Any:
        return self._read()

    def update(self, value: Any) -> None:
        now = self._now()
        self._sweep(now)
        if value is None:
            self.clear()
        else:
            self._put(self._holder.key, (value, now))


class TtlListState(TtlState, ListState[Any]):
    """A list per key, each element with its own age."""

    __slots__ = ()

    per_element = True

    def get(self) -> list[Any]:
        now, key = self._now(), self._holder.key
        self._sweep(now)
        entry: list[Timed] | None = self._data.get(key)
        if entry is None:
            return []
        seen = [value for value, used in entry if self._see_expired or not self._expiry.expired(used, now)]
        kept = self._expiry.living(entry, now)
        if kept is None:
            self._remove(key)
        elif self._on_read:
            self._put(key, [(value, now) for value, _ in kept])
        elif kept is not entry:
            self._put(key, kept)
        return seen

    def add(self, value: Any) -> None:
        self.add_all((value,))

    def add_all(self, values: Iterable[Any]) -> None:
        now, key = self._now(), self._holder.key
        self._sweep(now)
        added = [(value, now) for value in values]
        if added:
            self._data.setdefault(key, []).extend(added)
            self._dirty.add(key)

    def update(self, values: Iterable[Any]) -> None:
        now = self._now()
        self._sweep(now)
        replaced = [(value, now) for value in values]
        if replaced:
            self._put(self._holder.key, replaced)
        else:
            self.clear()


class TtlReducingState(TtlState, ReducingState[Any]):
    """A value per key into which a reduce function folds what is added."""

    __slots__ = ("_reduce",)

    def __init__(
        self, holder: KeyHolder, table: Table, descriptor: ReducingStateDescriptor, now: Callable[[], int]
    ) -> None:
        super().__init__(holder, table, descriptor, now)
        self._reduce = descriptor.get_reduce_function().reduce

    def get(self) -> Any:
        return self._read()

    def add(self, value: Any) -> None:
        now, key = self._now(), self._holder.key
        self._sweep(now)
        current = self._unexpired(key, now)
        if value is not None and current is not None:
            value = self._reduce(current, value)
        if value is None:
            self.clear()
        else:
            self._put(key, (value, now))


class TtlAggregatingState(TtlState, AggregatingState[Any, Any]):
    """An accumulator per key."""

    __slots__ = ("_add", "_create", "_result")

    def __init__(
        self, holder: KeyHolder, table: Table, descriptor: AggregatingStateDescriptor, now: Callable[[], int]
    ) -> None:
        super().__init__(holder, table, descriptor, now)
        function = descriptor.get_agg_function()
        self._create, self._add, self._result = function.create_accumulator, function.add, function.get_result

    def get(self) -> Any:
        accumulator = self._read()
        return None if accumulator is None else self._result(accumulator)

    def add(self, value: Any) -> None:
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


class TtlMapState(TtlState, MapState[Any, Any]):
    """A map per key, each entry with its own age."""

    __slots__ = ("_map",)

    def __init__(self, holder: KeyHolder, table: MapTable, descriptor: StateDescriptor, now: Callable[[], int]) -> None:
        super().__init__(holder, table, descriptor, now)
        self._map = table

    def get(self, key: Any) -> Any:
        now, current = self._now(), self._holder.key
        self._sweep(now)
        return self._seen(current, key, self._map.lookup(current, key), now)

    def put(self, key: Any, value: Any) -> None:
        now = self._now()
        self._sweep(now)
        self._map.put(self._holder.key, key, (value, now))

    def put_all(self, dict_value: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        now, current = self._now(), self._holder.key
        self._sweep(now)
        for key, value in dict(dict_value).items():
            self._map.put(current, key, (value, now))

    def remove(self, key: Any) -> None:
        self._sweep(self._now())
        self._map.remove(self._holder.key, key)

    def contains(self, key: Any) -> bool:
        now, current = self._now(), self._holder.key
        self._sweep(now)
        entry = self._map.lookup(current, key)
        if entry is MISSING:
            return False
        if self._expiry.expired(entry[1], now):
            self._map.remove(current, key)
            return self._see_expired
        return True

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over the entries. Each counts as used when it is reached."""
        now, current = self._now(), self._holder.key
        self._sweep(now)
        return self._items(current, now)

    def keys(self) -> Iterator[Any]:
        return (key for key, _ in self.items())

    def values(self) -> Iterator[Any]:
        return (value for _, value in self.items())

    def is_empty(self) -> bool:
        now, current = self._now(), self._holder.key
        self._sweep(now)
        seen = self._items(current, now, touch=False)
        empty = next(seen, None) is None
        seen.close()
        return empty

    def clear(self) -> None:
        self._map.clear(self._holder.key)

    def _items(self, current: Any, now: int, touch: bool = True) -> Generator[tuple[Any, Any], None, None]:
        # Expired and used entries are changed afterwards, not during the iteration.
        expired: list[Any] = []
        used: list[tuple[Any, Any]] = []
        try:
            for key, (value, time) in self._map.entries(current):
                if self._expiry.expired(time, now):
                    expired.append(key)
                    if not self._see_expired:
                        continue
                elif self._on_read and touch and time != now:
                    used.append((key, value))
                yield key, value
        finally:
            for key in expired:
                self._map.remove(current, key)
            for key, value in used:
                entry = self._map.lookup(current, key)
                if entry is not MISSING and entry[0] is value:
                    self._map.put(current, key, (value, now))

    def _seen(self, current: Any, key: Any, entry: Any, now: int) -> Any:
        """Return the visible value of an entry. Reading it counts as a use."""
        if entry is MISSING:
            return None
        value, used = entry
        if self._expiry.expired(used, now):
            self._map.remove(current, key)
            return value if self._see_expired else None
        if self._on_read and used != now:
            self._map.put(current, key, (value, now))
        return value

    def _clean(self, key: Any, now: int) -> None:
        entries: list[tuple[Any, Timed]] = list(self._map.entries(key))
        for name, timed in entries:
            if self._expiry.expired(timed[1], now):
                self._map.remove(key, name)
