"""The state that user functions see: abstract classes with PyFlink's names and methods.

Decides only the shape of the calls and the results of an empty state. Never stores anything:
``headrace.state.keyed_states``, ``headrace.state.ttl_states`` and ``headrace.state.operator_state`` implement these
classes. User programs import them from ``headrace.datastream.state``; runtime contexts return the implementations.

Empty and ``None``, the same for every implementation:

- a state that was never written, or was cleared, returns ``None`` (value, reducing, aggregating, map entry) or nothing
  to iterate over (list, map);
- ``ValueState.update(None)``, ``ReducingState.add(None)`` and ``AggregatingState.add(None)`` clear the state;
- ``ListState.update([])`` clears it; ``None`` may be an element of a list and a value in a map (the map then
  *contains* that key, as in Flink).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from headrace.state.descriptors import (
        AggregatingStateDescriptor,
        ListStateDescriptor,
        MapStateDescriptor,
        ReducingStateDescriptor,
        ValueStateDescriptor,
    )

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
IN = TypeVar("IN")
OUT = TypeVar("OUT")


class State(ABC):
    """Base class of all kinds of state: they can be cleared.

    >>> State.__abstractmethods__
    frozenset({'clear'})
    """

    __slots__ = ()

    @abstractmethod
    def clear(self) -> None:
        """Remove the contents (for keyed state: of the current key)."""


class ValueState(State, Generic[T]):
    """One value per key.

    >>> sorted(ValueState.__abstractmethods__)
    ['clear', 'update', 'value']
    """

    __slots__ = ()

    @abstractmethod
    def value(self) -> T | None:
        """Return the value of the current key, ``None`` if there is none."""

    @abstractmethod
    def update(self, value: T | None) -> None:
        """Set the value of the current key; ``None`` removes it."""


class AppendingState(State, Generic[IN, OUT]):
    """State to which elements are added and which has one result.

    >>> issubclass(ListState, AppendingState), issubclass(ReducingState, AppendingState)
    (True, True)
    """

    __slots__ = ()

    @abstractmethod
    def get(self) -> OUT:
        """Return the result for the current key."""

    @abstractmethod
    def add(self, value: IN) -> None:
        """Add one element under the current key."""


class MergingState(AppendingState[IN, OUT]):
    """Appending state whose contents of several namespaces can be merged, for session windows.

    >>> issubclass(AggregatingState, MergingState)
    True
    """

    __slots__ = ()


class ReducingState(MergingState[T, "T | None"]):
    """Elements folded by a reduce function; ``get()`` is ``None`` while nothing was added.

    >>> issubclass(ReducingState, MergingState)
    True
    """

    __slots__ = ()


class AggregatingState(MergingState[IN, "OUT | None"], Generic[IN, OUT]):
    """Elements folded into an accumulator; ``get()`` returns the function's result, ``None`` while nothing was added.

    >>> issubclass(AggregatingState, MergingState)
    True
    """

    __slots__ = ()


class ListState(MergingState[T, "Iterable[T]"]):
    """A list per key.

    >>> sorted(ListState.__abstractmethods__)
    ['add', 'add_all', 'clear', 'get', 'update']
    """

    __slots__ = ()

    @abstractmethod
    def update(self, values: Iterable[T]) -> None:
        """Replace the list of the current key; an empty one clears it."""

    @abstractmethod
    def add_all(self, values: Iterable[T]) -> None:
        """Append all values to the list of the current key."""

    def __iter__(self) -> Iterator[T]:
        """Iterate over the elements of the current key."""
        return iter(self.get())


class _ReadableMap(State, Generic[K, V]):
    __slots__ = ()

    @abstractmethod
    def get(self, key: K) -> V | None:
        """Return the value under ``key``, ``None`` if there is none."""

    @abstractmethod
    def contains(self, key: K) -> bool:
        """Return whether there is an entry under ``key``."""

    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]:
        """Iterate over all entries."""

    @abstractmethod
    def keys(self) -> Iterable[K]:
        """Iterate over all keys of the map."""

    @abstractmethod
    def values(self) -> Iterable[V]:
        """Iterate over all values."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Return whether the map has no entry."""

    def __getitem__(self, key: K) -> V | None:
        return self.get(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        """Iterate over the keys of the map."""
        return iter(self.keys())


class _WritableMap(_ReadableMap[K, V]):
    __slots__ = ()

    @abstractmethod
    def put(self, key: K, value: V) -> None:
        """Set the value under ``key``."""

    @abstractmethod
    def put_all(self, dict_value: Mapping[K, V] | Iterable[tuple[K, V]]) -> None:
        """Set all entries of ``dict_value``, a dict or pairs of key and value."""

    @abstractmethod
    def remove(self, key: K) -> None:
        """Remove ``key``; a missing key is not an error."""

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)


class MapState(_WritableMap[K, V]):
    """A map per key.

    >>> len(MapState.__abstractmethods__)
    10
    """

    __slots__ = ()


class ReadOnlyBroadcastState(_ReadableMap[K, V]):
    """The broadcast map as the keyed side of a connected stream sees it.

    >>> "put" in dir(ReadOnlyBroadcastState)
    False
    """

    __slots__ = ()


class BroadcastState(ReadOnlyBroadcastState[K, V], _WritableMap[K, V]):
    """A map of which every subtask has a full copy; the broadcast side writes it, and must write the same in every subtask.

    >>> issubclass(BroadcastState, ReadOnlyBroadcastState)
    True
    """

    __slots__ = ()


class OperatorStateStore(ABC):
    """Access to state that belongs to the subtask, not to a key.

    >>> sorted(OperatorStateStore.__abstractmethods__)
    ['get_broadcast_state', 'get_list_state', 'get_union_list_state']
    """

    @abstractmethod
    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        """Return the broadcast state of that name, empty if it is new."""

    @abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """Return the list state of that name: on a change of parallelism its elements are split evenly."""

    @abstractmethod
    def get_union_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """Return the union list state of that name: on restore every subtask gets the elements of all."""


class KeyedStateStore(ABC):
    """Access to the state of functions on a keyed stream.

    >>> len(KeyedStateStore.__abstractmethods__)
    5
    """

    @abstractmethod
    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]:
        """Return the value state of that name."""

    @abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """Return the list state of that name."""

    @abstractmethod
    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]:
        """Return the map state of that name."""

    @abstractmethod
    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState[Any]:
        """Return the reducing state of that name."""

    @abstractmethod
    def get_aggregating_state(self, state_descriptor: AggregatingStateDescriptor) -> AggregatingState[Any, Any]:
        """Return the aggregating state of that name."""
