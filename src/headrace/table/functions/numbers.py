"""Arithmetic of single numbers like the JVM's: integers wrap around, FLOAT is rounded to 32 bits, doubles never raise."""

from __future__ import annotations

import math
from collections.abc import Callable
from ctypes import c_float
from typing import Any

from headrace.table.errors import SqlRuntimeError
from headrace.table.functions.type_families import integer_bits
from headrace.types.logical_types import DataType


def wrapper(data_type: DataType) -> Callable[[int], int]:
    """Return the function that wraps an integer around to the range of an integer type.

    >>> from headrace.types.logical_types import TinyIntType
    >>> wrapper(TinyIntType())(128)
    -128
    """
    bits = integer_bits(data_type)
    assert bits is not None, data_type
    half, mask = 1 << (bits - 1), (1 << bits) - 1

    def wrap(number: int) -> int:
        return ((number + half) & mask) - half

    return wrap


def integer_limits(data_type: DataType) -> tuple[int, int]:
    """Return the lowest and the highest value of an integer type."""
    bits = integer_bits(data_type)
    assert bits is not None, data_type
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def to_float32(number: float) -> float:
    """Round a number to 32 bits.

    >>> to_float32(0.1)
    0.10000000149011612
    """
    return c_float(number).value


def division_by_zero() -> SqlRuntimeError:
    """Return the error of a division by zero."""
    return SqlRuntimeError("Division by zero", remedy="exclude zeros, or divide by NULLIF(x, 0)")


def integer_quotient(left: int, right: int) -> int:
    """Divide and truncate towards zero.

    >>> integer_quotient(-7, 2), integer_quotient(7, -2)
    (-3, -3)
    """
    if right == 0:
        raise division_by_zero()
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) is (right < 0) else -quotient


def integer_remainder(left: int, right: int) -> int:
    """Return the remainder of a division; it has the sign of the dividend.

    >>> integer_remainder(-7, 2), integer_remainder(7, -2)
    (-1, 1)
    """
    if right == 0:
        raise division_by_zero()
    remainder = abs(left) % abs(right)
    return -remainder if left < 0 else remainder


def double_quotient(left: float, right: float) -> float:
    """Divide; division by zero results in an infinity or NaN.

    >>> double_quotient(1.0, 0.0), double_quotient(-1.0, 0.0), double_quotient(0.0, 0.0)
    (inf, -inf, nan)
    """
    if right:
        return left / right
    if left != left or left == 0:  # noqa: PLR0124 - NaN
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def double_remainder(left: float, right: float) -> float:
    """Return the remainder of a division of doubles.

    >>> double_remainder(-7.5, 2.0), double_remainder(1.0, 0.0)
    (-1.5, nan)
    """
    if right == 0 or math.isinf(left):
        return math.nan
    return math.fmod(left, right)


def double_power(base: float, exponent: float) -> float:
    """Return a power like the JVM's Math.pow.

    >>> double_power(2.0, 10.0), double_power(0.0, -1.0), double_power(-8.0, 1 / 3), double_power(10.0, 400.0)
    (1024.0, inf, nan, inf)
    """
    if exponent == 0:
        return 1.0
    if exponent != exponent or (abs(base) == 1 and math.isinf(exponent)):  # noqa: PLR0124 - NaN
        return math.nan
    odd = math.isfinite(exponent) and abs(exponent) % 2 == 1
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and odd else math.inf
    except ValueError:
        if base == 0:
            return math.copysign(math.inf, base) if odd else math.inf
        return math.nan


def or_nan(function: Callable[[float], float], at_pole: float = math.nan) -> Callable[[float], float]:
    """Return a function of the `math` module that returns NaN outside of its domain, and an infinity on overflow."""

    def safe(number: float) -> float:
        try:
            return function(number)
        except ValueError:
            return at_pole if number == 0 else math.nan
        except OverflowError:
            return math.inf

    return safe


def rounded_result(function: Callable[..., Any], round_result: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a function of two arguments whose result is passed on to another function."""
    return lambda left, right: round_result(function(left, right))
