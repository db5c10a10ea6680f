"""Functions for two connected streams that emit by returning: co-map and co-flat-map.

Decides the shapes; `ConnectedStreams.map` and `flat_map` take these.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from headrace.functions.function import Function

__all__ = ["CoFlatMapFunction", "CoMapFunction"]


class CoMapFunction(Function):
    """At most one result for each element of either stream; a result of None is left out.

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
    """Any number of results for each element of either stream; None stands for no result.

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
