"""Variances and standard deviations of OVER windows: from the sum of squares, the sum and the count, as in Flink.

All steps have the type of the result: for INT they are those of integers, so quotients are truncated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cached_property
from typing import Any

from headrace.table.functions.aggregates.numbers import EXACT, divide_decimal, divide_integer, is_integer, wrap_of
from headrace.table.functions.definition import Accumulation
from headrace.types import logical_types as t


@dataclass(frozen=True)
class SteppedVariance(Accumulation):
    """[sum of squares, sum, number of values]. `sample`: divide by one less; `root`: the standard deviation."""

    type: t.DataType
    sample: bool
    root: bool

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def _fit(self) -> Callable[[Any], Any]:
        return wrap_of(self.type) or float

    def create(self) -> list[Any]:
        zero: Any = Decimal(0) if isinstance(self.type, t.DecimalType) else 0 if is_integer(self.type) else 0.0
        return [zero, zero, 0]

    def add(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        return self._change(accumulator, arguments[0], 1)

    def retract(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        return self._change(accumulator, arguments[0], -1)

    def merge(self, accumulator: list[Any], other: list[Any]) -> list[Any]:
        accumulator[0] = self._fit(accumulator[0] + other[0])
        accumulator[1] = self._fit(accumulator[1] + other[1])
        accumulator[2] += other[2]
        return accumulator

    def _change(self, accumulator: list[Any], value: Any, sign: int) -> list[Any]:
        if value is not None:
            fit = self._fit
            accumulator[0] = fit(accumulator[0] + sign * fit(value * value))
            accumulator[1] = fit(accumulator[1] + sign * value)
            accumulator[2] += sign
        return accumulator

    def result(self, accumulator: list[Any]) -> Any:
        squares, total, count = accumulator
        quotient: Any
        if count <= 0 or (self.sample and count == 1):
            return None
        fit, by = self._fit, count - 1 if self.sample else count
        if isinstance(self.type, t.DecimalType):
            difference = EXACT.subtract(squares, EXACT.divide(EXACT.multiply(total, total), count))
            quotient = EXACT.divide(difference, by)
            return divide_decimal(EXACT.sqrt(max(quotient, Decimal(0))) if self.root else quotient, 1, self.type.scale)
        if is_integer(self.type):
            difference = fit(squares - divide_integer(fit(total * total), count))
            quotient = divide_integer(difference, by)
            return fit(int(math.sqrt(quotient)) if quotient >= 0 else 0) if self.root else fit(quotient)
        quotient = fit(fit(squares - fit(fit(total * total) / count)) / by)
        if not self.root:
            return quotient
        return fit(math.sqrt(quotient)) if quotient >= 0 else math.nan
