"""The calendar on plain integers: days since 1970 to year, month and day, and back, for any year."""

from __future__ import annotations

MICROS_PER_DAY = 86_400_000_000
MILLIS_PER_DAY = 86_400_000
_ERA = 146_097  # days of 400 years
_EPOCH = 719_468  # days from 0000-03-01 to 1970-01-01


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Return year, month and day of a day since 1970.

    >>> civil_from_days(0), civil_from_days(-1), civil_from_days(19782)
    ((1970, 1, 1), (1969, 12, 31), (2024, 2, 29))
    """
    # Years begin in March here, so that a leap day is the last day of a year.
    era, day_of_era = divmod(days + _EPOCH, _ERA)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, day


def days_from_civil(year: int, month: int, day: int) -> int:
    """Return the day since 1970 of a date.

    >>> days_from_civil(1970, 1, 1), days_from_civil(2024, 2, 29)
    (0, 19782)
    """
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * _ERA + day_of_era - _EPOCH


def days_in_month(year: int, month: int) -> int:
    """Return the number of days of a month.

    >>> days_in_month(2024, 2), days_in_month(2023, 2), days_in_month(1900, 2)
    (29, 28, 28)
    """
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def add_months_to_days(days: int, months: int) -> int:
    """Return the day some months later; a day that the month does not have becomes its last one.

    >>> civil_from_days(add_months_to_days(days_from_civil(2024, 1, 31), 1))
    (2024, 2, 29)
    """
    year, month, day = civil_from_days(days)
    years, zero_based = divmod(year * 12 + month - 1 + months, 12)
    return days_from_civil(years, zero_based + 1, min(day, days_in_month(years, zero_based + 1)))


def months_between_days(later: int, earlier: int) -> int:
    """Return the number of whole months from one day to another.

    >>> months_between_days(days_from_civil(2024, 3, 30), days_from_civil(2024, 1, 31))
    1
    """
    year, month, day = civil_from_days(later)
    other_year, other_month, other_day = civil_from_days(earlier)
    months = (year - other_year) * 12 + month - other_month
    if months > 0 and day < other_day:
        return months - 1
    return months + 1 if months < 0 and day > other_day else months
