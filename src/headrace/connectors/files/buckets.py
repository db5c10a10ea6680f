"""BucketAssigner: in which directory of a file sink an element is written."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from headrace.errors import InvalidProgramError

# Runs of a pattern letter, quoted text, or anything else.
_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|([^A-Za-z']+)")
_DIGITS = {"M": "month", "d": "day", "H": "hour", "m": "minute", "s": "second"}


@dataclass(frozen=True)
class BucketAssigner:
    """In which directory an element is written; a program may write a subclass with `get_bucket_id`.

    >>> BucketAssigner.date_time_bucket_assigner()
    BucketAssigner(format_str='yyyy-MM-dd--HH', timezone_id=None)
    """

    format_str: str | None = None
    timezone_id: str | None = None

    @staticmethod
    def base_path_bucket_assigner() -> BucketAssigner:
        """Return the assigner that writes everything into one directory."""
        return BucketAssigner()

    @staticmethod
    def date_time_bucket_assigner(format_str: str = "yyyy-MM-dd--HH", timezone_id: str | None = None) -> BucketAssigner:
        """Return the assigner that makes a directory for each span of processing time.

        ``format_str`` is a pattern of Java's DateTimeFormatter.
        """
        try:
            zone = None if timezone_id is None else ZoneInfo(timezone_id)
        except (ZoneInfoNotFoundError, ValueError):
            raise InvalidProgramError("The time zone of buckets is unknown", seen=timezone_id) from None
        formatted(datetime.datetime(1970, 1, 1, tzinfo=zone), format_str)
        return BucketAssigner(format_str, timezone_id)

    def get_bucket_id(self, element: Any, processing_time: int) -> str:
        """Return the directory of an element, below the sink's path; subclasses decide by the element."""
        if self.format_str is None:
            return ""
        zone = None if self.timezone_id is None else ZoneInfo(self.timezone_id)
        return formatted(datetime.datetime.fromtimestamp(processing_time / 1000, zone), self.format_str)

    def buckets_of(self, values: list[Any], now: int) -> str | list[str]:
        """Return one directory for all elements, or one for each."""
        if type(self).get_bucket_id is BucketAssigner.get_bucket_id:
            return self.get_bucket_id(None, now)
        return [self.get_bucket_id(value, now) for value in values]


def formatted(moment: datetime.datetime, pattern: str) -> str:
    """Write a time by a pattern of Java: years, months, days, hours, minutes, seconds and quoted text.

    >>> formatted(datetime.datetime(2020, 1, 2, 3), "'dt='yyyy/M/dd HH'h'")
    'dt=2020/1/02 03h'
    """

    def one(found: re.Match[str]) -> str:
        quoted, letter, other = found.groups()
        if quoted is not None:
            return quoted.replace("''", "'") or "'"
        if other is not None:
            return other
        width = len(found.group())
        if letter in ("y", "u"):
            return f"{moment.year % 100:02}" if width == 2 else f"{moment.year:0{width}}"
        if letter == "S":
            return f"{moment.microsecond:06}"[:width].ljust(width, "0")
        if letter in _DIGITS and width <= 2:
            return f"{getattr(moment, _DIGITS[letter]):0{width}}"
        raise InvalidProgramError(
            "A letter of the pattern of buckets is not known",
            seen=found.group(),
            expected="y, M, d, H, m, s, S in numbers",
        )

    return _TOKEN.sub(one, pattern)
