"""DECIMAL: the precision and scale that each operation results in, and arithmetic that keeps to them.

Operations compute exactly (or with 38 digits, for a division), round half up to the scale of the result, and return None
if the result has more digits than its type allows.
"""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal, DivisionByZero, InvalidOperation, Overflow

from headrace.types.logical_types import DecimalType

MAX_PRECISION = 38
_LEAST_SCALE = 6

EXACT = Context(prec=120, rounding=ROUND_HALF_UP, traps=[InvalidOperation, DivisionByZero, Overflow])
"""Enough digits for the exact result of +, - and * of two decimals."""
QUOTIENT = Context(prec=MAX_PRECISION, rounding=ROUND_HALF_UP, traps=[InvalidOperation, DivisionByZero, Overflow])
_UNITS = [Decimal(1).scaleb(-scale) for scale in range(MAX_PRECISION + 1)]
_LIMITS = [Decimal(10) ** digits for digits in range(MAX_PRECISION + 1)]


def _adjusted(precision: int, scale: int) -> DecimalType:
    # Digits before the point take precedence over digits after it, of which at least six stay.
    if precision <= MAX_PRECISION:
        return DecimalType(precision, scale)
    return DecimalType(MAX_PRECISION, max(MAX_PRECISION - (precision - scale), min(scale, _LEAST_SCALE)))


def addition_type(left: DecimalType, right: DecimalType) -> DecimalType:
    """Return the type of a sum or difference.

    >>> addition_type(DecimalType(10, 2), DecimalType(10, 4))
    DecimalType(13, 4, true)
    """
    scale = max(left.scale, right.scale)
    return _adjusted(max(left.precision - left.scale, right.precision - right.scale) + scale + 1, scale)


def multiplication_type(left: DecimalType, right: DecimalType) -> DecimalType:
    """Return the type of a product.

    >>> multiplication_type(DecimalType(30, 10), DecimalType(30, 10))
    DecimalType(38, 6, true)
    """
    return _adjusted(left.precision + right.precision + 1, left.scale + right.scale)


def division_type(left: DecimalType, right: DecimalType) -> DecimalType:
    """Return the type of a quotient.

    >>> division_type(DecimalType(10, 2), DecimalType(5, 1))
    DecimalType(17, 8, true)
    """
    scale = max(_LEAST_SCALE, left.scale + right.precision + 1)
    return _adjusted(left.precision - left.scale + right.scale + scale, scale)


def modulo_type(left: DecimalType, right: DecimalType) -> DecimalType:
    """Return the type of a remainder.

    >>> modulo_type(DecimalType(10, 2), DecimalType(5, 1))
    DecimalType(6, 2, true)
    """
    if left.scale == right.scale == 0:
        return DecimalType(right.precision, 0)
    scale = max(left.scale, right.scale)
    return _adjusted(min(left.precision - left.scale, right.precision - right.scale) + scale, scale)


def sum_type(argument: DecimalType) -> DecimalType:
    """Return the type of SUM.

    >>> sum_type(DecimalType(10, 2))
    DecimalType(38, 2, true)
    """
    return DecimalType(MAX_PRECISION, argument.scale, is_nullable=argument.is_nullable)


def average_type(argument: DecimalType) -> DecimalType:
    """Return the type of AVG.

    >>> average_type(DecimalType(10, 2)), average_type(DecimalType(10, 8))
    (DecimalType(38, 6, true), DecimalType(38, 8, true))
    """
    return DecimalType(MAX_PRECISION, max(_LEAST_SCALE, argument.scale), is_nullable=argument.is_nullable)


def rounding_type(argument: DecimalType, digits: int) -> DecimalType:
    """Return the type of ROUND to a constant number of digits.

    >>> (
    ...     rounding_type(DecimalType(10, 4), 2),
    ...     rounding_type(DecimalType(10, 4), -2),
    ...     rounding_type(DecimalType(10, 4), 6),
    ... )
    (DecimalType(9, 2, true), DecimalType(7, 0, true), DecimalType(10, 4, true))
    """
    whole = argument.precision - argument.scale
    if digits >= argument.scale:
        return DecimalType(argument.precision, argument.scale)
    if digits < 0:
        return DecimalType(min(MAX_PRECISION, 1 + whole), 0)
    return DecimalType(1 + whole + digits, digits)


def fitted(number: Decimal, precision: int, scale: int) -> Decimal | None:
    """Return the number rounded half up to the scale, or None if it has too many digits.

    >>> fitted(Decimal("1.255"), 5, 2), fitted(Decimal("1234.5"), 5, 2)
    (Decimal('1.26'), None)
    """
    if number.adjusted() > MAX_PRECISION:
        return None if number else Decimal(0).quantize(_UNITS[scale])
    rounded = number.quantize(_UNITS[scale], context=EXACT)
    if rounded.copy_abs() >= _LIMITS[precision - scale]:  # abs() would round to the digits of the default context
        return None
    return rounded if rounded else rounded.copy_abs()  # there is no negative zero


def truncated(number: Decimal, scale: int) -> Decimal:
    """Return the number without the digits after the scale.

    >>> truncated(Decimal("-1.259"), 2)
    Decimal('-1.25')
    """
    return number.quantize(_UNITS[scale], rounding=ROUND_DOWN, context=EXACT)
