"""Local times to text and back, as `java.time` does it with its SMART resolver."""

from __future__ import annotations

import re
from collections.abc import Callable

from headrace.table.functions.civil import MICROS_PER_DAY, days_from_civil, days_in_month
from headrace.table.functions.date_names import LocalTime
from headrace.table.functions.date_pattern import (
    DatePatternError,
    Fields,
    Fraction,
    Optional,
    Part,
    parse_pattern,
    read_parts,
)

_SQL_TIMESTAMP = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2}) +(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?", re.ASCII)
_SQL_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})", re.ASCII)
_LIMITS = {
    "month": (1, 12),
    "day": (1, 31),
    "day of year": (1, 366),
    "hour": (0, 24),
    "minute": (0, 59),
    "second": (0, 59),
    "clock hour": (1, 24),
    "hour of half": (0, 11),
    "clock hour of half": (1, 12),
    "year of era": (1, 999_999_999),
}


class DateTextError(ValueError):
    """A text is not a date of a pattern."""


def formatter(pattern: str) -> Callable[[int], str]:
    """Return the function that formats local times; raise DatePatternError if the pattern is malformed.

    >>> formatter("EEE, d MMM yyyy hh:mm a")(0)
    'Thu, 1 Jan 1970 12:00 AM'
    """
    parts = parse_pattern(pattern)

    def write(micros: int) -> str:
        time = LocalTime.of(micros)
        return "".join(part.write(time) for part in parts)

    return write


_DEFAULT: tuple[Part, ...] = (
    *parse_pattern("yyyy-[MM][M]-[dd][d]"),
    Optional((*parse_pattern(" [HH][H]:[mm][m]:[ss][s]"), Fraction(0, 9, True))),
)


def parse_default(text: str, precision: int = 3) -> int:
    """Return the local time of a timestamp in SQL's form; raise DateTextError.

    >>> parse_default("1970-1-2 00:00:01.23456")
    86401234000
    """
    return _parse(_DEFAULT, text, precision)


def parse_with(pattern: str, text: str, precision: int = 3) -> int | None:
    """Return the local time of a text, or None. A text that does not fit may still be a timestamp or date of SQL.

    >>> parse_with("dd.MM.yyyy", "02.01.1970"), parse_with("yyyyMMdd", "1970-01-02"), parse_with("yyyy", "x")
    (86400000000, 86400000000, None)
    """
    try:
        parts = parse_pattern(pattern)
    except DatePatternError:
        return None
    try:
        return _parse(parts, text, precision)
    except DateTextError:
        return _parse_sql(text.strip())


def _parse_sql(text: str) -> int | None:
    found = _SQL_TIMESTAMP.fullmatch(text) if " " in text else _SQL_DATE.fullmatch(text)
    if found is None:
        return None
    year, month, day, *time = (int(each) for each in found.groups()[:6] if each is not None)
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    if not time:
        return (days_from_civil(year, month, 1) + day - 1) * MICROS_PER_DAY
    hour, minute, second = time
    fraction = int((found[7] or "0").ljust(9, "0")) // 1000
    days = days_from_civil(year, month, 1) + day - 1
    return days * MICROS_PER_DAY + ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction


def _parse(parts: tuple[Part, ...], text: str, precision: int) -> int:
    fields: Fields = {}
    end = read_parts(parts, text, 0, fields)
    if end != len(text):
        raise DateTextError(f"The text {text!r} does not fit the pattern")
    return _resolved(fields, text, precision)


def _resolved(fields: Fields, text: str, precision: int) -> int:
    for name, value in fields.items():
        low, high = _LIMITS.get(name, (value, value))
        if not low <= value <= high:
            raise DateTextError(f"The {name} of {text!r} is {value}, expected {low} to {high}")
    year = fields.get("year", fields.get("year of era", 1970))
    if fields.get("era") == 0 and "year of era" in fields:
        year = 1 - year
    complete = "year" in fields or "year of era" in fields
    if "day of year" in fields and complete:
        days = days_from_civil(year, 1, 1) + fields["day of year"] - 1
    else:
        month, day = fields.get("month", 1), fields.get("day", 1)
        last = days_in_month(year, month)
        if day > last and not (complete and "month" in fields):
            raise DateTextError(f"{text!r} has no valid day")
        days = days_from_civil(year, month, min(day, last))
    return days * MICROS_PER_DAY + _time(fields, text) + _fraction(fields, precision)


def _time(fields: Fields, text: str) -> int:
    hour = fields.get("hour", 0)
    half = fields.get("half")
    if "clock hour" in fields:
        hour = fields["clock hour"] % 24
    elif half is not None and "clock hour of half" in fields:
        hour = fields["clock hour of half"] % 12 + 12 * half
    elif half is not None and "hour of half" in fields:
        hour = fields["hour of half"] + 12 * half
    if "milli of day" in fields:
        return fields["milli of day"] * 1000
    if "nano of day" in fields:
        return fields["nano of day"] // 1000
    minute, second = fields.get("minute", 0), fields.get("second", 0)
    if hour == 24 and (minute or second or fields.get("nano", 0)):
        raise DateTextError(f"The hour of {text!r} is 24")
    return ((hour * 60 + minute) * 60 + second) * 1_000_000


def _fraction(fields: Fields, precision: int) -> int:
    unit: int = 10 ** (9 - min(precision, 6))
    return fields.get("nano", 0) // unit * unit // 1000
