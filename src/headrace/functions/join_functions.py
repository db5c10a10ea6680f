"""Functions for window joins (JoinFunction, FlatJoinFunction, CoGroupFunction) and interval joins (ProcessJoinFunction).

They are not in PyFlink; the names are those of Flink's Java API.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from headrace.functions.function import Function

IN1 = TypeVar("IN1")
IN2 = TypeVar("IN2")
OUT = TypeVar("OUT")


class JoinFunction(Function, Generic[IN1, IN2, OUT]):
    """Returns one result for a pair.

    >>> class Both(JoinFunction):
    ...     def join(self, first, second):
    ...         return first, second
    >>> Both().join(1, "a")
    (1, 'a')
    """

    @abstractmethod
    def join(self, first: IN1, second: IN2) -> OUT:
        """Return the result for a pair."""


class FlatJoinFunction(Function, Generic[IN1, IN2, OUT]):
    """Returns any number of results for a pair.

    >>> class IfDearer(FlatJoinFunction):
    ...     def join(self, first, second):
    ...         if second > first:
    ...             yield second - first
    >>> list(IfDearer().join(3, 5))
    [2]
    """

    @abstractmethod
    def join(self, first: IN1, second: IN2) -> Iterable[OUT]:
        """Return the results for a pair."""


class CoGroupFunction(Function, Generic[IN1, IN2, OUT]):
    """Computes results from the elements of two streams with the same key and window; one side may be empty.

    >>> class Missing(CoGroupFunction):
    ...     def co_group(self, first, second):
    ...         if not list(second):
    ...             yield from first
    >>> list(Missing().co_group(["order 7"], []))
    ['order 7']
    """

    @abstractmethod
    def co_group(self, first: Iterable[IN1], second: Iterable[IN2]) -> Iterable[OUT]:
        """Return the results for both groups."""


class ProcessJoinFunction(Function, Generic[IN1, IN2, OUT]):
    """Computes results from a pair of an interval join.

    >>> class Delay(ProcessJoinFunction):
    ...     def process_element(self, left, right, ctx):
    ...         yield left, ctx.get_right_timestamp() - ctx.get_left_timestamp()
    """

    class Context(ABC):
        """The timestamps of the pair."""

        @abstractmethod
        def get_left_timestamp(self) -> int:
            """Return the timestamp of the left element."""

        @abstractmethod
        def get_right_timestamp(self) -> int:
            """Return the timestamp of the right element."""

        @abstractmethod
        def get_timestamp(self) -> int:
            """Return the timestamp of the results: the later of both."""

    @abstractmethod
    def process_element(self, left: IN1, right: IN2, ctx: ProcessJoinFunction.Context) -> Iterable[Any]:
        """Return the results for a pair."""
