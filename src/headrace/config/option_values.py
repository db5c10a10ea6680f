"""Parse and format option values: durations, memory sizes, booleans, numbers, lists, maps.

Decides what a string in a configuration means, as in Flink. Knows no option: ``config_options`` chooses the function
that parses an option.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headrace.errors import ConfigurationError
from headrace.types.time import Duration

_MILLI = 1_000_000
_SECOND = 1000 * _MILLI

# Each unit with the nanoseconds in it, from the longest to the shortest; the first name is the one to print.
_TIME_UNITS: dict[int, tuple[str, ...]] = {
    86_400 * _SECOND: ("d", "day", "days"),
    3_600 * _SECOND: ("h", "hour", "hours"),
    60 * _SECOND: ("min", "m", "minute", "minutes"),
    _SECOND: ("s", "sec", "secs", "second", "seconds"),
    _MILLI: ("ms", "milli", "millis", "millisecond", "milliseconds"),
    1000: ("µs", "micro", "micros", "microsecond", "microseconds"),
    1: ("ns", "nano", "nanos", "nanosecond", "nanoseconds"),
}
_NANOS = {name: nanos for nanos, names in _TIME_UNITS.items() for name in names}

_MEMORY_UNITS: dict[int, tuple[str, ...]] = {
    1: ("b", "bytes"),
    1 << 10: ("k", "kb", "kibibytes"),
    1 << 20: ("m", "mb", "mebibytes"),
    1 << 30: ("g", "gb", "gibibytes"),
    1 << 40: ("t", "tb", "tebibytes"),
}
_BYTES = {name: size for size, names in _MEMORY_UNITS.items() for name in names}

_AMOUNT = re.compile(r"([0-9]+)\s*(.*)", re.DOTALL)
_ISO = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,9}))?S)?)?", re.IGNORECASE)


def _amount(text: str, units: dict[str, int], default: str, what: str) -> int:
    found = _AMOUNT.fullmatch(text.strip())
    unit = (found[2].strip().lower() or default) if found else None
    if found is None or unit not in units:
        raise ConfigurationError(
            f"Expected a {what}", seen=repr(text), expected=f"an integer and one of {', '.join(units)}"
        )
    return int(found[1]) * units[unit]


def parse_duration(text: str) -> Duration:
    """Parse a duration such as ``10 s``, ``5min``, ``250`` (milliseconds) or ``PT1M``.

    >>> parse_duration("5 min") == Duration.of_minutes(5), parse_duration("250").to_millis()
    (True, 250)
    """
    iso = _ISO.fullmatch(text.strip())
    if iso is not None and any(iso.groups()):
        days, hours, minutes, seconds = (int(part or 0) for part in iso.group(1, 2, 3, 4))
        whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        return Duration.of_nanos(whole * _SECOND + int((iso[5] or "").ljust(9, "0")))
    return Duration.of_nanos(_amount(text, _NANOS, "ms", "duration"))


def duration_text(span: Duration) -> str:
    """Format a duration in the longest unit that represents it exactly.

    >>> duration_text(Duration.of_seconds(90)), duration_text(Duration.of_days(1))
    ('90 s', '1 d')
    """
    nanos = span.to_nanos()
    if nanos == 0:
        return "0 ms"
    unit, names = next((unit, names) for unit, names in _TIME_UNITS.items() if nanos % unit == 0)
    return f"{nanos // unit} {names[0]}"


def parse_memory(text: str) -> int:
    """Parse a memory size such as ``64 mb``, ``1g`` or ``512`` (bytes); a kilobyte has 1024 bytes.

    >>> parse_memory("64 mb"), parse_memory("512")
    (67108864, 512)
    """
    return _amount(text, _BYTES, "b", "memory size")


def parse_boolean(text: str) -> bool:
    """Parse ``true`` or ``false`` in any case.

    >>> parse_boolean("TRUE")
    True
    """
    known = {"true": True, "false": False}.get(text.strip().lower())
    if known is None:
        raise ConfigurationError("Expected a boolean", seen=repr(text), expected="true or false")
    return known


def parse_integer(text: str) -> int:
    """Parse an integer.

    >>> parse_integer("-5")
    -5
    """
    try:
        return int(text.strip())
    except ValueError:
        raise ConfigurationError("Expected an integer", seen=repr(text)) from None


def parse_float(text: str) -> float:
    """Parse a number.

    >>> parse_float("1.5")
    1.5
    """
    try:
        return float(text.strip())
    except ValueError:
        raise ConfigurationError("Expected a number", seen=repr(text)) from None


def _scalar(text: str) -> Any:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1].replace(text[0] * 2, text[0]) if text[0] == "'" else text[1:-1]
    return int(text) if re.fullmatch(r"[-+]?\d+", text) else text


def _split(text: str, separator: str) -> list[str]:
    # Ignore separators inside quotes or brackets.
    parts, depth, quote, start = [], 0, "", 0
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == separator and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]


def parse_list(text: str) -> list[Any]:
    """Parse a list: ``a;b``, ``[a, b]``, or lines that each start with a dash.

    >>> parse_list("a;b"), parse_list("[a, 'b c', 3]")
    (['a', 'b'], ['a', 'b c', 3])
    """
    text = text.strip()
    if not text:
        return []
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(part) for part in _split(text[1:-1], ",") if part.strip()]
    lines = text.splitlines()
    if all(line.lstrip().startswith("- ") for line in lines):
        return [_scalar(line.lstrip()[2:]) for line in lines]
    return text.split(";")


def parse_map(text: str) -> dict[str, str]:
    """Parse a map: ``a:1,b:2`` or ``{a: 1, b: 2}``.

    >>> parse_map("a:1,b:x")
    {'a': '1', 'b': 'x'}
    """
    text = text.strip()
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1]
    entries = {}
    for part in _split(text, ","):
        if not part.strip():
            continue
        key, colon, value = part.partition(":")
        if not colon:
            raise ConfigurationError("Expected a map", seen=repr(text), expected="key:value,key:value")
        entries[str(_scalar(key))] = str(_scalar(value))
    return entries


def value_text(value: Any) -> str:
    """Format an option value so that the functions above can parse it.

    >>> value_text(True), value_text(["a", "b"]), value_text({"a": 1}), value_text(Duration.of_seconds(5))
    ('true', 'a;b', 'a:1', '5 s')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Duration):
        return duration_text(value)
    if isinstance(value, (list, tuple)):
        texts = [value_text(item) for item in value]
        return "[" + ", ".join(map(repr, texts)) + "]" if any(";" in text for text in texts) else ";".join(texts)
    if isinstance(value, Mapping):
        return ",".join(f"{key}:{value_text(item)}" for key, item in value.items())
    if isinstance(value, (bytes, bytearray)):
        import base64

        return "!!binary |-\n  " + base64.b64encode(value).decode()
    return str(value)
