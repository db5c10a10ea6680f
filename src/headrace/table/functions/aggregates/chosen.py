"""FIRST_VALUE, LAST_VALUE and SINGLE_VALUE: one of the values of a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from headrace.table.errors import SqlRuntimeError
from headrace.table.functions.aggregates.extremes import without_time_attribute
from headrace.table.functions.aggregates.numbers import one_argument
from headrace.table.functions.definition import Accumulation, AggregateFunction, Argument, CallSite, Signature


class FirstValue(Accumulation):
    """FIRST_VALUE of rows that are never retracted: the first value that is not null."""

    can_retract = False

    def create(self) -> Any:
        return None

    def add(self, accumulator: Any, *arguments: Any) -> Any:
        return arguments[0] if accumulator is None else accumulator

    def merge(self, accumulator: Any, other: Any) -> Any:
        return other if accumulator is None else accumulator

    def result(self, accumulator: Any) -> Any:
        return accumulator


class LastValue(FirstValue):
    """LAST_VALUE of rows that are never retracted: the last value that is not null."""

    def add(self, accumulator: Any, *arguments: Any) -> Any:
        return accumulator if arguments[0] is None else arguments[0]

    def merge(self, accumulator: Any, other: Any) -> Any:
        return accumulator if other is None else other


class RetractableFirst(Accumulation):
    """FIRST_VALUE with retractions: all values that are not null, in order. The earliest equal one is retracted."""

    position = 0

    def create(self) -> list[Any]:
        return []

    def add(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        if arguments[0] is not None:
            accumulator.append(arguments[0])
        return accumulator

    def retract(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        if arguments[0] in accumulator:
            accumulator.remove(arguments[0])
        return accumulator

    def merge(self, accumulator: list[Any], other: list[Any]) -> list[Any]:
        accumulator.extend(other)
        return accumulator

    def result(self, accumulator: list[Any]) -> Any:
        return accumulator[self.position] if accumulator else None


class RetractableLast(RetractableFirst):
    """LAST_VALUE with retractions."""

    position = -1


class SingleValue(Accumulation):
    """SINGLE_VALUE of a scalar subquery: [value, number of rows]. More than one row is an error."""

    def create(self) -> list[Any]:
        return [None, 0]

    def add(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        if accumulator[1] > 0:
            raise SqlRuntimeError(
                "A scalar subquery returned more than one row",
                seen=(accumulator[0], arguments[0]),
                remedy="aggregate the rows of the subquery, or add LIMIT 1",
            )
        accumulator[0], accumulator[1] = arguments[0], accumulator[1] + 1
        return accumulator

    def retract(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        accumulator[0], accumulator[1] = None, accumulator[1] - 1
        return accumulator

    def merge(self, accumulator: list[Any], other: list[Any]) -> list[Any]:
        return self.add(accumulator, other[0]) if other[1] > 0 else accumulator

    def result(self, accumulator: list[Any]) -> Any:
        return accumulator[0]


def _infer(name: str) -> Callable[[Sequence[Argument]], Signature]:
    def infer(arguments: Sequence[Argument]) -> Signature:
        kind = one_argument(name, arguments).type
        return Signature((kind,), without_time_attribute(kind))

    return infer


def _maker(made: Callable[[], Accumulation]) -> Callable[[CallSite], Accumulation]:
    return lambda site: made()


FUNCTIONS = (
    AggregateFunction("FIRST_VALUE", _infer("FIRST_VALUE"), _maker(FirstValue), _maker(RetractableFirst)),
    AggregateFunction("LAST_VALUE", _infer("LAST_VALUE"), _maker(LastValue), _maker(RetractableLast)),
    AggregateFunction("SINGLE_VALUE", _infer("SINGLE_VALUE"), _maker(SingleValue)),
)
