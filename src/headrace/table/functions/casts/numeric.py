"""Casts between numbers, like the JVM's: integers wrap around, doubles are truncated and saturate, decimals round."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from headrace.table.functions.casts.failures import overflow
from headrace.table.functions.decimals import fitted
from headrace.table.functions.numbers import integer_limits, to_float32, wrapper
from headrace.table.functions.type_families import Family, family, integer_bits
from headrace.types.logical_types import BigIntType, DataType, DecimalType, FloatType, IntType

Cast = Callable[[Any], Any]


def numeric_cast(source: DataType, target: DataType) -> Cast:
    """Return the cast of numbers (or BOOLEAN) of one type to another."""
    match family(target):
        case Family.INTEGER:
            return _to_integer(source, target)
        case Family.DECIMAL:
            return _to_decimal(source, target)
    if isinstance(target, FloatType):
        return lambda value: to_float32(float(value))
    return float


def _to_integer(source: DataType, target: DataType) -> Cast:
    wrap = wrapper(target)
    match family(source):
        case Family.BOOLEAN:
            return int
        case Family.INTEGER:
            narrower = (integer_bits(source) or 0) <= (integer_bits(target) or 0)
            return (lambda value: value) if narrower else wrap
        case Family.DECIMAL:
            return lambda value: wrap(int(value))
    # A double becomes an INT or BIGINT first; smaller types take its lowest bits.
    low, high = integer_limits(target if isinstance(target, BigIntType) else IntType())

    def from_double(value: float) -> int:
        if value != value:  # noqa: PLR0124 - NaN
            return 0
        if math.isinf(value):
            return wrap(low if value < 0 else high)
        return wrap(min(max(int(value), low), high))

    return from_double


def _to_decimal(source: DataType, target: DataType) -> Cast:
    assert isinstance(target, DecimalType)
    precision, scale = target.precision, target.scale
    if family(source) is Family.APPROXIMATE:

        def from_double(value: float) -> Decimal | None:
            if not math.isfinite(value):
                raise overflow(value, target)
            return fitted(Decimal(repr(value)), precision, scale)

        return from_double
    if isinstance(source, DecimalType):
        if source.scale == scale and source.precision <= precision:
            return lambda value: value
        return lambda value: fitted(value, precision, scale)
    return lambda value: fitted(Decimal(int(value)), precision, scale)
