"""Parse numbers, dates and times as Java does; raise ValueError for strings that Java rejects.

Used by formats. Python's own parsers accept more (underscores, "nan", other digits) or less (fractions of seconds).
"""

from __future__ import annotations

import datetime
import decimal
import re
from array import array
from collections.abc import Callable, Sequence
from typing import Any

from headrace.types.time import Instant

_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_SPECIAL = {"NaN", "Infinity", "+Infinity", "-Infinity"}
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})")
_STAMP = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})[ T](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?")
_OFFSET = re.compile(r"Z|([+-])(\d{2}):?(\d{2})?")
_EPOCH = datetime.datetime(1970, 1, 1)


def whole(text: str) -> int:
    """Parse an integer.

    >>> whole(" 12 "), whole("-7")
    (12, -7)
    """
    text = text.strip()
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"not an integer: {text!r}")
    return int(text)


def whole_in(bits: int) -> Callable[[str], int]:
    """Return the parser of integers of `bits` bits.

    >>> whole_in(8)("-128")
    -128
    >>> whole_in(8)("300")
    Traceback (most recent call last):
    ...
    ValueError: too large for 8 bits: 300
    """
    limit = 1 << (bits - 1)

    def read(text: str) -> int:
        number = whole(text)
        if not -limit <= number < limit:
            raise ValueError(f"too large for {bits} bits: {number}")
        return number

    return read


def double(text: str) -> float:
    """Parse a ``double``.

    >>> double("1e3"), double(" 2.5 "), double("Infinity")
    (1000.0, 2.5, inf)
    >>> double("nan")
    Traceback (most recent call last):
    ...
    ValueError: not a number: 'nan'
    """
    text = text.strip()
    if not (_DECIMAL.fullmatch(text) or text in _SPECIAL):
        raise ValueError(f"not a number: {text!r}")
    return float(text)


def float32(text: str) -> float:
    """Parse a ``float``: the nearest number of 32 bits.

    >>> float32("0.5"), float32("1e39")
    (0.5, inf)
    """
    return narrow(double(text))


def narrow(number: float) -> float:
    """Return the nearest number of 32 bits."""
    try:
        return array("f", (number,))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def decimal_number(text: str) -> decimal.Decimal:
    """Parse a decimal number.

    >>> decimal_number("1.50")
    Decimal('1.50')
    """
    text = text.strip()
    if not _DECIMAL.fullmatch(text):
        raise ValueError(f"not a decimal number: {text!r}")
    return decimal.Decimal(text)


def fitting(precision: int, scale: int) -> Callable[[Any], decimal.Decimal | None]:
    """Return the function that rounds numbers to `scale` fraction digits, like Flink; None beyond `precision` digits.

    >>> fit = fitting(5, 2)
    >>> fit(decimal.Decimal("1.005")), fit(-1.5), fit(1234)
    (Decimal('1.01'), Decimal('-1.50'), None)
    """
    step = decimal.Decimal(1).scaleb(-scale)
    zero = decimal.Decimal(0).quantize(step)
    quantize = decimal.Context(precision, decimal.ROUND_HALF_UP, traps=[decimal.InvalidOperation]).quantize

    def fit(value: Any) -> decimal.Decimal | None:
        number = _finite(value)
        try:
            return quantize(number, step) or zero  # Java has no negative zero
        except decimal.InvalidOperation:
            return None

    return fit


def _finite(value: Any) -> decimal.Decimal:
    try:
        number = value if isinstance(value, decimal.Decimal) else decimal.Decimal(str(value))
    except decimal.InvalidOperation:
        raise ValueError(f"not a decimal number: {value!r}") from None
    if not number.is_finite():
        raise ValueError(f"not a finite number: {value}")
    return number


def date(text: str) -> datetime.date:
    """Parse a date.

    >>> date("2020-01-02")
    datetime.date(2020, 1, 2)
    """
    found = _DATE.fullmatch(text)
    if not found:
        raise ValueError(f"not a date: {text!r}")
    return datetime.date(*map(int, found.groups()))


def time_of_day(text: str, end: str = "") -> datetime.time:
    """Parse a time of day that ends with `end`.

    >>> time_of_day("03:04:05Z", "Z")
    datetime.time(3, 4, 5)
    """
    found = _TIME.fullmatch(text.removesuffix(end)) if text.endswith(end) else None
    if not found:
        raise ValueError(f"not a time of the form 03:04:05{end}: {text!r}")
    hours, minutes, seconds = map(int, found.groups())
    return datetime.time(hours, minutes, seconds)


def timestamp(text: str, between: str = " ", end: str = "") -> datetime.datetime:
    """Parse date and time with `between` between them and `end` at the end.

    >>> timestamp("2020-01-02 03:04:05.5")
    datetime.datetime(2020, 1, 2, 3, 4, 5, 500000)
    """
    found = _STAMP.fullmatch(text.removesuffix(end)) if text.endswith(end) and text[10:11] == between else None
    if not found:
        raise ValueError(f"not a time of the form 2020-01-02{between}03:04:05{end}: {text!r}")
    *parts, fraction = found.groups()
    micros = int((fraction or "0").ljust(9, "0")) // 1000
    return _moment(parts).replace(microsecond=micros)


def instant(text: str, between: str = "T") -> Instant:
    """Parse a point in time with its offset from UTC.

    >>> instant("2020-01-02T03:04:05+01:00")
    Instant<1577930645, 0>
    """
    found = _STAMP.match(text)
    offset = _OFFSET.fullmatch(text[found.end() :]) if found else None
    if not found or not offset or text[10] != between:
        raise ValueError(f"not a time of the form 2020-01-02{between}03:04:05Z: {text!r}")
    *parts, fraction = found.groups()
    seconds = int((_moment(parts) - _EPOCH).total_seconds())
    if offset.group(1):
        ahead = int(offset.group(2)) * 3600 + int(offset.group(3) or 0) * 60
        seconds -= ahead if offset.group(1) == "+" else -ahead
    return Instant(seconds, int((fraction or "0").ljust(9, "0")))


def _moment(parts: Sequence[str]) -> datetime.datetime:
    year, month, day, hour, minute, second = map(int, parts)
    return datetime.datetime(year, month, day, hour, minute, second)
