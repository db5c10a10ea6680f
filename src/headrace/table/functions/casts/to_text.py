"""Casts to CHAR and VARCHAR: the text form of every type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.table.functions.casts.zones import local_micros, zone_of
from headrace.table.functions.civil import MICROS_PER_DAY, civil_from_days
from headrace.table.functions.type_families import Family, family
from headrace.types.java_formatting import double_text, float_text
from headrace.types.logical_types import (
    ArrayType,
    CharType,
    DataType,
    FloatType,
    MapType,
    MultisetType,
    RowType,
    TimeType,
    VarCharType,
)

Text = Callable[[Any], str]


def text_cast(source: DataType, target: DataType, time_zone: str) -> Text:
    """Return the cast to a type of text: CHAR is padded or cut, VARCHAR cut to its length."""
    form = text_form(source, time_zone)
    assert isinstance(target, (CharType, VarCharType))
    length = target.length
    if isinstance(target, CharType):
        return lambda value: form(value)[:length].ljust(length)
    if length == 2**31 - 1 or (isinstance(source, (CharType, VarCharType)) and source.length <= length):
        return form
    return lambda value: form(value)[:length]


def text_form(data_type: DataType, time_zone: str = "UTC") -> Text:
    """Return the function that formats values of a type.

    >>> from headrace.types.logical_types import BooleanType, IntType
    >>> text_form(ArrayType(BooleanType()))((True, None))
    '[TRUE, NULL]'
    """
    match family(data_type):
        case Family.CHARACTER:
            return lambda value: value
        case Family.BOOLEAN:
            return lambda value: "TRUE" if value else "FALSE"
        case Family.APPROXIMATE:
            return float_text if isinstance(data_type, FloatType) else double_text
        case Family.DECIMAL:
            return lambda value: format(value, "f")
        case Family.BINARY:
            return lambda value: value.decode("utf-8", "replace")
        case Family.ARRAY | Family.MAP | Family.MULTISET | Family.ROW:
            return _nested_form(data_type, time_zone)
        case Family.INTEGER | Family.RAW | Family.NULL:
            return str
    return _temporal_form(data_type, time_zone)


def _temporal_form(data_type: DataType, time_zone: str) -> Text:
    match family(data_type):
        case Family.DATE:
            return date_text
        case Family.TIME:
            assert isinstance(data_type, TimeType)
            precision = data_type.precision
            return lambda value: time_text(value * 1000, precision)
        case Family.TIMESTAMP:
            digits: int = data_type.precision  # type: ignore[attr-defined]
            return lambda value: timestamp_text(value, digits)
        case Family.TIMESTAMP_LTZ:
            digits = data_type.precision  # type: ignore[attr-defined]
            zone = zone_of(time_zone)
            return lambda value: timestamp_text(local_micros(value, zone), digits)
        case Family.MONTHS:
            return months_text
    return duration_text


def date_text(days: int) -> str:
    """Format a date.

    >>> date_text(0)
    '1970-01-01'
    """
    year, month, day = civil_from_days(days)
    return f"{year:04d}-{month:02d}-{day:02d}"


def time_text(micros: int, precision: int) -> str:
    """Format a time of day, with at least `precision` digits after the seconds.

    >>> time_text(3_600_000_000, 0), time_text(3_600_500_000, 0), time_text(3_600_500_000, 3)
    ('01:00:00', '01:00:00.5', '01:00:00.500')
    """
    seconds, fraction = divmod(micros, 1_000_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    digits = f"{fraction:06d}".rstrip("0").ljust(precision, "0")
    return f"{hour:02d}:{minute:02d}:{second:02d}" + (f".{digits}" if digits else "")


def timestamp_text(micros: int, precision: int) -> str:
    """Format a timestamp, with at least `precision` digits after the seconds.

    >>> timestamp_text(1_500_000, 3)
    '1970-01-01 00:00:01.500'
    """
    days, time = divmod(micros, MICROS_PER_DAY)
    return f"{date_text(days)} {time_text(time, precision)}"


def months_text(months: int) -> str:
    """Format an interval of months.

    >>> months_text(14), months_text(-1)
    ('+1-02', '-0-01')
    """
    years, rest = divmod(abs(months), 12)
    return f"{'-' if months < 0 else '+'}{years}-{rest:02d}"


def duration_text(millis: int) -> str:
    """Format an interval of days and time.

    >>> duration_text(90_061_001)
    '+1 01:01:01.001'
    """
    days, rest = divmod(abs(millis), 86_400_000)
    hours, rest = divmod(rest, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    seconds, rest = divmod(rest, 1000)
    return f"{'-' if millis < 0 else '+'}{days} {hours:02d}:{minutes:02d}:{seconds:02d}.{rest:03d}"


def _or_null(form: Text) -> Text:
    return lambda value: "NULL" if value is None else form(value)


def _nested_form(data_type: DataType, time_zone: str) -> Text:
    match data_type:
        case ArrayType():
            element = _or_null(text_form(data_type.element_type, time_zone))
            return lambda values: f"[{', '.join(map(element, values))}]"
        case RowType():
            forms = [_or_null(text_form(each, time_zone)) for each in data_type.field_types()]
            return lambda values: f"({', '.join([form(value) for form, value in zip(forms, values)])})"
        case MapType() | MultisetType():
            if isinstance(data_type, MapType):
                key_type, value_type = data_type.key_type, data_type.value_type
                value_form = _or_null(text_form(value_type, time_zone))
            else:
                key_type, value_form = data_type.element_type, str
            key_form = _or_null(text_form(key_type, time_zone))
            return lambda values: f"{{{', '.join([f'{key_form(k)}={value_form(v)}' for k, v in values.items()])}}}"
    raise AssertionError(data_type)
