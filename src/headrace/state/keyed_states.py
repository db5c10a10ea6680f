"""Keyed state over heap tables: what ``get_state`` and its like give to user functions.

Decides what each call does to the table's entry of the current key. Never serialises: values are live objects, handed
out and taken in as they are. So an object got from a state and changed in place is saved only if it is put back with
``update`` or ``put``. Made by the keyed backends; the disk backend's
tables offer the same ``data`` and ``dirty``, so all but the map state serve both.

Per call: one or two attribute loads for the current key, one dict access, and for writes one ``set.add`` that marks the
key as changed. Methods over slots are not the very fastest form: with closures in a class made for each state,
``value`` and ``update`` together took 5 to 12 % less (best of 25 runs, 3.10 to 3.13, on a busy machine; the medians did
not agree). Plain methods were kept for that little.

The set of changed keys knows whole keys, and of maps their entries: a list of which one element changed is written
whole in the epoch's delta, of a map only the changed entries are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from headrace.state.descriptors import AggregatingStateDescriptor, ReducingStateDescriptor, StateDescriptor
from headrace.state.heap_table import HeapMapTable, HeapTable
from headrace.state.interfaces import AggregatingState, ListState, MapState, ReducingState, ValueState

__all__ = [
    "HeapAggregatingState",
    "HeapListState",
    "HeapMapState",
    "HeapReducingState",
    "HeapValueState",
    "KeyHolder",
]


class KeyHolder:
    """Something with the current key; the backend is one, tests may use a bare one."""

    __slots__ = ("key",)
    key: Any


class _HeapState:
    __slots__ = ("_data", "_dirty", "_holder")

    def __init__(self, holder: KeyHolder, table: HeapTable, descriptor: StateDescriptor) -> None:
        self._holder = holder
        self._data = table.data
        self._dirty = table.dirty

    def clear(self) -> None:
        """Remove the entry of the current key."""
        key = self._holder.key
        if key in self._data:
            del self._data[key]
            self._dirty.add(key)


class HeapValueState(_HeapState, ValueState[Any]):
    """A value per key."""

    __slots__ = ()

    def value(self) -> Any:
        """Give the value, ``None`` if there is none."""
        return self._data.get(self._holder.key)

    def update(self, value: Any) -> None:
        """Set the value; ``None`` removes it."""
        if value is None:
            self.clear()
            return
        key = self._holder.key
        self._data[key] = value
        self._dirty.add(key)


class HeapListState(_HeapState, ListState[Any]):
    """A list per key."""

    __slots__ = ()

    def get(self) -> list[Any]:
        """Give a copy of the list; later changes of the state do not show in it."""
        values = self._data.get(self._holder.key)
        return [] if values is None else values[:]

    def add(self, value: Any) -> None:
        """Append one element."""
        key = self._holder.key
        values = self._data.get(key)
        if values is None:
            self._data[key] = [value]
        else:
            values.append(value)
        self._dirty.add(key)

    def add_all(self, values: Iterable[Any]) -> None:
        """Append all elements."""
        added = list(values)
        if added:
            key = self._holder.key
            present = self._data.get(key)
            if present is None:
                self._data[key] = added
            else:
                present.extend(added)
            self._dirty.add(key)

    def update(self, values: Iterable[Any]) -> None:
        """Replace the list; an empty one clears the state."""
        replaced = list(values)
        if replaced:
            key = self._holder.key
            self._data[key] = replaced
            self._dirty.add(key)
        else:
            self.clear()


class HeapMapState(MapState[Any, Any]):
    """A map per key. Its iterators raise ``RuntimeError`` if the map changes while they run."""

    __slots__ = ("_data", "_holder", "_put", "_remove", "_table")

    def __init__(self, holder: KeyHolder, table: HeapMapTable, descriptor: StateDescriptor) -> None:
        """Bind the table."""
        self._holder = holder
        self._table = table
        self._data = table.data
        self._put = table.put
        self._remove = table.remove

    def get(self, key: Any) -> Any:
        """Give the value under ``key``, ``None`` if there is none."""
        entries = self._data.get(self._holder.key)
        return None if entries is None else entries.get(key)

    def put(self, key: Any, value: Any) -> None:
        """Set the value under ``key``."""
        self._put(self._holder.key, key, value)

    def put_all(self, dict_value: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        """Set all entries of ``dict_value``."""
        for key, value in dict(dict_value).items():
            self.put(key, value)

    def remove(self, key: Any) -> None:
        """Remove ``key``; without entries the state is empty again."""
        self._remove(self._holder.key, key)

    def contains(self, key: Any) -> bool:
        """Say whether there is an entry under ``key``."""
        entries = self._data.get(self._holder.key)
        return entries is not None and key in entries

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over the entries, oldest first."""
        return self._table.entries(self._holder.key)

    def keys(self) -> Iterator[Any]:
        """Iterate over the keys."""
        return iter(self._data.get(self._holder.key, _NOTHING))

    def values(self) -> Iterator[Any]:
        """Iterate over the values."""
        return iter(self._data.get(self._holder.key, _NOTHING).values())

    def is_empty(self) -> bool:
        """Say whether there is no entry."""
        return self._holder.key not in self._data

    def clear(self) -> None:
        """Remove all entries of the current key."""
        self._table.clear(self._holder.key)


_NOTHING: dict[Any, Any] = {}


class HeapReducingState(_HeapState, ReducingState[Any]):
    """A value per key into which a reduce function folds what is added."""

    __slots__ = ("_reduce",)

    def __init__(self, holder: KeyHolder, table: HeapTable, descriptor: ReducingStateDescriptor) -> None:
        """Bind the reduce function."""
        super().__init__(holder, table, descriptor)
        self._reduce = descriptor.get_reduce_function().reduce

    def get(self) -> Any:
        """Give the folded value, ``None`` if nothing was added."""
        return self._data.get(self._holder.key)

    def add(self, value: Any) -> None:
        """Fold one value in; ``None`` clears the state."""
        if value is None:
            self.clear()
            return
        key = self._holder.key
        current = self._data.get(key)
        if current is not None:
            value = self._reduce(current, value)
            if value is None:
                self.clear()
                return
        self._data[key] = value
        self._dirty.add(key)


class HeapAggregatingState(_HeapState, AggregatingState[Any, Any]):
    """An accumulator per key."""

    __slots__ = ("_add", "_create", "_result")

    def __init__(self, holder: KeyHolder, table: HeapTable, descriptor: AggregatingStateDescriptor) -> None:
        """Bind the methods of the aggregate function."""
        super().__init__(holder, table, descriptor)
        function = descriptor.get_agg_function()
        self._create = function.create_accumulator
        self._add = function.add
        self._result = function.get_result

    def get(self) -> Any:
        """Give the result of the accumulator, ``None`` if nothing was added."""
        accumulator = self._data.get(self._holder.key)
        return None if accumulator is None else self._result(accumulator)

    def add(self, value: Any) -> None:
        """Add one value to the accumulator; ``None`` clears the state."""
        if value is None:
            self.clear()
            return
        key = self._holder.key
        accumulator = self._data.get(key)
        if accumulator is None:
            accumulator = self._create()
        accumulator = self._add(value, accumulator)
        if accumulator is None:
            self.clear()
            return
        self._data[key] = accumulator
        self._dirty.add(key)
