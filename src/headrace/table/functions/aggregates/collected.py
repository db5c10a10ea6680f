"""COLLECT and ARRAY_AGG: the values of a group as a multiset or an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace.table.functions.aggregates.extremes import without_time_attribute
from headrace.table.functions.aggregates.numbers import one_argument
from headrace.table.functions.definition import Accumulation, AggregateFunction, Argument, CallSite, Signature
from headrace.types import logical_types as t
from headrace.types.sql_map import SqlMap


class Collect(Accumulation):
    """COLLECT: the number of rows for each value that is not null.

    >>> collect = Collect()
    >>> collect.result(collect.add(collect.add(collect.create(), "a"), "a"))
    {'a': 2}
    """

    def create(self) -> dict[Any, int]:
        return {}

    def add(self, accumulator: dict[Any, int], *arguments: Any) -> dict[Any, int]:
        return self._change(accumulator, arguments[0], 1)

    def retract(self, accumulator: dict[Any, int], *arguments: Any) -> dict[Any, int]:
        return self._change(accumulator, arguments[0], -1)

    def merge(self, accumulator: dict[Any, int], other: dict[Any, int]) -> dict[Any, int]:
        for value, count in other.items():
            self._change(accumulator, value, count)
        return accumulator

    def result(self, accumulator: dict[Any, int]) -> Any:
        return SqlMap(accumulator)

    def _change(self, accumulator: dict[Any, int], value: Any, by: int) -> dict[Any, int]:
        if value is not None:
            after = accumulator.get(value, 0) + by
            if after:
                accumulator[value] = after
            else:
                accumulator.pop(value, None)
        return accumulator


class ArrayAggregate(Accumulation):
    """ARRAY_AGG: the values in order. A retraction removes the earliest equal value."""

    def __init__(self, ignore_nulls: bool) -> None:
        """Set whether nulls are left out."""
        self.ignore_nulls = ignore_nulls

    def create(self) -> list[Any]:
        return []

    def add(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        if arguments[0] is not None or not self.ignore_nulls:
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
        return tuple(accumulator) if accumulator else None


def _infer_collect(arguments: Sequence[Argument]) -> Signature:
    kind = one_argument("COLLECT", arguments).type
    return Signature((kind,), t.MultisetType(without_time_attribute(kind), is_nullable=False))


def _infer_array(arguments: Sequence[Argument]) -> Signature:
    kind = one_argument("ARRAY_AGG", arguments).type
    return Signature((kind,), t.ArrayType(without_time_attribute(kind)))


def _collect(site: CallSite) -> Accumulation:
    return Collect()


def _array(site: CallSite) -> Accumulation:
    return ArrayAggregate(site.ignore_nulls)


FUNCTIONS = (
    AggregateFunction("COLLECT", _infer_collect, _collect),
    AggregateFunction("ARRAY_AGG", _infer_array, _array),
)
