"""Options of connectors and formats: how their values are read, and errors that name the nearest known option."""

from __future__ import annotations

import datetime
import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headrace.errors import HeadraceError
from headrace.table.errors import SqlValidationError

Parse = Callable[[str], Any]


@dataclass(frozen=True)
class Option:
    """An option with its default. A `#` in the key stands for any name: `fields.#.kind`."""

    key: str
    parse: Parse = str
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()

    @property
    def pattern(self) -> re.Pattern[str]:
        """The keys that this option means."""
        return re.compile(".+".join(re.escape(part) for part in self.key.split("#")))


class Options:
    """The checked values of a table's options.

    >>> options = Options({"path": "/data", "number": "3"}, (Option("path", required=True), Option("number", integer)))
    >>> options["path"], options["number"]
    ('/data', 3)
    """

    def __init__(self, given: Mapping[str, str], known: Iterable[Option], owner: str = "the table") -> None:
        """Check all options; raise an error for the first that is unknown, missing or has a wrong value."""
        self._given, self._known, self._owner = given, {option.key: option for option in known}, owner
        for key in given:
            if self._find(key) is None:
                raise unknown_option(key, self._known, owner)
        for option in self._known.values():
            if option.required and option.key not in given:
                raise SqlValidationError(
                    "One or more required options are missing", expected=f"the option '{option.key}' in {owner}"
                )
        self._values = {key: self._parsed(key, text) for key, text in given.items()}

    def _find(self, key: str) -> Option | None:
        plain = self._known.get(key)
        if plain is not None:
            return plain
        matching = (o for o in self._known.values() if "#" in o.key and o.pattern.fullmatch(key))
        return next(matching, None)

    def _parsed(self, key: str, text: str) -> Any:
        option = self._find(key)
        assert option is not None
        try:
            value = option.parse(text)
        except (ValueError, ArithmeticError, HeadraceError) as error:
            raise SqlValidationError(
                f"Invalid value for option '{key}' in {self._owner}",
                seen=text,
                expected=_meaning(option) or str(error) or None,
            ) from None
        if option.choices and value not in option.choices:
            near = difflib.get_close_matches(str(value), option.choices, 1)
            raise SqlValidationError(
                f"Invalid value for option '{key}' in {self._owner}",
                seen=text,
                expected=" or ".join(repr(choice) for choice in option.choices),
                remedy=f"did you mean '{near[0]}'?" if near else None,
            )
        return value

    def __getitem__(self, key: str) -> Any:
        """Return the value of an option, or its default."""
        if key in self._values:
            return self._values[key]
        option = self._find(key)
        assert option is not None, key
        return option.default

    def __contains__(self, key: str) -> bool:
        """Return whether the option is set."""
        return key in self._values


def unknown_option(key: str, known: Iterable[str], owner: str) -> SqlValidationError:
    """Return the error for an option that does not exist."""
    names = sorted(known)
    near = difflib.get_close_matches(key, names, 1)
    return SqlValidationError(
        f"Unsupported option '{key}' in {owner}",
        expected=f"one of {', '.join(names)}",
        remedy=f"did you mean '{near[0]}'?" if near else None,
    )


def boolean(text: str) -> bool:
    """Read true or false.

    >>> boolean("TRUE"), boolean("false")
    (True, False)
    """
    known = {"true": True, "false": False}
    if text.strip().lower() not in known:
        raise ValueError("true or false")
    return known[text.strip().lower()]


def integer(text: str) -> int:
    """Read an integer."""
    return int(text.strip())


def decimal(text: str) -> float:
    """Read a floating-point number."""
    return float(text.strip())


_UNITS = {
    **dict.fromkeys(("ns", "nano", "nanos", "nanosecond", "nanoseconds"), 1e-6),
    **dict.fromkeys(("us", "µs", "micro", "micros", "microsecond", "microseconds"), 1e-3),
    **dict.fromkeys(("ms", "milli", "millis", "millisecond", "milliseconds", ""), 1),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1000),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000),
}


def duration(text: str) -> int:
    """Read a duration such as `10 s` or `PT10S`; return milliseconds.

    >>> duration("10 s"), duration("1min"), duration("5"), duration("PT1H30M")
    (10000, 60000, 5, 5400000)
    """
    text = text.strip()
    iso = re.fullmatch(r"(?i)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", text)
    if iso and any(iso.groups()):
        days, hours, minutes, seconds = (float(part or 0) for part in iso.groups())
        return int(datetime.timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds).total_seconds() * 1000)
    found = re.fullmatch(r"(\d+)\s*([a-zµ]*)", text.lower())
    if not found or found.group(2) not in _UNITS:
        raise ValueError("use a number and a unit, such as '10 s' or '1 min'")
    return int(int(found.group(1)) * _UNITS[found.group(2)])


_SIZES = {"": 1, "b": 1, "bytes": 1}
_SIZES |= {unit + end: 1024**power for power, unit in enumerate("kmgt", 1) for end in ("", "b", "ib", "bytes")}


def memory(text: str) -> int:
    """Read a size such as `128MB`; return bytes.

    >>> memory("1 kb"), memory("128MB")
    (1024, 134217728)
    """
    found = re.fullmatch(r"(\d+)\s*([a-z]*)", text.strip().lower())
    if not found or found.group(2) not in _SIZES:
        raise ValueError("use a number and a unit, such as '128 mb'")
    return int(found.group(1)) * _SIZES[found.group(2)]


_WORDS: dict[Any, str] = {
    boolean: "true or false",
    integer: "an integer",
    decimal: "a number",
    duration: "a duration such as '10 s'",
    memory: "a size such as '128 mb'",
}


def _meaning(option: Option) -> str | None:
    return " or ".join(repr(choice) for choice in option.choices) or _WORDS.get(option.parse)
