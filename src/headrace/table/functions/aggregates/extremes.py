"""MIN and MAX. With retractions all values are kept, with their numbers."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from headrace.graph.table_specs import ColumnAggregate
from headrace.table.functions.aggregates.numbers import numpy_type, one_argument
from headrace.table.functions.definition import (
    Accumulation,
    AggregateFunction,
    Argument,
    ArgumentError,
    CallSite,
    Signature,
)
from headrace.types import logical_types as t


class Minimum(Accumulation):
    """MIN of rows that are never retracted: the accumulator is the least value so far, or None."""

    can_retract = False

    def create(self) -> Any:
        return None

    def add(self, accumulator: Any, *arguments: Any) -> Any:
        value = arguments[0]
        if value is None or (accumulator is not None and accumulator <= value):
            return accumulator
        return value

    def merge(self, accumulator: Any, other: Any) -> Any:
        return self.add(accumulator, other)

    def result(self, accumulator: Any) -> Any:
        return accumulator


class Maximum(Minimum):
    """MAX of rows that are never retracted."""

    def add(self, accumulator: Any, *arguments: Any) -> Any:
        value = arguments[0]
        if value is None or (accumulator is not None and accumulator >= value):
            return accumulator
        return value


class RetractableMinimum(Accumulation):
    """MIN with retractions: [sorted distinct values, number of rows for each value].

    A value that is retracted before it is added has a negative number until it is added.
    """

    position = 0

    def create(self) -> list[Any]:
        return [[], {}]

    def add(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        if arguments[0] is not None:
            self._change(accumulator, arguments[0], 1)
        return accumulator

    def retract(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        if arguments[0] is not None:
            self._change(accumulator, arguments[0], -1)
        return accumulator

    def merge(self, accumulator: list[Any], other: list[Any]) -> list[Any]:
        for value, count in other[1].items():
            self._change(accumulator, value, count)
        return accumulator

    def result(self, accumulator: list[Any]) -> Any:
        values = accumulator[0]
        return values[self.position] if values else None

    def _change(self, accumulator: list[Any], value: Any, by: int) -> None:
        values, counts = accumulator
        before = counts.get(value, 0)
        after = before + by
        if after:
            counts[value] = after
        else:
            counts.pop(value, None)
        if before <= 0 < after:
            insort(values, value)
        elif after <= 0 < before:
            del values[bisect_left(values, value)]


class RetractableMaximum(RetractableMinimum):
    """MAX with retractions."""

    position = -1


_COMPARABLE = (
    t.BooleanType, t.TinyIntType, t.SmallIntType, t.IntType, t.BigIntType, t.FloatType, t.DoubleType, t.DecimalType,
    t.CharType, t.VarCharType, t.DateType, t.TimeType, t.TimestampType, t.LocalZonedTimestampType, t.NullType,
    t.YearMonthIntervalType, t.DayTimeIntervalType,
)  # fmt: skip


def _infer(name: str) -> Callable[[Sequence[Argument]], Signature]:
    def infer(arguments: Sequence[Argument]) -> Signature:
        kind = one_argument(name, arguments).type
        if not isinstance(kind, _COMPARABLE):
            raise ArgumentError(f"{name} takes a value that can be ordered")
        return Signature((kind,), without_time_attribute(kind))

    return infer


_INSTANTS = (t.TimestampType, t.LocalZonedTimestampType)


def without_time_attribute(kind: t.DataType) -> t.DataType:
    """Return the type of an aggregate of a time attribute: a plain timestamp."""
    return replace(kind, time_attribute=None) if isinstance(kind, _INSTANTS) else kind


_TIMES = (*_INSTANTS, t.DayTimeIntervalType)


def _columns(name: str) -> Callable[[CallSite], ColumnAggregate | None]:
    def columns(site: CallSite) -> ColumnAggregate | None:
        kind = site.arguments[0].type
        if isinstance(kind, _TIMES):
            return ColumnAggregate(name, "int64")
        if isinstance(kind, (t.DateType, t.TimeType)):
            return ColumnAggregate(name, "int32")
        numbers = numpy_type(kind)
        return None if numbers is None or numbers.startswith("float") else ColumnAggregate(name, numbers)

    return columns


FUNCTIONS = (
    AggregateFunction("MIN", _infer("MIN"), lambda site: Minimum(), lambda site: RetractableMinimum(), _columns("MIN")),
    AggregateFunction("MAX", _infer("MAX"), lambda site: Maximum(), lambda site: RetractableMaximum(), _columns("MAX")),
)
