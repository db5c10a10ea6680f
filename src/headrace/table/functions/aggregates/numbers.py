"""Arithmetic of Java's number types for aggregates: integers wrap around, FLOAT rounds to 32 bits, DECIMAL has 38 digits."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from headrace.table.functions.definition import Argument, ArgumentError
from headrace.types import logical_types as t

LARGEST_PRECISION = 38
EXACT = Context(prec=100, rounding=ROUND_HALF_UP)
"""Enough digits for sums and quotients of DECIMAL values before they are rounded to their type."""
_BITS: dict[type[t.DataType], int] = {t.TinyIntType: 8, t.SmallIntType: 16, t.IntType: 32, t.BigIntType: 64}
_LIMIT = Decimal(10) ** LARGEST_PRECISION


def is_integer(kind: t.DataType) -> bool:
    """Return whether a type is TINYINT, SMALLINT, INT or BIGINT."""
    return type(kind) in _BITS


def numpy_type(kind: t.DataType) -> str | None:
    """Return numpy's name of a number type; None for DECIMAL and other types."""
    if type(kind) in _BITS:
        return f"int{_BITS[type(kind)]}"
    return {t.FloatType: "float32", t.DoubleType: "float64"}.get(type(kind))


def require_numeric(name: str, arguments: Any) -> t.DataType:
    """Return the type of the only argument, which must be a number."""
    if len(arguments) != 1:
        raise ArgumentError(f"{name} takes one argument, not {len(arguments)}")
    kind: t.DataType = arguments[0].type
    if not (is_integer(kind) or isinstance(kind, (t.FloatType, t.DoubleType, t.DecimalType, t.NullType))):
        raise ArgumentError(f"{name} takes a number")
    return t.IntType() if isinstance(kind, t.NullType) else kind


def one_argument(name: str, arguments: Any) -> Argument:
    """Return the only argument."""
    if len(arguments) != 1:
        raise ArgumentError(f"{name} takes one argument, not {len(arguments)}")
    argument: Argument = arguments[0]
    return argument


def wrap_of(kind: t.DataType) -> Callable[[Any], Any] | None:
    """Return the function that fits a result into its type; None for DOUBLE, whose results always fit.

    >>> wrap_of(t.TinyIntType())(200), wrap_of(t.FloatType())(0.1)
    (-56, 0.10000000149011612)
    """
    if is_integer(kind):
        half = 1 << (_BITS[type(kind)] - 1)
        return lambda number: number if -half <= number < half else (number + half) % (2 * half) - half
    if isinstance(kind, t.FloatType):
        return lambda number: ctypes.c_float(number).value
    if isinstance(kind, t.DecimalType):
        return lambda number: None if number is None or abs(number) >= _LIMIT else number
    return None


def divide_decimal(number: Decimal, by: int, scale: int) -> Decimal | None:
    """Return a quotient rounded half up to `scale` digits; None if it has too many digits.

    >>> divide_decimal(Decimal(2), 3, 6)
    Decimal('0.666667')
    """
    result = EXACT.divide(number, by).quantize(Decimal(1).scaleb(-scale), context=EXACT)
    return None if abs(result) >= Decimal(10) ** (LARGEST_PRECISION - scale) else result


def divide_integer(number: int, by: int) -> int:
    """Return a quotient truncated towards zero.

    >>> divide_integer(-7, 2)
    -3
    """
    return -(-number // by) if number < 0 else number // by
