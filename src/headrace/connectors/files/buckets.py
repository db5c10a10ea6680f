"""In which directory an element is written."""

from __future__ import annotations

import datetime
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from headrace.errors import InvalidProgramError

# Runs of a pattern letter, quoted text, or anything else.
_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|([^A-Za-z']+)")
_DIGITS = {"M": "month", "d": "day", "H": "hour", "m": "minute", "s": "second"}


class Buckets(ABC):
    """Gives the directory of elements, below the sink's own."""

    @abstractmethod
    def of(self, values: list[Any], timestamps: list[int | None] | None, now: int) -> str | list[str]:
        """One directory for all, or one for each."""


@dataclass(frozen=True)
class OneBucket(Buckets):
    """Everything in one directory."""

    def of(self, values: list[Any], timestamps: list[int | None] | None, now: int) -> str:
        return ""


@dataclass(frozen=True)
class TimeBuckets(Buckets):
    """A directory for each span of processing time, named by a pattern of Java's DateTimeFormatter.

    >>> TimeBuckets("yyyy-MM-dd--HH", "UTC").of([], None, 0)
    '1970-01-01--00'
    """

    pattern: str = "yyyy-MM-dd--HH"
    zone: str | None = None

    def __post_init__(self) -> None:
        """Try the pattern and the zone."""
        formatted(datetime.datetime(1970, 1, 1), self.pattern)
        try:
            self.of([], None, 0)
        except (ZoneInfoNotFoundError, ValueError):
            raise InvalidProgramError("The time zone of buckets is unknown", seen=self.zone) from None

    def of(self, values: list[Any], timestamps: list[int | None] | None, now: int) -> str:
        zone = None if self.zone is None else ZoneInfo(self.zone)
        return formatted(datetime.datetime.fromtimestamp(now / 1000, zone), self.pattern)


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


@dataclass(frozen=True)
class OwnBuckets(Buckets):
    """What a function of the program says: it gets the element and the processing time."""

    function: Any

    def of(self, values: list[Any], timestamps: list[int | None] | None, now: int) -> list[str]:
        function = self.function
        return [function(value, now) for value in values]
