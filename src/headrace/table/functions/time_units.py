"""Units of time on plain integers: what EXTRACT, FLOOR and CEIL compute.

Flink divides timestamps towards zero where it looks for their day, so that for timestamps before 1970 which are not at
midnight the day after counts, and hours, minutes and seconds are negative. These functions do the same.
"""

from __future__ import annotations

from headrace.table.functions.civil import add_months_to_days, civil_from_days, days_from_civil
from headrace.table.functions.date_names import week_of_year
from headrace.table.functions.numbers import integer_quotient as divided
from headrace.table.functions.numbers import integer_remainder as remainder

DAY = 86_400_000
MILLIS = {"MILLISECOND": 1, "SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": DAY, "WEEK": 7 * DAY}
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12, "DECADE": 120, "CENTURY": 1200, "MILLENNIUM": 12_000}
DATE_UNITS = frozenset(
    ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOW", "DOY", "ISODOW", "ISOYEAR", "DECADE", "CENTURY", "MILLENNIUM")
)
_CYCLES = {"HOUR": DAY, "MINUTE": 3_600_000, "SECOND": 60_000, "MILLISECOND": 1000}
_JULIAN_END = -141_428
"""The last day of the Julian calendar, which FLOOR and CEIL use for days before."""


def date_part(unit: str, days: int) -> int:
    """Return a part of a date.

    >>> date_part("WEEK", 0), date_part("DOW", 0), date_part("DOY", 31), date_part("CENTURY", 0)
    (1, 5, 32, 20)
    """
    year, month, day = civil_from_days(days)
    match unit:
        case "YEAR":
            return year
        case "QUARTER":
            return (month + 2) // 3
        case "MONTH":
            return month
        case "DAY":
            return day
        case "WEEK":
            return week_of_year(days, 1, 4)[1]
        case "ISOYEAR":
            return week_of_year(days, 1, 4)[0]
        case "DOW":
            return (days + 4) % 7 + 1
        case "ISODOW":
            return (days + 3) % 7 + 1
        case "DOY":
            return days - days_from_civil(year, 1, 1) + 1
        case "DECADE":
            return divided(year, 10)
        case "CENTURY":
            return divided(year + 99, 100) if year > 0 else divided(year - 99, 100)
        case "MILLENNIUM":
            return divided(year + 999, 1000) if year > 0 else divided(year - 999, 1000)
    return days * 86_400


def time_part(unit: str, millis: int, nanos: int = 0) -> int:
    """Return a part of a time of day, of milliseconds and the nanoseconds within the last one.

    >>> time_part("HOUR", 7_200_000), time_part("MICROSECOND", 1001, 500_000)
    (2, 1500)
    """
    if unit == "MICROSECOND":
        return remainder(millis, 1000) * 1000 + nanos // 1000
    if unit == "NANOSECOND":
        return remainder(millis, 1000) * 1_000_000 + nanos
    return divided(remainder(millis, _CYCLES[unit]), MILLIS[unit])


def round_date(unit: str, days: int, *, up: bool) -> int:
    """Return the first day of the unit that a day is in, or that of the next unit."""
    year, month, day = _calendar(days)
    match unit:
        case "MILLENNIUM":
            return days_from_civil(1000 * divided(year + 999, 1000) + (1 if up else -999), 1, 1)
        case "CENTURY":
            return days_from_civil(100 * divided(year + 99, 100) + (1 if up else -99), 1, 1)
        case "DECADE":
            return days_from_civil(10 * (divided(year, 10) + up), 1, 1)
        case "YEAR":
            return days_from_civil(year + (up and (month, day) != (1, 1)), 1, 1)
        case "QUARTER":
            # Rounding up leaves only the first of January as it is.
            quarter = (month + 2) // 3 + (up and (month > 1 or day > 1))
            return days_from_civil(year, quarter * 3 - 2, 1)
        case "MONTH":
            return days_from_civil(year, month + (up and day > 1), 1)
        case "WEEK":
            offset = (days + 4) % 7
            return days_from_civil(year, month, day) - (offset - 7 if up and offset else offset)
    return days_from_civil(year, month, day) + up


def _calendar(days: int) -> tuple[int, int, int]:
    if days > _JULIAN_END:
        return civil_from_days(days)
    shifted = days + 719_470
    year, rest = divmod(4 * shifted + 3, 1461)
    month = (5 * (rest // 4) + 2) // 153
    real = month + 3 if month < 10 else month - 9
    return year + (real <= 2), real, rest // 4 - (153 * month + 2) // 5 + 1


def round_millis(unit: str, millis: int, *, up: bool) -> int:
    """Return the start of the unit that a timestamp is in, or that of the next unit; in milliseconds.

    >>> round_millis("HOUR", 3_600_001, up=False), round_millis("HOUR", 3_600_001, up=True)
    (3600000, 7200000)
    """
    if unit in MILLIS and unit != "WEEK":
        size = MILLIS[unit]
        return -(-millis // size) * size if up else millis // size * size
    return round_date(unit, divided(millis, DAY), up=up) * DAY


def months_between(later: int, earlier: int) -> int:
    """Return the whole months between two timestamps in milliseconds.

    >>> months_between(2_678_400_000, 0), months_between(0, 2_678_400_000)
    (1, -1)
    """
    later_day, later_time = divmod(later, DAY)
    earlier_day, earlier_time = divmod(earlier, DAY)
    months = _months_of_days(later_day, earlier_day)
    if add_months_to_days(earlier_day, months) == later_day and later_time < earlier_time:
        months -= 1
    return months


def _months_of_days(later: int, earlier: int) -> int:
    if later < earlier:
        return -_months_of_days(earlier, later)
    year, month, _ = civil_from_days(later)
    other_year, other_month, _ = civil_from_days(earlier)
    months = (year - other_year) * 12 + month - other_month
    return months - 1 if add_months_to_days(earlier, months) > later else months
