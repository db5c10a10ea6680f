"""Functions of one element: map, flat map, filter, key selectors, partitioners; map and flat map for two connected streams.

The methods of streams that take them also take plain callables, except for connected streams.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from headrace.functions.function import Function


class MapFunction(Function):
    """Returns one result for each element.

    >>> class Double(MapFunction):
    ...     def map(self, value):
    ...         return 2 * value
    >>> Double().map(21)
    42
    """

    @abstractmethod
    def map(self, value: Any) -> Any:
        """Return the result for ``value``."""


class FlatMapFunction(Function):
    """Returns any number of results for each element, as an iterable or by ``yield``.

    >>> class Words(FlatMapFunction):
    ...     def flat_map(self, value):
    ...         yield from value.split()
    >>> list(Words().flat_map("to be"))
    ['to', 'be']
    """

    @abstractmethod
    def flat_map(self, value: Any) -> Iterable[Any]:
        """Return the results for ``value``."""


class FilterFunction(Function):
    """Keeps the elements for which it returns True.

    >>> class Even(FilterFunction):
    ...     def filter(self, value):
    ...         return value % 2 == 0
    >>> Even().filter(3)
    False
    """

    @abstractmethod
    def filter(self, value: Any) -> bool:
        """Return whether ``value`` stays in the stream."""


class CoMapFunction(Function):
    """Returns at most one result for each element of either stream; None means no result.

    >>> class Signed(CoMapFunction):
    ...     def map1(self, value):
    ...         return value
    ...
    ...     def map2(self, value):
    ...         return -value
    >>> Signed().map2(3)
    -3
    """

    @abstractmethod
    def map1(self, value: Any) -> Any:
        """Return the result for an element of the first stream."""

    @abstractmethod
    def map2(self, value: Any) -> Any:
        """Return the result for an element of the second stream."""


class CoFlatMapFunction(Function):
    """Returns any number of results for each element of either stream; None means no result.

    >>> class FirstOnly(CoFlatMapFunction):
    ...     def flat_map1(self, value):
    ...         yield value
    ...
    ...     def flat_map2(self, value):
    ...         return None
    >>> list(FirstOnly().flat_map1(3))
    [3]
    """

    @abstractmethod
    def flat_map1(self, value: Any) -> Iterable[Any] | None:
        """Return the results for an element of the first stream."""

    @abstractmethod
    def flat_map2(self, value: Any) -> Iterable[Any] | None:
        """Return the results for an element of the second stream."""


class KeySelector(Function):
    """Returns the key of an element. The same element must always get the same key.

    >>> class ByName(KeySelector):
    ...     def get_key(self, value):
    ...         return value[0]
    >>> ByName().get_key(("ann", 3))
    'ann'
    """

    @abstractmethod
    def get_key(self, value: Any) -> Any:
        """Return the key of ``value``."""


class NullByteKeySelector(KeySelector):
    """Returns the same key for every element, so that a keyed operator sees the whole stream.

    >>> NullByteKeySelector().get_key("anything")
    0
    """

    def get_key(self, value: Any) -> int:
        """Return 0.

        >>> NullByteKeySelector().get_key(None)
        0
        """
        return 0


class Partitioner(Function):
    """Chooses the downstream subtask by the element's key.

    >>> class Modulo(Partitioner):
    ...     def partition(self, key, num_partitions):
    ...         return key % num_partitions
    >>> Modulo().partition(7, 4)
    3
    """

    @abstractmethod
    def partition(self, key: Any, num_partitions: int) -> int:
        """Return the index of the subtask, from 0 to ``num_partitions`` - 1."""
