"""Dates, times and timestamps as ISO 8601 text, as the JSON functions and formats write them."""

from __future__ import annotations

from headrace.types.logical_types import DataType, DateType, LocalZonedTimestampType, TimeType

_MILLION = 1_000_000


def iso_text(data_type: DataType, value: int) -> str:
    """Return a temporal value as text. Zeros at the end of a fraction are left out.

    >>> from headrace.types.logical_types import TimestampType
    >>> iso_text(DateType(), 0), iso_text(TimestampType(3), 1_500_000), iso_text(LocalZonedTimestampType(3), 0)
    ('1970-01-01', '1970-01-01T00:00:01.5', '1970-01-01T00:00:00Z')
    """
    if isinstance(data_type, DateType):
        return _date(value)
    if isinstance(data_type, TimeType):
        return _time(value * 1000)
    days, micros = divmod(value, 86_400 * _MILLION)
    suffix = "Z" if isinstance(data_type, LocalZonedTimestampType) else ""
    return f"{_date(days)}T{_time(micros)}{suffix}"


def _date(days: int) -> str:
    from headrace.table.functions.civil import civil_from_days

    year, month, day = civil_from_days(days)
    return f"{year:04d}-{month:02d}-{day:02d}"


def _time(micros: int) -> str:
    seconds, fraction = divmod(micros, _MILLION)
    minutes, second = divmod(seconds, 60)
    shown = f"{minutes // 60:02d}:{minutes % 60:02d}:{second:02d}"
    return f"{shown}.{fraction:06d}".rstrip("0") if fraction else shown


def java_local_text(micros: int) -> str:
    """Return a local time as Java's `LocalDateTime` does: seconds only if not zero, fractions in groups of three digits.

    >>> java_local_text(0), java_local_text(1_500_000)
    ('1970-01-01T00:00', '1970-01-01T00:00:01.500')
    """
    days, rest = divmod(micros, 86_400 * _MILLION)
    seconds, fraction = divmod(rest, _MILLION)
    shown = f"{_date(days)}T{seconds // 3600:02d}:{seconds // 60 % 60:02d}"
    if seconds % 60 or fraction:
        shown += f":{seconds % 60:02d}"
    if fraction:
        shown += f".{fraction:06d}" if fraction % 1000 else f".{fraction // 1000:03d}"
    return shown
