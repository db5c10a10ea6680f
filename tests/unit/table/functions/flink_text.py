"""Values in internal form as the text that Flink's `Row.toString` prints for the same field."""

from typing import Any

from headrace.table.functions.casts.to_text import date_text
from headrace.types.java_formatting import double_text, float_text
from headrace.types.logical_types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DoubleType,
    FloatType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    TimestampType,
    TimeType,
    VarBinaryType,
    YearMonthIntervalType,
)

DAY = 86_400_000_000


def fraction(micros: int) -> str:
    """Return a fraction of a second in groups of three digits."""
    if not micros:
        return ""
    return f".{micros // 1000:03d}" if micros % 1000 == 0 else f".{micros:06d}"


def clock(micros: int, seconds: bool = False) -> str:
    """Return a time of day; seconds only if they are not zero, unless asked for."""
    whole, rest = divmod(micros, 1_000_000)
    minutes, second = divmod(whole, 60)
    text = f"{minutes // 60:02d}:{minutes % 60:02d}"
    return text + (f":{second:02d}{fraction(rest)}" if second or rest or seconds else "")


def duration(millis: int) -> str:
    """Return a java.time.Duration."""
    if millis == 0:
        return "PT0S"
    sign, rest = (-1, -millis) if millis < 0 else (1, millis)
    seconds, fraction_millis = divmod(rest, 1000)
    hours, seconds = divmod(seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    text = "PT" + (f"{sign * hours}H" if hours else "") + (f"{sign * minutes}M" if minutes else "")
    if seconds or fraction_millis:
        digits = f".{fraction_millis:03d}".rstrip("0").rstrip(".")
        text += f"{'-' if sign < 0 else ''}{seconds}{digits}S"
    return text


def period(months: int) -> str:
    """Return a java.time.Period of months."""
    return f"P{months}M" if months else "P0D"


def flink_text(value: Any, data_type: DataType) -> str | None:
    """Return the text of a value; None for null."""
    if value is None:
        return None
    match data_type:
        case FloatType():
            return float_text(value)
        case DoubleType():
            return double_text(value)
        case BooleanType():
            return "true" if value else "false"
        case DateType():
            return date_text(value)
        case TimeType():
            return clock(value * 1000)
        case TimestampType():
            return f"{date_text(value // DAY)}T{clock(value % DAY)}"
        case LocalZonedTimestampType():
            return f"{date_text(value // DAY)}T{clock(value % DAY, seconds=True)}Z"
        case YearMonthIntervalType():
            return period(value)
        case DayTimeIntervalType():
            return duration(value)
        case BinaryType() | VarBinaryType():
            return str([byte - 256 if byte > 127 else byte for byte in value])
        case ArrayType():
            return f"[{', '.join(_or_null(each, data_type.element_type) for each in value)}]"
        case RowType():
            return f"+I[{', '.join(_or_null(v, t) for v, t in zip(value, data_type.field_types(), strict=True))}]"
        case MapType():
            return _map(value, data_type.key_type, data_type.value_type)
        case MultisetType():
            return _map(value, data_type.element_type, None)
    return str(value)


def _or_null(value: Any, data_type: DataType) -> str:
    return flink_text(value, data_type) or ("" if value == "" else "null")


def _map(values: dict[Any, Any], key: DataType, value: DataType | None) -> str:
    parts = [f"{_or_null(k, key)}={v if value is None else _or_null(v, value)}" for k, v in values.items()]
    return "{" + ", ".join(parts) + "}"
