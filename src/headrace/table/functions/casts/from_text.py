"""Casts of strings to other types: which texts each type accepts."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from headrace.table.functions.casts.failures import malformed, overflow
from headrace.table.functions.casts.zones import utc_micros, zone_of
from headrace.table.functions.civil import MICROS_PER_DAY, days_from_civil, days_in_month
from headrace.table.functions.decimals import fitted
from headrace.table.functions.numbers import integer_limits, to_float32
from headrace.table.functions.type_families import Family, family
from headrace.types.logical_types import BinaryType, DataType, DecimalType, FloatType, TimeType, VarBinaryType

Cast = Callable[[str], Any]
_TRUE = frozenset({"t", "true", "y", "yes", "1"})
_FALSE = frozenset({"f", "false", "n", "no", "0"})
_INTEGER = re.compile(r"(?![+-]?$)([+-]?\d*)(?:\.\d*)?", re.ASCII)
_SHORT_DECIMAL = re.compile(rb"([+-]?\d*\.?\d*(?:[eE][+-]?\d+)?).?", re.DOTALL)
"""Numbers that fit into a long: one character after the number is ignored."""
_SHORT = 18
_DIGIT = re.compile(rb"\d")
_DOUBLE = re.compile(r"([+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?))[fFdD]?", re.ASCII)
_DATE = re.compile(r"(\d{1,4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?", re.ASCII)
_TIME = re.compile(r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?)?", re.ASCII)
_TIMESTAMP = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{0,9}))?)?", re.ASCII)
_SECOND = 1_000_000


def parsing_cast(target: DataType, time_zone: str) -> Cast:
    """Return the cast of strings to a type that is not a string."""
    match family(target):
        case Family.BOOLEAN:
            return lambda text: _boolean(text, target)
        case Family.INTEGER:
            return _integer(target)
        case Family.DECIMAL:
            return _decimal(target)
        case Family.APPROXIMATE:
            if isinstance(target, FloatType):
                return lambda text: to_float32(_double(text, target))
            return lambda text: _double(text, target)
        case Family.BINARY:
            return _binary(target)
        case Family.DATE:
            return lambda text: _parse_date(text, target)
        case Family.TIME:
            unit = time_unit(target)
            return lambda text: _parse_time(text, target) // 1000 // unit * unit
    return _timestamp(target, time_zone)


def _boolean(text: str, target: DataType) -> bool:
    word = text.lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise malformed(text, target)


def _integer(target: DataType) -> Cast:
    low, high = integer_limits(target)

    def cast(text: str) -> int:
        found = _INTEGER.fullmatch(text.strip())
        if found is None:
            raise malformed(text, target)
        number = int(found[1]) if found[1].strip("+-") else 0
        if not low <= number <= high:
            raise overflow(text, target)
        return number

    return cast


def _decimal(target: DataType) -> Cast:
    assert isinstance(target, DecimalType)
    precision, scale = target.precision, target.scale

    def cast(text: str) -> Decimal:
        stripped = text.strip()
        data = stripped.encode()
        try:
            if precision <= _SHORT and len(data) <= _SHORT:
                found = _SHORT_DECIMAL.fullmatch(data)
                if found is None or data in (b"", b"+", b"-"):
                    raise malformed(text, target)
                number = Decimal((found[1].decode() if _DIGIT.search(found[1]) else "") or "0")
            elif "_" in stripped:
                raise malformed(text, target)
            else:
                number = Decimal(stripped)
        except InvalidOperation:
            raise malformed(text, target) from None
        fits = fitted(number, precision, scale) if number.is_finite() else None
        if fits is None:
            raise overflow(text, target)
        return fits

    return cast


def _double(text: str, target: DataType) -> float:
    found = _DOUBLE.fullmatch(text.strip())
    if found is None:
        raise malformed(text, target)
    return float(found[1])


def _binary(target: DataType) -> Cast:
    assert isinstance(target, (BinaryType, VarBinaryType))
    length = target.length
    if isinstance(target, BinaryType):
        return lambda text: text.encode()[:length].ljust(length, b"\0")
    return lambda text: text.encode()[:length]


def _parse_date(text: str, target: DataType) -> int:
    found = _DATE.fullmatch(text.strip().partition(" ")[0])
    if found is not None:
        year, month, day = int(found[1]), int(found[2] or 1), int(found[3] or 1)
        if 1 <= month <= 12 and 1 <= day <= days_in_month(year, month):
            return days_from_civil(year, month, day)
    raise malformed(text, target)


def _parse_time(text: str, target: DataType) -> int:
    found = _TIME.fullmatch(text.strip())
    if found is not None:
        hour, minute, second = int(found[1]), int(found[2] or 0), int(found[3] or 0)
        if hour < 24 and minute < 60 and second < 60:
            micros = int((found[4] or "")[:6].ljust(6, "0"))
            return ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros
    raise malformed(text, target)


def parse_timestamp(text: str, target: DataType) -> int:
    """Return the microseconds since 1970 of a timestamp as text; raise CastError if it is malformed.

    >>> from headrace.types.logical_types import TimestampType
    >>> parse_timestamp("1970-01-02 00:00:00.5", TimestampType(3))
    86400500000
    """
    found = _TIMESTAMP.fullmatch(text)
    if found is not None:
        year, month, day, hour, minute, second = (int(each or 0) for each in found.groups()[:6])
        micros = int((found[7] or "")[:6].ljust(6, "0"))
        time = ((hour * 60 + minute) * 60 + second) * _SECOND + micros
        midnight = time == MICROS_PER_DAY and not (found[7] or "").strip("0")  # 24:00:00
        if year and 1 <= month <= 12 and 1 <= day <= 31 and ((hour < 24 and minute < 60 and second < 60) or midnight):
            # A day that the month does not have is its last one.
            return days_from_civil(year, month, min(day, days_in_month(year, month))) * MICROS_PER_DAY + time
    raise malformed(text, target)


def time_unit(target: DataType) -> int:
    """Return the milliseconds of the smallest unit of a TIME type.

    >>> time_unit(TimeType(0)), time_unit(TimeType(3))
    (1000, 1)
    """
    assert isinstance(target, TimeType)
    return int(10 ** (3 - min(3, target.precision)))


def _timestamp(target: DataType, time_zone: str) -> Cast:
    unit = 10 ** (6 - min(6, target.precision))  # type: ignore[attr-defined]
    if family(target) is Family.TIMESTAMP:
        return lambda text: parse_timestamp(text, target) // unit * unit
    zone = zone_of(time_zone)
    return lambda text: utc_micros(parse_timestamp(text, target) // unit * unit, zone)
