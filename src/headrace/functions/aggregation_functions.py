"""Functions that combine many values into one: reduce and aggregate.

Used by `KeyedStream.reduce`, windows, and reducing and aggregating state.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from headrace.functions.function import Function, FunctionWrapper


class ReduceFunction(Function):
    """Combines two values into one of the same type.

    >>> class Longest(ReduceFunction):
    ...     def reduce(self, value1, value2):
    ...         return value1 if len(value1) >= len(value2) else value2
    >>> Longest().reduce("a", "bb")
    'bb'
    """

    @abstractmethod
    def reduce(self, value1: Any, value2: Any) -> Any:
        """Combine the current result (``value1``) with the next value."""


class ReduceFunctionWrapper(FunctionWrapper):
    """A reduce function from a plain callable.

    >>> ReduceFunctionWrapper(max).reduce(1, 2)
    2
    """

    def __init__(self, func: Callable[[Any, Any], Any]) -> None:
        """Store the callable."""
        super().__init__(func)

    def reduce(self, value1: Any, value2: Any) -> Any:
        """Combine two values with the callable.

        >>> ReduceFunctionWrapper(min).reduce(1, 2)
        1
        """
        return self._func(value1, value2)


class AggregateFunction(Function):
    """Adds values to an accumulator and computes a result from it. The three types may differ.

    >>> class Mean(AggregateFunction):
    ...     def create_accumulator(self):
    ...         return 0, 0
    ...
    ...     def add(self, value, accumulator):
    ...         return accumulator[0] + value, accumulator[1] + 1
    ...
    ...     def get_result(self, accumulator):
    ...         return accumulator[0] / accumulator[1]
    ...
    ...     def merge(self, acc_a, acc_b):
    ...         return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]
    >>> mean = Mean()
    >>> mean.get_result(mean.add(4, mean.add(2, mean.create_accumulator())))
    3.0
    """

    @abstractmethod
    def create_accumulator(self) -> Any:
        """Return an empty accumulator."""

    @abstractmethod
    def add(self, value: Any, accumulator: Any) -> Any:
        """Return the accumulator with ``value`` added; it may be the same object."""

    @abstractmethod
    def get_result(self, accumulator: Any) -> Any:
        """Return the result of an accumulator; more values may be added later."""

    @abstractmethod
    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        """Return one accumulator for the values of both; the arguments are not used afterwards."""
