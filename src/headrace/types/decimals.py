"""Decimal numbers as a column of so many digits has them: rounded, and none where there are too many digits.

Formats of files call this for columns of `DataTypes.DECIMAL`.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

__all__ = ["fitting", "shortest_text"]

_ALL_DIGITS = Context(38)


def fitting(precision: int, scale: int) -> Callable[[Any], Decimal | None]:
    """Return the function that brings numbers to `precision` digits, `scale` of them after the point, as Flink does.

    >>> fit = fitting(5, 2)
    >>> fit(Decimal("1.005")), fit(-1.5), fit(1234)
    (Decimal('1.01'), Decimal('-1.50'), None)
    """
    step = Decimal(1).scaleb(-scale)
    zero = Decimal(0).quantize(step)
    quantize = Context(precision, ROUND_HALF_UP, traps=[InvalidOperation]).quantize

    def fit(value: Any) -> Decimal | None:
        number = _finite(value)
        try:
            return quantize(number, step) or zero  # Java knows no negative zero
        except InvalidOperation:
            return None

    return fit


def _finite(value: Any) -> Decimal:
    try:
        number = value if isinstance(value, Decimal) else Decimal(str(value))
    except InvalidOperation:
        raise ValueError(f"not a decimal number: {value!r}") from None
    if not number.is_finite():
        raise ValueError(f"not a finite number: {value}")
    return number


def shortest_text(number: Decimal) -> str:
    """Return the text of a number without zeros at its end, as Java's ``BigDecimal`` has it.

    >>> shortest_text(Decimal("1.50")), shortest_text(Decimal("100.00")), shortest_text(Decimal("0.00"))
    ('1.5', '1E+2', '0')
    """
    return str(number.normalize(_ALL_DIGITS))
