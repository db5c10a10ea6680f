"""Keyed state over tables: the states that ``get_state`` and its siblings return to user functions.

Decides what each call does to the table's entry of the current key. Never serialises: values are live objects, handed
out and taken in as they are. So an object that a state returned and that is changed in place is saved only if it is put
back with ``update`` or ``put``. Made by the keyed backends, over the tables of either. ``HeapMapState`` reads the dicts
of a ``HeapMapTable`` directly.

Per call: one or two attribute loads for the current key, one dict access, and for writes one ``set.add`` that marks the
key as changed. Methods over slots are not the fastest form: with closures in a class made for each state, ``value`` and
``update`` together took 5 to 12 % less (best of 25 runs, 3.10 to 3.13, on a busy machine; the medians did not agree).
Plain methods were kept for that little.

The set of changed keys knows whole keys, and of maps their entries: a list of which one element changed is written
whole in the epoch's delta, of a map only the changed entries are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from headrace.state.descriptors import AggregatingStateDescriptor, ReducingStateDescriptor, StateDescriptor
from headrace.state.interfaces import AggregatingState, ListState, MapState, ReducingState, ValueState
from headrace.state.table import MISSING, MapTable, Table


class KeyHolder:
    """The owner of the current key: the backend, or a window's store of states."""

    __slots__ = ("key",)
    key: Any


class _KeyedState:
    __slots__ = ("_data", "_dirty", "_holder")

    def __init__(self, holder: KeyHolder, table: Table, descriptor: StateDescriptor) -> None:
        self._holder = holder
        self._data = table.data
        self._dirty = table.dirty

    def clear(self) -> None:
        """Remove the entry of the current key."""
        key = self._holder.key
        if key in self._data:
            del self._data[key]
            self._dirty.add(key)


class KeyedValueState(_KeyedState, ValueState[Any]):
    """A value per key."""

    __slots__ = ()

    def value(self) -> Any:
        return self._data.get(self._holder.key)

    def update(self, value: Any) -> None:
        if value is None:
            self.clear()
            return
        key = self._holder.key
        self._data[key] = value
        self._dirty.add(key)


class KeyedListState(_KeyedState, ListState[Any]):
    """A list per key."""

    __slots__ = ()

    def get(self) -> list[Any]:
        """Return a copy of the list; later changes of the state do not show in it."""
        values = self._data.get(self._holder.key)
        return [] if values is None else values[:]

    def add(self, value: Any) -> None:
        key = self._holder.key
        values = self._data.get(key)
        if values is None:
            self._data[key] = [value]
        else:
            values.append(value)
        self._dirty.add(key)

    def add_all(self, values: Iterable[Any]) -> None:
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
        replaced = list(values)
        if replaced:
            key = self._holder.key
            self._data[key] = replaced
            self._dirty.add(key)
        else:
            self.clear()


class KeyedMapState(MapState[Any, Any]):
    """A map per key. On disk, iterators show the map as it was when they started, in the order of its keys' bytes."""

    __slots__ = ("_holder", "_table")

    def __init__(self, holder: KeyHolder, table: MapTable, descriptor: StateDescriptor) -> None:
        self._holder = holder
        self._table = table

    def get(self, key: Any) -> Any:
        value = self._table.lookup(self._holder.key, key)
        return None if value is MISSING else value

    def put(self, key: Any, value: Any) -> None:
        self._table.put(self._holder.key, key, value)

    def put_all(self, dict_value: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        for key, value in dict(dict_value).items():
            self._table.put(self._holder.key, key, value)

    def remove(self, key: Any) -> None:
        self._table.remove(self._holder.key, key)

    def contains(self, key: Any) -> bool:
        return self._table.lookup(self._holder.key, key) is not MISSING

    def items(self) -> Iterator[tuple[Any, Any]]:
        return self._table.entries(self._holder.key)

    def keys(self) -> Iterator[Any]:
        return (key for key, _ in self.items())

    def values(self) -> Iterator[Any]:
        return (value for _, value in self.items())

    def is_empty(self) -> bool:
        return self._table.is_empty(self._holder.key)

    def clear(self) -> None:
        self._table.clear(self._holder.key)


class HeapMapState(KeyedMapState):
    """A map per key, in memory, the oldest entries first. Iterators raise ``RuntimeError`` if the map changes meanwhile.

    Reads go to the dicts of the table, without a call of it.
    """

    __slots__ = ("_data",)

    def __init__(self, holder: KeyHolder, table: MapTable, descriptor: StateDescriptor) -> None:
        super().__init__(holder, table, descriptor)
        self._data = table.data

    def get(self, key: Any) -> Any:
        entries = self._data.get(self._holder.key)
        return None if entries is None else entries.get(key)

    def contains(self, key: Any) -> bool:
        entries = self._data.get(self._holder.key)
        return entries is not None and key in entries

    def keys(self) -> Iterator[Any]:
        return iter(self._data.get(self._holder.key, _NOTHING))

    def values(self) -> Iterator[Any]:
        return iter(self._data.get(self._holder.key, _NOTHING).values())


_NOTHING: dict[Any, Any] = {}


class KeyedReducingState(_KeyedState, ReducingState[Any]):
    """A value per key, into which a reduce function folds each added value."""

    __slots__ = ("_reduce",)

    def __init__(self, holder: KeyHolder, table: Table, descriptor: ReducingStateDescriptor) -> None:
        super().__init__(holder, table, descriptor)
        self._reduce = descriptor.get_reduce_function().reduce

    def get(self) -> Any:
        return self._data.get(self._holder.key)

    def add(self, value: Any) -> None:
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


class KeyedAggregatingState(_KeyedState, AggregatingState[Any, Any]):
    """An accumulator per key."""

    __slots__ = ("_add", "_create", "_result")

    def __init__(self, holder: KeyHolder, table: Table, descriptor: AggregatingStateDescriptor) -> None:
        super().__init__(holder, table, descriptor)
        function = descriptor.get_agg_function()
        self._create = function.create_accumulator
        self._add = function.add
        self._result = function.get_result

    def get(self) -> Any:
        accumulator = self._data.get(self._holder.key)
        return None if accumulator is None else self._result(accumulator)

    def add(self, value: Any) -> None:
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
