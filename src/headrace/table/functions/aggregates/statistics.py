"""Variances and standard deviations. They are computed as doubles and cast to the type of the result.

The sum of the squared distances from the mean is kept up to date with each value (Welford's method), which loses fewer
digits than the sum of squares would.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from headrace.table.functions.aggregates.numbers import LARGEST_PRECISION, require_numeric
from headrace.table.functions.aggregates.over_statistics import SteppedVariance
from headrace.table.functions.casts.numeric import numeric_cast
from headrace.table.functions.definition import Accumulation, AggregateFunction, Argument, CallSite, Signature
from headrace.types import logical_types as t


@dataclass(frozen=True)
class Variance(Accumulation):
    """[number of values, mean, squared distances]. `sample`: divide by one less; `root`: the standard deviation."""

    type: t.DataType
    sample: bool
    root: bool

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def _cast(self) -> Callable[[float], Any]:
        return numeric_cast(t.DoubleType(), self.type)

    def create(self) -> list[Any]:
        return [0, 0.0, 0.0]

    def add(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        if arguments[0] is not None:
            count, mean, squares = accumulator
            value = float(arguments[0])
            before = value - mean
            mean += before / (count + 1)
            accumulator[:] = count + 1, mean, squares + before * (value - mean)
        return accumulator

    def retract(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        if arguments[0] is not None:
            count, mean, squares = accumulator
            if count == 1:
                accumulator[:] = self.create()
                return accumulator
            value = float(arguments[0])
            after = value - mean
            mean -= after / (count - 1)
            accumulator[:] = count - 1, mean, squares - after * (value - mean)
        return accumulator

    def merge(self, accumulator: list[Any], other: list[Any]) -> list[Any]:
        count, mean, squares = accumulator
        other_count, other_mean, other_squares = other
        if not other_count:
            return accumulator
        if not count:
            accumulator[:] = other
            return accumulator
        total, distance = count + other_count, other_mean - mean
        mean += distance * other_count / total
        squares += other_squares + distance * distance * count * other_count / total
        accumulator[:] = total, mean, squares
        return accumulator

    def result(self, accumulator: list[Any]) -> Any:
        count, _, squares = accumulator
        if count <= 0 or (self.sample and count == 1):
            return None
        quotient = squares / (count - 1 if self.sample else count)
        if self.root:
            quotient = math.sqrt(quotient) if quotient >= 0 else math.nan
        return self._cast(quotient)


def _infer(name: str) -> Callable[[Sequence[Argument]], Signature]:
    def infer(arguments: Sequence[Argument]) -> Signature:
        kind = require_numeric(name, arguments)
        result = kind
        if isinstance(kind, t.DecimalType):
            result = replace(kind, precision=LARGEST_PRECISION, scale=max(6, kind.scale))
        return Signature((kind,), result.nullable() if name.endswith("SAMP") or name in ALIASES else result)

    return infer


def _function(name: str, sample: bool, root: bool) -> AggregateFunction:
    def rows(site: CallSite) -> Accumulation:
        return (SteppedVariance if site.over else Variance)(site.result, sample, root)

    return AggregateFunction(name, _infer(name), rows)


ALIASES = {"STDDEV": "STDDEV_SAMP", "VARIANCE": "VAR_SAMP"}
FUNCTIONS = (
    _function("STDDEV_POP", sample=False, root=True),
    _function("STDDEV_SAMP", sample=True, root=True),
    _function("VAR_POP", sample=False, root=False),
    _function("VAR_SAMP", sample=True, root=False),
)
