"""English names of months and days, and the fields of a local time, for the date patterns of Java."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.table.functions.civil import MICROS_PER_DAY, civil_from_days, days_from_civil

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HALVES = ("AM", "PM")


@dataclass(frozen=True)
class LocalTime:
    """A local date and time, taken apart."""

    days: int
    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    micro: int

    @classmethod
    def of(cls, micros: int) -> LocalTime:
        """Take microseconds since 1970 apart.

        >>> LocalTime.of(3_600_000_001)
        LocalTime(days=0, year=1970, month=1, day=1, hour=1, minute=0, second=0, micro=1)
        """
        days, rest = divmod(micros, MICROS_PER_DAY)
        seconds, micro = divmod(rest, 1_000_000)
        return cls(days, *civil_from_days(days), seconds // 3600, seconds // 60 % 60, seconds % 60, micro)

    @property
    def weekday(self) -> int:
        """Return the day of the week: 1 is Monday, 7 is Sunday."""
        return (self.days + 3) % 7 + 1

    @property
    def day_of_year(self) -> int:
        """Return the day of the year, from 1."""
        return self.days - days_from_civil(self.year, 1, 1) + 1


def week_of_year(days: int, first_weekday: int, least_days: int) -> tuple[int, int]:
    """Return the year and the week that a day is in, if weeks begin at a weekday and the first one has `least_days`.

    >>> week_of_year(0, 1, 4)
    (1970, 1)
    """
    year = civil_from_days(days)[0]
    for candidate in (year + 1, year, year - 1):
        start = first_week(candidate, first_weekday, least_days)
        if days >= start:
            return candidate, (days - start) // 7 + 1
    raise AssertionError(days)


def first_week(year: int, first_weekday: int, least_days: int) -> int:
    """Return the day at which the first week of a year begins."""
    new_year = days_from_civil(year, 1, 1)
    weekday = (new_year + 3) % 7 + 1
    before = (weekday - first_weekday) % 7
    return new_year - before if 7 - before >= least_days else new_year - before + 7
