"""Functions that take one element: map, flat map, filter.

Decides the shapes; `DataStream.map`, `flat_map` and `filter` take these or plain callables.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from headrace.functions.function import Function

__all__ = ["FilterFunction", "FlatMapFunction", "MapFunction"]


class MapFunction(Function):
    """One result for each element.

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
    """Any number of results for each element, returned as an iterable or yielded.

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
    """Keeps the elements for which it says true.

    >>> class Even(FilterFunction):
    ...     def filter(self, value):
    ...         return value % 2 == 0
    >>> Even().filter(3)
    False
    """

    @abstractmethod
    def filter(self, value: Any) -> bool:
        """Return whether ``value`` stays in the stream."""
