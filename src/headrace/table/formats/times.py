"""Dates and times of records as texts, in the form of SQL or of ISO 8601, and in internal form."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any

from headrace.types import logical_types as t
from headrace.types.logical_types import DataType

_EPOCH = datetime.datetime(1970, 1, 1)
_FIRST_DAY = datetime.date(1970, 1, 1).toordinal()
_MICROSECOND = datetime.timedelta(microseconds=1)
_STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)([ T])(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z?)")
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?")
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


def date_of(text: str) -> int:
    """Read a date; return the days since 1970.

    >>> date_of("1970-01-03")
    2
    """
    found = _DATE.fullmatch(text)
    if not found:
        raise ValueError(f"expected a date such as 2020-12-31, got {text!r}")
    return datetime.date(*map(int, found.groups())).toordinal() - _FIRST_DAY


def time_of(text: str) -> int:
    """Read a time of day; return milliseconds.

    >>> time_of("00:00:01.5")
    1500
    """
    found = _TIME.fullmatch(text.removesuffix("Z"))
    if not found:
        raise ValueError(f"expected a time such as 12:59:59, got {text!r}")
    hour, minute, second, fraction = found.groups()
    moment = datetime.time(int(hour), int(minute), int(second or 0))
    millis = int((fraction or "0").ljust(3, "0")[:3])
    return ((moment.hour * 60 + moment.minute) * 60 + moment.second) * 1000 + millis


def timestamp_reader(kind: DataType, iso: bool) -> Callable[[str], int]:
    """Return the function that reads a TIMESTAMP or TIMESTAMP_LTZ column; the latter ends with Z.

    >>> timestamp_reader(t.TimestampType(3), False)("1970-01-01 00:00:01.2345")
    1234000
    >>> timestamp_reader(t.LocalZonedTimestampType(3), True)("1970-01-01T00:00:01Z")
    1000000
    """
    between = "T" if iso else " "
    zoned = isinstance(kind, t.LocalZonedTimestampType)
    end = "Z" if zoned else ""
    unit = 10 ** max(6 - getattr(kind, "precision", 6), 0)

    def read(text: str) -> int:
        found = _STAMP.fullmatch(text)
        if not found or found.group(4) != between or found.group(9) != end:
            raise ValueError(f"expected a time such as 2020-12-31{between}12:59:59{end}, got {text!r}")
        year, month, day, _, hour, minute, second, fraction, _ = found.groups()
        moment = datetime.datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0))
        micros = (moment - _EPOCH) // _MICROSECOND + int((fraction or "0").ljust(6, "0")[:6])
        return int(micros - micros % unit)

    return read


def date_text(days: int) -> str:
    """Write a date.

    >>> date_text(2)
    '1970-01-03'
    """
    return datetime.date.fromordinal(days + _FIRST_DAY).isoformat()


def time_text(millis: int) -> str:
    """Write a time of day; like Flink, without a fraction.

    >>> time_text(1500)
    '00:00:01'
    """
    seconds = millis // 1000
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def timestamp_writer(kind: DataType, iso: bool) -> Callable[[int], str]:
    """Return the function that writes a TIMESTAMP or TIMESTAMP_LTZ column.

    >>> timestamp_writer(t.TimestampType(3), False)(1_500_000), timestamp_writer(t.LocalZonedTimestampType(3), True)(0)
    ('1970-01-01 00:00:01.5', '1970-01-01T00:00:00Z')
    """
    between = "T" if iso else " "
    end = "Z" if isinstance(kind, t.LocalZonedTimestampType) else ""

    def write(micros: Any) -> str:
        seconds, fraction = divmod(micros, 1_000_000)
        moment = _EPOCH + datetime.timedelta(seconds=seconds)
        digits = f".{fraction:06}".rstrip("0") if fraction else ""
        return f"{moment.date().isoformat()}{between}{moment:%H:%M:%S}{digits}{end}"

    return write
