"""COUNT(*), COUNT(x) and APPROX_COUNT_DISTINCT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace.graph.table_specs import ColumnAggregate
from headrace.table.functions.definition import (
    Accumulation,
    AggregateFunction,
    Argument,
    ArgumentError,
    CallSite,
    Signature,
)
from headrace.types.logical_types import BigIntType


class CountRows(Accumulation):
    """COUNT(*): the accumulator is the number of rows.

    >>> CountRows().add(CountRows().create())
    1
    """

    def create(self) -> int:
        return 0

    def add(self, accumulator: int, *arguments: Any) -> int:
        return accumulator + 1

    def retract(self, accumulator: int, *arguments: Any) -> int:
        return accumulator - 1

    def merge(self, accumulator: int, other: int) -> int:
        return accumulator + other

    def result(self, accumulator: int) -> int:
        return accumulator


class CountValues(CountRows):
    """COUNT(x): the rows where x is not null."""

    def add(self, accumulator: int, *arguments: Any) -> int:
        return accumulator if arguments[0] is None else accumulator + 1

    def retract(self, accumulator: int, *arguments: Any) -> int:
        return accumulator if arguments[0] is None else accumulator - 1


class CountDistinct(Accumulation):
    """APPROX_COUNT_DISTINCT: exact here; the accumulator maps each value to its number of rows."""

    def create(self) -> dict[Any, int]:
        return {}

    def add(self, accumulator: dict[Any, int], *arguments: Any) -> dict[Any, int]:
        if arguments[0] is not None:
            accumulator[arguments[0]] = accumulator.get(arguments[0], 0) + 1
        return accumulator

    def retract(self, accumulator: dict[Any, int], *arguments: Any) -> dict[Any, int]:
        if arguments[0] is not None:
            left = accumulator.pop(arguments[0], 0) - 1
            if left > 0:
                accumulator[arguments[0]] = left
        return accumulator

    def merge(self, accumulator: dict[Any, int], other: dict[Any, int]) -> dict[Any, int]:
        for value, count in other.items():
            accumulator[value] = accumulator.get(value, 0) + count
        return accumulator

    def result(self, accumulator: dict[Any, int]) -> int:
        return len(accumulator)


def _infer_count(arguments: Sequence[Argument]) -> Signature:
    if len(arguments) > 1:
        raise ArgumentError("COUNT takes * or one argument")
    return Signature(tuple(argument.type for argument in arguments), BigIntType(is_nullable=False))


def _count(site: CallSite) -> Accumulation:
    return CountValues() if site.arguments and site.arguments[0].type.is_nullable else CountRows()


def _infer_distinct(arguments: Sequence[Argument]) -> Signature:
    if len(arguments) != 1:
        raise ArgumentError("APPROX_COUNT_DISTINCT takes one argument")
    return Signature((arguments[0].type,), BigIntType(is_nullable=False))


FUNCTIONS = (
    AggregateFunction("COUNT", _infer_count, _count, columns=lambda site: ColumnAggregate("COUNT")),
    AggregateFunction("APPROX_COUNT_DISTINCT", _infer_distinct, lambda site: CountDistinct()),
)
