"""The patterns of `java.text.SimpleDateFormat`, which is lenient: days and months roll over, text at the end is ignored.

FROM_UNIXTIME, UNIX_TIMESTAMP, TO_DATE with a pattern, CONVERT_TZ and DATE_FORMAT of strings use it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache

from headrace.table.functions.casts.zones import local_micros, utc_micros, zone_of
from headrace.table.functions.civil import MICROS_PER_DAY, days_from_civil
from headrace.table.functions.date_names import HALVES, MONTHS, WEEKDAYS, LocalTime, week_of_year
from headrace.table.functions.date_pattern import DatePatternError

Token = tuple[str, int]
"""A letter and how often it occurs, or a text and 0."""
_LETTERS = frozenset("GyMwWDdFEuaHkKhmsSzZXYL")
_NUMBER = re.compile(r"[ \t]*(-?)(\d+)", re.ASCII)
_OFFSET = re.compile(r"(?:GMT|UTC)?([+-])(\d{1,2}):?(\d\d)?|Z|UTC|GMT", re.ASCII)
_NAME = re.compile(r"[A-Za-z][A-Za-z_/]*")
SHORT_ZONES = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}
"""What `java.util.TimeZone` takes three letters for."""
_ZONE_NAMES = {
    "PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6, "CDT": -5, "EST": -5, "EDT": -4, "HST": -10, "AKST": -9,
    "AKDT": -8, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "JST": 9,
}  # fmt: skip
"""Hours from UTC of the names that a text may contain."""
_CUTOVER = -141_427
"""The day on which the Gregorian calendar begins, 1582-10-15; before it, dates are of the Julian calendar."""


@lru_cache(maxsize=256)
def tokens(pattern: str) -> tuple[Token, ...]:
    """Return the fields and texts of a pattern; raise DatePatternError if it is malformed.

    >>> tokens("yyyy-MM'T'")
    (('y', 4), ('-', 0), ('M', 2), ('T', 0))
    """
    found: list[Token] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "'":
            end = at + 1
            while end < len(pattern) and (pattern[end] != "'" or pattern.startswith("''", end)):
                end += 2 if pattern.startswith("''", end) else 1
            if end >= len(pattern):
                raise DatePatternError(f"Unclosed quote in the pattern {pattern!r}")
            found.append((pattern[at + 1 : end].replace("''", "'") or "'", 0))
            at = end + 1
        elif character.isascii() and character.isalpha():
            if character not in _LETTERS:
                raise DatePatternError(f"The pattern {pattern!r} has the unknown field {character!r}")
            end = at
            while end < len(pattern) and pattern[end] == character:
                end += 1
            found.append((character, end - at))
            at = end
        else:
            found.append((character, 0))
            at += 1
    return tuple(found)


def legacy_formatter(pattern: str, time_zone: str) -> Callable[[int], str]:
    """Return the function that formats points in time, in milliseconds since 1970, as local times of a zone.

    >>> legacy_formatter("yyyy-MM-dd HH:mm:ss", "UTC")(0)
    '1970-01-01 00:00:00'
    """
    fields = tokens(pattern)
    zone = zone_of(time_zone)

    def write(millis: int) -> str:
        local = local_micros(millis * 1000, zone)
        time = LocalTime.of(local)
        if time.days < _CUTOVER:
            time = _julian(time)
        offset = (local - millis * 1000) // 60_000_000
        return "".join(
            _shown(letter, count, time, offset, millis, zone) if count else letter for letter, count in fields
        )

    return write


def _julian(time: LocalTime) -> LocalTime:
    shifted = time.days + 719_470  # days since 0000-03-01 of the Julian calendar
    year, rest = divmod(4 * shifted + 3, 1461)
    day_of_year = rest // 4
    month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month + 2) // 5 + 1
    real = month + 3 if month < 10 else month - 9
    return LocalTime(time.days, year + (real <= 2), real, day, time.hour, time.minute, time.second, time.micro)


def _shown(letter: str, count: int, time: LocalTime, offset: int, millis: int, zone: tzinfo) -> str:
    match letter:
        case "G":
            return "AD" if time.year > 0 else "BC"
        case "y" | "Y":
            year = time.year if letter == "y" else week_of_year(time.days, 7, 1)[0]
            year = year if year > 0 else 1 - year
            return f"{year % 100:02d}" if count == 2 else str(year).rjust(count, "0")
        case "M" | "L":
            name = MONTHS[time.month - 1]
            return str(time.month).rjust(count, "0") if count < 3 else name if count > 3 else name[:3]
        case "E":
            day = WEEKDAYS[time.weekday - 1]
            return day if count > 3 else day[:3]
        case "a":
            return HALVES[time.hour // 12]
        case "z":
            return _zone_name(millis, zone)
        case "Z" | "X":
            return _offset_text(letter, count, offset)
    return str(_number(letter, time)).rjust(count, "0")


def _number(letter: str, time: LocalTime) -> int:
    match letter:
        case "w":
            return week_of_year(time.days, 7, 1)[1]
        case "W":
            first = LocalTime.of((time.days - time.day + 1) * MICROS_PER_DAY).weekday % 7
            return (time.day + first - 1) // 7 + 1
        case "D":
            return time.day_of_year
        case "d":
            return time.day
        case "F":
            return (time.day - 1) // 7 + 1
        case "u":
            return time.weekday
        case "H":
            return time.hour
        case "k":
            return time.hour or 24
        case "K":
            return time.hour % 12
        case "h":
            return time.hour % 12 or 12
        case "m":
            return time.minute
        case "s":
            return time.second
    return time.micro // 1000


def _zone_name(millis: int, zone: tzinfo) -> str:
    moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=millis)
    name = moment.astimezone(zone).tzname() or ""
    return name if not name.startswith(("UTC+", "UTC-")) else f"GMT{name[3:]}"


def _offset_text(letter: str, count: int, offset: int) -> str:
    sign = "-" if offset < 0 else "+"
    hours, minutes = divmod(abs(offset), 60)
    if letter == "Z":
        return f"{sign}{hours:02d}{minutes:02d}"
    if not offset:
        return "Z"
    return f"{sign}{hours:02d}" + ("" if count == 1 else f"{':' if count == 3 else ''}{minutes:02d}")


def legacy_parse(pattern: str, text: str, time_zone: str) -> int | None:
    """Return the point in time of a local time as text, in milliseconds since 1970; None if the text does not fit.

    >>> legacy_parse("yyyy-MM-dd", "1970-01-32 and more", "UTC")
    2678400000
    """
    fields: dict[str, int] = {}
    known = tokens(pattern)
    at = 0
    for index, (letter, count) in enumerate(known):
        if not count:
            if not text.startswith(letter, at):
                return None
            at += len(letter)
            continue
        following = known[index + 1] if index + 1 < len(known) else ("", 0)
        at = _read(letter, count, text, at, fields, count if following[1] else 0)
        if at < 0:
            return None
    return _instant(fields, time_zone)


def _read(letter: str, count: int, text: str, at: int, fields: dict[str, int], limit: int) -> int:
    """Read one field and return the position behind it, or -1. `limit`: the most digits it may take."""
    while at < len(text) and text[at] in " \t":
        at += 1
    if letter in "ML" and count >= 3:
        return _read_name("M", MONTHS, text, at, fields, 1)
    if letter == "E":
        return _read_name("E", WEEKDAYS, text, at, fields, 1)
    if letter == "a":
        return _read_name("a", HALVES, text, at, fields, 0)
    if letter == "G":
        return _read_name("G", ("BC", "AD"), text, at, fields, 0)
    if letter in "zZX":
        return _read_zone(text, at, fields)
    found = _NUMBER.match(text if not limit else text[: at + limit], at)
    if found is None:
        return -1
    number = int(found[2])
    if letter == "y" and count <= 2 and len(found[2]) == 2 and not found[1]:
        number = _century(number)
    fields["M" if letter == "L" else letter] = -number if found[1] else number
    return found.end()


def _century(year: int) -> int:
    """Return the year with these last two digits that is at most 80 years ago and less than 20 years ahead."""
    start = datetime.now(timezone.utc).year - 80
    return start + (year - start) % 100


def _read_name(field: str, names: tuple[str, ...], text: str, at: int, fields: dict[str, int], first: int) -> int:
    lower = text[at:].lower()
    for choices in (names, tuple(name[:3] for name in names)):
        for index, name in enumerate(choices):
            if lower.startswith(name.lower()):
                fields[field] = index + first
                return at + len(name)
    return -1


def _read_zone(text: str, at: int, fields: dict[str, int]) -> int:
    found = _OFFSET.match(text, at)
    if found is not None:
        minutes = int(found[2] or 0) * 60 + int(found[3] or 0)
        fields["zone"] = -minutes if found[1] == "-" else minutes
        return found.end()
    name = _NAME.match(text, at)
    if name is not None and name[0] in _ZONE_NAMES:
        fields["zone"] = _ZONE_NAMES[name[0]] * 60
        return name.end()
    return -1


def _instant(fields: dict[str, int], time_zone: str) -> int:
    year, month = fields.get("y", 1970), fields.get("M", 1)
    if fields.get("G") == 0:
        year = 1 - year
    years, zero_based = divmod(year * 12 + month - 1, 12)
    if "D" in fields and "M" not in fields:
        days = days_from_civil(year, 1, 1) + fields["D"] - 1
    else:
        days = days_from_civil(years, zero_based + 1, 1) + fields.get("d", 1) - 1
    if days < _CUTOVER:
        days = _days_of_julian(years, zero_based + 1) + fields.get("d", 1) - 1
    hour = fields.get("H", fields.get("k", 0) % 24)
    for letter in ("h", "K"):
        if letter in fields:
            hour = fields[letter] % 12 + 12 * fields.get("a", 0)
    millis = (
        days * 86_400_000 + (hour * 3600 + fields.get("m", 0) * 60 + fields.get("s", 0)) * 1000 + fields.get("S", 0)
    )
    if "zone" in fields:
        return millis - fields["zone"] * 60_000
    return utc_micros(millis * 1000, zone_of(time_zone), latest=True) // 1000


def _days_of_julian(year: int, month: int) -> int:
    shifted = year - (month <= 2)
    return shifted * 365 + shifted // 4 + (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 - 719_470
