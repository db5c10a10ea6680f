"""The patterns of `java.time.format.DateTimeFormatter`: `yyyy-MM-dd HH:mm:ss.SSS`, quotes and optional parts included.

A pattern is a tuple of parts. Each part can format a local time, and read its text into fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from headrace.table.functions.date_names import HALVES, MONTHS, WEEKDAYS, LocalTime, week_of_year

Fields = dict[str, int]
_MOST = 19
_ZONE = re.compile(
    r"[+-]\d\d(?::?\d\d(?::?\d\d)?)?|Z|UTC|GMT(?:[+-]\d{1,2}(?::\d\d)?)?|[A-Z][A-Za-z]+(?:/[A-Za-z_]+)+|[A-Z]{3,4}"
)


class DatePatternError(ValueError):
    """A pattern is malformed, or cannot be used for a value."""


@dataclass(frozen=True)
class Part:
    """A part of a pattern. `read` returns the position behind its text, or -1 if the text does not fit."""

    def write(self, time: LocalTime) -> str:
        """Return the text for a time."""
        raise NotImplementedError

    def read(self, text: str, at: int, fields: Fields) -> int:
        """Store the fields that are read from a text."""
        raise NotImplementedError


@dataclass(frozen=True)
class Constant(Part):
    """Text that stands for itself."""

    text: str

    def write(self, time: LocalTime) -> str:
        """Return the text."""
        return self.text

    def read(self, text: str, at: int, fields: Fields) -> int:
        """Skip the text."""
        return at + len(self.text) if text.startswith(self.text, at) else -1


@dataclass(frozen=True)
class Number(Part):
    """A number of `least` to `most` digits; `reserved` digits behind it belong to the numbers that follow."""

    field: str
    least: int
    most: int
    sign: str = "never"
    reserved: int = 0

    @property
    def fixed(self) -> bool:
        """Return whether the number has a fixed width."""
        return self.least == self.most

    def write(self, time: LocalTime) -> str:
        """Return the number, padded with zeros."""
        number = _VALUES[self.field](time)
        shown = str(abs(number)).rjust(self.least, "0")
        if len(shown) > self.most:
            raise DatePatternError(f"The {self.field} {number} has more than {self.most} digits")
        if number < 0:
            return f"-{shown}"
        return f"+{shown}" if self.sign == "if wide" and len(shown) > self.least else shown

    def read(self, text: str, at: int, fields: Fields) -> int:
        """Read digits."""
        start, sign = at, text[at : at + 1]
        if sign in ("-", "+") and sign:
            if self.sign == "never" or (self.sign == "minus" and sign == "+"):
                return -1
            start += 1
        end = start
        while end < len(text) and "0" <= text[end] <= "9" and end - start < self.most + self.reserved:
            end += 1
        if self.reserved:
            end = start + min(max(self.least, end - start - self.reserved), end - start)
        width = end - start
        if width < self.least or width > self.most:
            return -1
        if self.sign == "if wide" and sign != "-" and (sign == "+") != (width > self.least):
            return -1
        number = int(text[start:end])
        return _store(fields, self.field, -number if sign == "-" else number, end)


@dataclass(frozen=True)
class ShortYear(Part):
    """Two digits for a year from 2000 to 2099."""

    field: str = "year of era"

    def write(self, time: LocalTime) -> str:
        """Return the last two digits of the year."""
        return f"{abs(time.year) % 100:02d}"

    def read(self, text: str, at: int, fields: Fields) -> int:
        """Read two digits."""
        digits = text[at : at + 2]
        if len(digits) < 2 or not (digits.isascii() and digits.isdigit()):
            return -1
        return _store(fields, self.field, 2000 + int(digits), at + 2)


@dataclass(frozen=True)
class Fraction(Part):
    """Digits of the fraction of a second; with `point`, a point before them."""

    least: int
    most: int
    point: bool = False

    def write(self, time: LocalTime) -> str:
        """Return the first digits of the fraction."""
        digits = f"{time.micro:06d}000"[: self.most]
        return digits

    def read(self, text: str, at: int, fields: Fields) -> int:
        """Read digits; fewer than nine are the first ones."""
        if self.point:
            if not text.startswith(".", at):
                return at if not self.least else -1
            at += 1
        end = at
        while end < len(text) and "0" <= text[end] <= "9" and end - at < self.most:
            end += 1
        if end - at < self.least:
            return -1
        return _store(fields, "nano", int(text[at:end].ljust(9, "0")), end)


@dataclass(frozen=True)
class Word(Part):
    """A name: of a month, a weekday, a half of a day, an era or a quarter."""

    field: str
    names: tuple[str, ...]
    first: int = 1

    def write(self, time: LocalTime) -> str:
        """Return the name."""
        return self.names[_VALUES[self.field](time) - self.first]

    def read(self, text: str, at: int, fields: Fields) -> int:
        """Read the longest name that fits."""
        found = [name for name in self.names if text.startswith(name, at)]
        if not found:
            return -1
        name = max(found, key=len)
        return _store(fields, self.field, self.names.index(name) + self.first, at + len(name))


@dataclass(frozen=True)
class Zone(Part):
    """A time zone: it can be read, and is ignored; a local time has none to write."""

    def write(self, time: LocalTime) -> str:
        """Refuse."""
        raise DatePatternError("A local time has no time zone")

    def read(self, text: str, at: int, fields: Fields) -> int:
        """Skip the zone."""
        found = _ZONE.match(text, at)
        return found.end() if found is not None else -1


@dataclass(frozen=True)
class Optional(Part):
    """Parts that may be missing in a text."""

    parts: tuple[Part, ...]

    def write(self, time: LocalTime) -> str:
        """Write all parts."""
        return "".join(part.write(time) for part in self.parts)

    def read(self, text: str, at: int, fields: Fields) -> int:
        """Read all parts, or none."""
        own = dict(fields)
        end = read_parts(self.parts, text, at, own)
        if end < 0:
            return at
        fields.update(own)
        return end


def read_parts(parts: Sequence[Part], text: str, at: int, fields: Fields) -> int:
    """Read parts one after the other; return the position behind them, or -1."""
    for part in parts:
        at = part.read(text, at, fields)
        if at < 0:
            return -1
    return at


def _store(fields: Fields, name: str, value: int, end: int) -> int:
    return end if fields.setdefault(name, value) == value else -1


_DAY_PERIODS = ("midnight", "noon", "in the morning", "in the afternoon", "in the evening", "at night")


def _day_period(time: LocalTime) -> int:
    """Return the index of the part of the day; noon and midnight are exact to the minute."""
    if time.minute == 0 and time.hour in (0, 12):
        return time.hour // 12
    if time.hour < 6 or time.hour >= 21:
        return 5
    return 2 + (time.hour >= 12) + (time.hour >= 18)


_VALUES: dict[str, Callable[[LocalTime], int]] = {
    "year": lambda time: time.year,
    "year of era": lambda time: time.year if time.year > 0 else 1 - time.year,
    "era": lambda time: int(time.year > 0),
    "month": lambda time: time.month,
    "day": lambda time: time.day,
    "day of year": lambda time: time.day_of_year,
    "weekday": lambda time: time.weekday,
    "local weekday": lambda time: time.weekday % 7 + 1,
    "quarter": lambda time: (time.month + 2) // 3,
    "week year": lambda time: week_of_year(time.days, 7, 1)[0],
    "week": lambda time: week_of_year(time.days, 7, 1)[1],
    "week of month": lambda time: (time.day + (time.weekday - time.day + 1) % 7 - 1) // 7 + 1,
    "aligned weekday": lambda time: (time.day - 1) % 7 + 1,
    "half": lambda time: time.hour // 12,
    "day period": _day_period,
    "clock hour of half": lambda time: time.hour % 12 or 12,
    "hour of half": lambda time: time.hour % 12,
    "clock hour": lambda time: time.hour or 24,
    "hour": lambda time: time.hour,
    "minute": lambda time: time.minute,
    "second": lambda time: time.second,
    "nano": lambda time: time.micro * 1000,
    "milli of day": lambda time: (time.hour * 3600 + time.minute * 60 + time.second) * 1000 + time.micro // 1000,
    "nano of day": lambda time: ((time.hour * 3600 + time.minute * 60 + time.second) * 1_000_000 + time.micro) * 1000,
}
_SMALL = {
    "d": "day",
    "h": "clock hour of half",
    "K": "hour of half",
    "k": "clock hour",
    "H": "hour",
    "m": "minute",
    "s": "second",
}
_WIDE = {"A": "milli of day", "n": "nano", "N": "nano of day"}
_YEARS = {"u": "year", "y": "year of era", "Y": "week year"}


@lru_cache(maxsize=256)
def parse_pattern(pattern: str) -> tuple[Part, ...]:
    """Return the parts of a pattern; raise DatePatternError if it is malformed.

    >>> [type(part).__name__ for part in parse_pattern("yyyy-MM[ HH]")]
    ['Number', 'Constant', 'Number', 'Optional']
    """
    stack: list[list[Part]] = [[]]
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character.isascii() and character.isalpha():
            end = at
            while end < len(pattern) and pattern[end] == character:
                end += 1
            stack[-1].append(_part(character, end - at, pattern))
            at = end
        elif character == "'":
            text, at = _quoted(pattern, at)
            stack[-1].append(Constant(text))
        elif character == "[":
            stack.append([])
            at += 1
        elif character == "]":
            if len(stack) == 1:
                raise DatePatternError(f"A ']' without '[' in the pattern {pattern!r}")
            inner = _reserving(stack.pop())
            stack[-1].append(Optional(inner))
            at += 1
        elif character in "{}#":
            raise DatePatternError(f"The pattern {pattern!r} contains the reserved character {character!r}")
        else:
            stack[-1].append(Constant(character))
            at += 1
    while len(stack) > 1:
        inner = _reserving(stack.pop())
        stack[-1].append(Optional(inner))
    return _reserving(stack[0])


def _quoted(pattern: str, at: int) -> tuple[str, int]:
    end = at + 1
    while end < len(pattern) and (pattern[end] != "'" or pattern.startswith("''", end)):
        end += 2 if pattern.startswith("''", end) else 1
    if end >= len(pattern):
        raise DatePatternError(f"Unclosed quote in the pattern {pattern!r}")
    text = pattern[at + 1 : end].replace("''", "'")
    return text or "'", end + 1


def _part(letter: str, count: int, pattern: str) -> Part:
    if letter in _YEARS:
        field = _YEARS[letter]
        if count == 2:
            return ShortYear(field)
        return Number(field, count, _MOST, "minus" if count < 4 else "if wide")
    if letter in _SMALL and count <= 2:
        return Number(_SMALL[letter], 1, _MOST, "minus") if count == 1 else Number(_SMALL[letter], 2, 2)
    if letter in "ML" and count <= 5:
        return _named("month", MONTHS, count)
    if letter in "Qq" and count <= 5:
        names = ("Q1", "Q2", "Q3", "Q4") if count == 3 else tuple(f"{n} quarter" for n in ("1st", "2nd", "3rd", "4th"))
        return _number("quarter", count) if count <= 2 else Word("quarter", names)
    if letter == "E" and count <= 5:
        return _named("weekday", WEEKDAYS, max(count, 3))
    if letter in "ec" and count <= 5 and (letter, count) != ("c", 2):
        return _number("local weekday", count) if count <= 2 else _named("weekday", WEEKDAYS, count)
    if letter in _WIDE and count <= _MOST:
        return Number(_WIDE[letter], count, _MOST)
    if letter == "S" and count <= 9:
        return Fraction(count, count)
    if letter == "D" and count <= 3:
        return Number("day of year", count, 3 if count > 1 else _MOST, "never" if count > 1 else "minus")
    if letter == "w" and count <= 2:
        return _number("week", count)
    if (letter == "W" and count == 1) or (letter == "F" and count == 1):
        return Number("week of month" if letter == "W" else "aligned weekday", 1, _MOST, "minus")
    if letter in "aB" and count in (1, 4) and (letter, count) != ("a", 4):
        return Word("half", HALVES, 0) if letter == "a" else Word("day period", _DAY_PERIODS, 0)
    if letter == "G" and count <= 5:
        return Word("era", {4: ("Before Christ", "Anno Domini"), 5: ("B", "A")}.get(count, ("BC", "AD")), 0)
    if letter in "VzOXxZv" and count <= 5:
        return Zone()
    raise DatePatternError(f"The pattern {pattern!r} has an unknown or too long field {letter * count!r}")


def _number(field: str, count: int) -> Number:
    return Number(field, 1, _MOST, "minus") if count == 1 else Number(field, count, count)


def _named(field: str, names: tuple[str, ...], count: int) -> Part:
    if count <= 2:
        return _number(field, count)
    return Word(field, tuple(name[:3] if count == 3 else name[:1] if count == 5 else name for name in names))


def _reserving(parts: list[Part]) -> tuple[Part, ...]:
    """Let a number of variable width leave the digits of the fixed numbers right behind it."""
    found: list[Part] = []
    active = -1
    for part in parts:
        width = part.least if isinstance(part, (Number, Fraction)) and part.least == part.most else 0
        if isinstance(part, ShortYear):
            width = 2
        if width and active >= 0:
            leader = found[active]
            assert isinstance(leader, Number)
            found[active] = Number(leader.field, leader.least, leader.most, leader.sign, leader.reserved + width)
        elif not width:
            active = len(found) if isinstance(part, Number) else -1
        found.append(part)
    return tuple(found)
