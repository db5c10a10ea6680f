"""PERCENTILE: exact, with linear interpolation between the two nearest values."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from headrace.table.functions.aggregates.numbers import is_integer
from headrace.table.functions.definition import (
    Accumulation,
    AggregateFunction,
    Argument,
    ArgumentError,
    CallSite,
    Signature,
)
from headrace.types import logical_types as t


class Percentile(Accumulation):
    """[percentages, number of rows for each value]. The percentage of the last row counts.

    >>> p = Percentile()
    >>> p.result(p.add(p.add(p.create(), 10, 0.5), 20, 0.5))
    15.0
    """

    def create(self) -> list[Any]:
        return [None, {}]

    def add(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        self._change(accumulator, arguments, 1)
        return accumulator

    def retract(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        self._change(accumulator, arguments, -1)
        return accumulator

    def merge(self, accumulator: list[Any], other: list[Any]) -> list[Any]:
        accumulator[0] = other[0] if accumulator[0] is None else accumulator[0]
        counts = accumulator[1]
        for value, count in other[1].items():
            counts[value] = counts.get(value, 0) + count
        return accumulator

    def result(self, accumulator: list[Any]) -> Any:
        wanted, counts = accumulator
        ordered = sorted((value, count) for value, count in counts.items() if count > 0)
        if not ordered or wanted is None:
            return None
        values = [value for value, _ in ordered]
        totals = list(accumulate(count for _, count in ordered))
        if isinstance(wanted, tuple):
            return tuple(_at(values, totals, float(each)) for each in wanted)
        return _at(values, totals, float(wanted))

    def _change(self, accumulator: list[Any], arguments: tuple[Any, ...], sign: int) -> None:
        value, percentages, *frequency = arguments
        accumulator[0] = percentages
        times = frequency[0] if frequency else 1
        if value is None or times is None:
            return
        counts = accumulator[1]
        after = counts.get(value, 0) + sign * times
        if after:
            counts[value] = after
        else:
            counts.pop(value, None)


def _at(values: list[Any], totals: list[int], percentage: float) -> float:
    position = (totals[-1] - 1) * percentage
    below = int(position)
    low = values[bisect_left(totals, below + 1)]
    high = values[bisect_left(totals, min(below + 2, totals[-1]))]
    return float(low) if low == high else (below + 1 - position) * float(low) + (position - below) * float(high)


def _infer(arguments: Sequence[Argument]) -> Signature:
    if not 2 <= len(arguments) <= 3:
        raise ArgumentError("PERCENTILE takes a value, a percentage and optionally a frequency")
    kinds = [argument.type for argument in arguments]
    if not _numeric(kinds[0]) or (len(kinds) > 2 and not is_integer(kinds[2])):
        raise ArgumentError("PERCENTILE takes a number, and an integer as its frequency")
    several = isinstance(kinds[1], t.ArrayType)
    if not _numeric(kinds[1].element_type if isinstance(kinds[1], t.ArrayType) else kinds[1]):
        raise ArgumentError("PERCENTILE takes a percentage between 0 and 1, or an array of them")
    return Signature(tuple(kinds), t.ArrayType(t.DoubleType()) if several else t.DoubleType())


def _numeric(kind: t.DataType) -> bool:
    return is_integer(kind) or isinstance(kind, (t.FloatType, t.DoubleType, t.DecimalType))


def _percentile(site: CallSite) -> Accumulation:
    return Percentile()


FUNCTIONS = (AggregateFunction("PERCENTILE", _infer, _percentile),)
