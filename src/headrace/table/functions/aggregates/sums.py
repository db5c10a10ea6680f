"""SUM, $SUM0 and AVG, with Flink's types: integers keep their type and wrap around, DECIMAL gets 38 digits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

from headrace.graph.table_specs import ColumnAggregate
from headrace.table.functions.aggregates.numbers import (
    EXACT,
    LARGEST_PRECISION,
    divide_decimal,
    divide_integer,
    is_integer,
    numpy_type,
    require_numeric,
    wrap_of,
)
from headrace.table.functions.definition import Accumulation, AggregateFunction, Argument, CallSite, Signature
from headrace.types import logical_types as t


def _zero(kind: t.DataType) -> Any:
    if isinstance(kind, t.DecimalType):
        return Decimal(0).scaleb(-kind.scale)
    return 0 if is_integer(kind) else 0.0


@dataclass(frozen=True)
class _Numeric(Accumulation):
    type: t.DataType
    """The type of the sum."""

    @cached_property
    def _wrap(self) -> Any:
        return wrap_of(self.type)

    @cached_property
    def _decimal(self) -> bool:
        return isinstance(self.type, t.DecimalType)

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def plus(self, left: Any, right: Any) -> Any:
        """Return a sum in the type; None if a DECIMAL has too many digits."""
        if self._decimal:
            return None if left is None or right is None else self._wrap(EXACT.add(left, right))
        return left + right if self._wrap is None else self._wrap(left + right)

    def minus(self, left: Any, right: Any) -> Any:
        """Return a difference in the type."""
        if self._decimal:
            return None if left is None or right is None else self._wrap(EXACT.subtract(left, right))
        return left - right if self._wrap is None else self._wrap(left - right)


class Sum(_Numeric):
    """SUM of rows that are never retracted: the accumulator is the sum, None as long as all values are null.

    >>> total = Sum(t.TinyIntType())
    >>> total.add(total.add(None, 100), 100)
    -56
    """

    can_retract = False

    def create(self) -> Any:
        return None

    def add(self, accumulator: Any, *arguments: Any) -> Any:
        value = arguments[0]
        if value is None:
            return accumulator
        return value if accumulator is None else self.plus(accumulator, value)

    def merge(self, accumulator: Any, other: Any) -> Any:
        return self.add(accumulator, other)

    def result(self, accumulator: Any) -> Any:
        return accumulator


class RetractableSum(_Numeric):
    """SUM with retractions: [sum, number of values]; null once no value is left."""

    def create(self) -> list[Any]:
        return [_zero(self.type), 0]

    def add(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        if arguments[0] is not None:
            accumulator[0] = self.plus(accumulator[0], arguments[0])
            accumulator[1] += 1
        return accumulator

    def retract(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        if arguments[0] is not None:
            accumulator[0] = self.minus(accumulator[0], arguments[0])
            accumulator[1] -= 1
        return accumulator

    def merge(self, accumulator: list[Any], other: list[Any]) -> list[Any]:
        accumulator[0] = self.plus(accumulator[0], other[0])
        accumulator[1] += other[1]
        return accumulator

    def result(self, accumulator: list[Any]) -> Any:
        return accumulator[0] if accumulator[1] else None


class SumOrZero(_Numeric):
    """$SUM0: the sum, 0 without values."""

    def create(self) -> Any:
        return _zero(self.type)

    def add(self, accumulator: Any, *arguments: Any) -> Any:
        return accumulator if arguments[0] is None else self.plus(accumulator, arguments[0])

    def retract(self, accumulator: Any, *arguments: Any) -> Any:
        return accumulator if arguments[0] is None else self.minus(accumulator, arguments[0])

    def merge(self, accumulator: Any, other: Any) -> Any:
        return self.plus(accumulator, other)

    def result(self, accumulator: Any) -> Any:
        return accumulator


@dataclass(frozen=True)
class Average(RetractableSum):
    """AVG: [sum, number of values]. The sum of integers is a BIGINT and the quotient is truncated, as in Flink."""

    result_type: t.DataType

    @cached_property
    def _fit(self) -> Any:
        return wrap_of(self.result_type)

    def result(self, accumulator: list[Any]) -> Any:
        total, count = accumulator
        if not count or total is None:
            return None
        if isinstance(self.result_type, t.DecimalType):
            return divide_decimal(total, count, self.result_type.scale)
        if is_integer(self.result_type):
            return self._fit(divide_integer(total, count))
        return total / count if self._fit is None else self._fit(total / count)


def _sum_type(kind: t.DataType) -> t.DataType:
    return replace(kind, precision=LARGEST_PRECISION) if isinstance(kind, t.DecimalType) else kind


def _infer_sum(arguments: Sequence[Argument]) -> Signature:
    kind = require_numeric("SUM", arguments)
    return Signature((kind,), _sum_type(kind))


def _infer_sum0(arguments: Sequence[Argument]) -> Signature:
    kind = require_numeric("$SUM0", arguments)
    return Signature((kind,), _sum_type(kind).not_null())


def _infer_average(arguments: Sequence[Argument]) -> Signature:
    kind = require_numeric("AVG", arguments)
    if isinstance(kind, t.DecimalType):
        result: t.DataType = replace(kind, precision=LARGEST_PRECISION, scale=max(6, kind.scale))
    else:
        result = kind
    return Signature((kind,), result)


def _average(site: CallSite) -> Accumulation:
    kind = site.arguments[0].type
    if isinstance(kind, t.DecimalType):
        return Average(_sum_type(kind), site.result)
    return Average(t.BigIntType() if is_integer(kind) else t.DoubleType(), site.result)


def _columns(kind: str) -> Any:
    def columns(site: CallSite) -> ColumnAggregate | None:
        name = numpy_type(site.result)
        return None if name is None else ColumnAggregate(kind, name)

    return columns


FUNCTIONS = (
    AggregateFunction(
        "SUM",
        _infer_sum,
        lambda site: Sum(site.result),
        retracting=lambda site: RetractableSum(site.result),
        columns=_columns("SUM"),
    ),
    AggregateFunction("$SUM0", _infer_sum0, lambda site: SumOrZero(site.result)),
    AggregateFunction("AVG", _infer_average, _average, columns=_columns("AVG")),
)
ALIASES = {"SUM0": "$SUM0"}
