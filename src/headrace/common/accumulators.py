"""Accumulators: functions add values in all subtasks, and the program reads the result when the job has finished.

The names are those of Flink's Java API, in snake_case. A function registers accumulators with its `RuntimeContext`; the
runtime merges those of all subtasks for `JobExecutionResult` and `JobClient`.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from headrace.errors import InvalidProgramError, TypeMismatchError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Accumulator",
    "AverageAccumulator",
    "DoubleCounter",
    "Histogram",
    "IntCounter",
    "ListAccumulator",
    "LongCounter",
    "Maximum",
    "Minimum",
    "SimpleAccumulator",
    "merged_results",
]

V = TypeVar("V")
R = TypeVar("R")
N = TypeVar("N", int, float)


class Accumulator(ABC, Generic[V, R]):
    """Collects values of one type into a result of another, and can be merged. Programs may write their own.

    >>> class Longest(Accumulator):
    ...     def __init__(self):
    ...         self.word = ""
    ...
    ...     def add(self, value):
    ...         self.word = max(self.word, value, key=len)
    ...
    ...     def get_local_value(self):
    ...         return self.word
    ...
    ...     def reset_local(self):
    ...         self.word = ""
    ...
    ...     def merge(self, other):
    ...         self.add(other.word)
    >>> longest = Longest()
    >>> longest.add("to")
    >>> longest.get_local_value()
    'to'
    """

    @abstractmethod
    def add(self, value: V) -> None:
        """Add a value."""

    @abstractmethod
    def get_local_value(self) -> R:
        """Return the result of the values added here."""

    @abstractmethod
    def reset_local(self) -> None:
        """Remove the values added here."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Add all values of ``other``, which does not change."""

    def clone(self) -> Self:
        """Return an independent copy."""
        return copy.deepcopy(self)


class SimpleAccumulator(Accumulator[V, V]):
    """An accumulator whose result has the type of its values.

    >>> issubclass(LongCounter, SimpleAccumulator)
    True
    """


class _Sum(SimpleAccumulator[N]):
    """The sum of numbers."""

    _zero: N

    def __init__(self, value: N | None = None) -> None:
        self._sum: N = self._zero if value is None else value

    def add(self, value: N) -> None:
        """Add a number."""
        self._sum += value

    def get_local_value(self) -> N:
        """Return the sum."""
        return self._sum

    def reset_local(self) -> None:
        """Reset to zero."""
        self._sum = self._zero

    def merge(self, other: Self) -> None:
        """Add the sum of ``other``."""
        self._sum += other.get_local_value()

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self._sum}"


class IntCounter(_Sum[int]):
    """Adds up integers.

    >>> counter = IntCounter()
    >>> counter.add(2)
    >>> counter.add(3)
    >>> counter.get_local_value()
    5
    """

    _zero = 0


class LongCounter(_Sum[int]):
    """Adds up integers; the same as IntCounter, because Python has one integer type.

    >>> LongCounter(7)
    LongCounter 7
    """

    _zero = 0


class DoubleCounter(_Sum[float]):
    """Adds up floating-point numbers.

    >>> counter = DoubleCounter()
    >>> counter.add(0.5)
    >>> counter.get_local_value()
    0.5
    """

    _zero = 0.0


class _Extreme(SimpleAccumulator[Any]):
    """The smallest or largest of all values; None before the first."""

    _choose: Any

    def __init__(self, value: Any = None) -> None:
        self._best = value

    def add(self, value: Any) -> None:
        """Add a value."""
        self._best = value if self._best is None else self._choose(self._best, value)

    def get_local_value(self) -> Any:
        """Return the value, or None."""
        return self._best

    def reset_local(self) -> None:
        """Remove all values."""
        self._best = None

    def merge(self, other: Self) -> None:
        """Add the values of ``other``."""
        value = other.get_local_value()
        if value is not None:
            self.add(value)


class Minimum(_Extreme):
    """The smallest value: Flink's IntMinimum, LongMinimum and DoubleMinimum.

    >>> smallest = Minimum()
    >>> smallest.add(3)
    >>> smallest.add(2)
    >>> smallest.get_local_value()
    2
    """

    _choose = staticmethod(min)


class Maximum(_Extreme):
    """The largest value: Flink's IntMaximum, LongMaximum and DoubleMaximum.

    >>> largest = Maximum()
    >>> largest.add(3)
    >>> largest.get_local_value()
    3
    """

    _choose = staticmethod(max)


class AverageAccumulator(Accumulator[float, float]):
    """The mean of numbers; 0.0 before the first.

    >>> mean = AverageAccumulator()
    >>> mean.add(1)
    >>> mean.add(2)
    >>> mean.get_local_value()
    1.5
    """

    def __init__(self) -> None:
        self._sum, self._count = 0.0, 0

    def add(self, value: float) -> None:
        """Add a number."""
        self._sum += value
        self._count += 1

    def get_local_value(self) -> float:
        """Return the mean."""
        return self._sum / self._count if self._count else 0.0

    def reset_local(self) -> None:
        """Remove all numbers."""
        self._sum, self._count = 0.0, 0

    def merge(self, other: AverageAccumulator) -> None:
        """Add the numbers of ``other``."""
        self._sum += other._sum
        self._count += other._count


class Histogram(Accumulator[Any, dict[Any, int]]):
    """Counts how often each value was added, sorted by value.

    >>> lengths = Histogram()
    >>> for word in ("to", "be", "not"):
    ...     lengths.add(len(word))
    >>> lengths.get_local_value()
    {2: 2, 3: 1}
    """

    def __init__(self) -> None:
        self._counts: dict[Any, int] = {}

    def add(self, value: Any) -> None:
        """Count a value."""
        self._counts[value] = self._counts.get(value, 0) + 1

    def get_local_value(self) -> dict[Any, int]:
        """Return the counts by value."""
        return dict(sorted(self._counts.items()))

    def reset_local(self) -> None:
        """Remove all values."""
        self._counts = {}

    def merge(self, other: Histogram) -> None:
        """Add the counts of ``other``."""
        for value, count in other._counts.items():
            self._counts[value] = self._counts.get(value, 0) + count


class ListAccumulator(Accumulator[Any, list[Any]]):
    """All values, in the order of the subtasks.

    >>> seen = ListAccumulator()
    >>> seen.add("a")
    >>> seen.get_local_value()
    ['a']
    """

    def __init__(self) -> None:
        self._values: list[Any] = []

    def add(self, value: Any) -> None:
        """Add a value."""
        self._values.append(value)

    def get_local_value(self) -> list[Any]:
        """Return all values."""
        return list(self._values)

    def reset_local(self) -> None:
        """Remove all values."""
        self._values = []

    def merge(self, other: ListAccumulator) -> None:
        """Add the values of ``other``."""
        self._values += other._values


def merged_results(subtasks: Iterable[Mapping[str, Accumulator[Any, Any]]]) -> dict[str, Any]:
    """Return the merged results of the accumulators of all subtasks, by name.

    >>> merged_results([{"lines": IntCounter(2)}, {"lines": IntCounter(3)}])
    {'lines': 5}
    """
    merged: dict[str, Accumulator[Any, Any]] = {}
    for accumulators in subtasks:
        for name, accumulator in accumulators.items():
            if name not in merged:
                merged[name] = accumulator.clone()
            elif type(merged[name]) is not type(accumulator):
                raise InvalidProgramError(
                    f"The accumulator {name!r} has different types in different operators",
                    seen=f"{type(merged[name]).__name__} and {type(accumulator).__name__}",
                    remedy="use different names for accumulators of different types",
                )
            else:
                merged[name].merge(accumulator)
    return {name: accumulator.get_local_value() for name, accumulator in merged.items()}


class AccumulatorRegistry:
    """The accumulators of one subtask, by name.

    >>> registry = AccumulatorRegistry()
    >>> registry.add("lines", IntCounter())
    >>> registry.counter("lines", IntCounter).add(1)
    >>> registry.accumulators
    {'lines': IntCounter 1}
    """

    def __init__(self) -> None:
        self.accumulators: dict[str, Accumulator[Any, Any]] = {}
        self._former: dict[str, Accumulator[Any, Any]] = {}

    def restore(self, accumulators: dict[str, Accumulator[Any, Any]]) -> None:
        """Store the values of a predecessor, for the accumulators that will be registered under their names."""
        self._former = accumulators

    def add(self, name: str, accumulator: Accumulator[Any, Any]) -> None:
        """Register an accumulator; the name must be new in this subtask."""
        if not isinstance(accumulator, Accumulator):
            raise TypeMismatchError("add_accumulator takes an Accumulator", seen=accumulator)
        if name in self.accumulators:
            raise InvalidProgramError(
                f"The accumulator {name!r} already exists and cannot be added.",
                remedy="use another name, or get_accumulator() to share it",
            )
        former = self._former.pop(name, None)
        if former is not None and type(former) is type(accumulator):
            accumulator.merge(former)
        self.accumulators[name] = accumulator

    def get(self, name: str) -> Accumulator[Any, Any] | None:
        """Return an accumulator, or None."""
        return self.accumulators.get(name)

    def counter(self, name: str, kind: type[Any]) -> Any:
        """Return the accumulator of that name and kind; the first call creates it."""
        if name not in self.accumulators:
            self.add(name, kind())
        found = self.accumulators[name]
        if not isinstance(found, kind):
            raise TypeMismatchError(
                f"The accumulator {name!r} has another type", seen=type(found).__name__, expected=kind.__name__
            )
        return found
