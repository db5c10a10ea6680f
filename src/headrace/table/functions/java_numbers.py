"""Floating-point numbers as text, the way Java writes them."""

from __future__ import annotations

import math
from ctypes import c_float
from decimal import Decimal

_LOW = Decimal("0.001")
_HIGH = Decimal(10_000_000)
_FLOAT_DIGITS = 10


def double_text(number: float) -> str:
    """Return a DOUBLE as text.

    >>> double_text(1.0), double_text(1e7), double_text(0.0001), double_text(float("nan"))
    ('1.0', '1.0E7', '1.0E-4', 'NaN')
    """
    return _text(number, repr(number))


def float_text(number: float) -> str:
    """Return a FLOAT as text, with the digits that tell it from other FLOAT values.

    >>> float_text(0.10000000149011612)
    '0.1'
    """
    for digits in range(1, _FLOAT_DIGITS):
        shown = f"{number:.{digits}g}"
        if not math.isfinite(number) or c_float(float(shown)).value == number:
            return _text(number, shown)
    return _text(number, repr(number))


def _text(number: float, digits: str) -> str:
    if number != number:  # noqa: PLR0124 - NaN
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    exact = Decimal(digits)
    sign = "-" if math.copysign(1.0, number) < 0 else ""
    amount = abs(exact)
    if amount == 0:
        return f"{sign}0.0"
    if _LOW <= amount < _HIGH:
        shown = f"{amount:f}"
        shown = shown.rstrip("0") if "." in shown else shown
        return f"{sign}{shown}0" if shown.endswith(".") else f"{sign}{shown}" + ("" if "." in shown else ".0")
    exponent = amount.adjusted()
    mantissa = f"{amount.scaleb(-exponent).normalize():f}"
    return f"{sign}{mantissa}{'' if '.' in mantissa else '.0'}E{exponent}"
