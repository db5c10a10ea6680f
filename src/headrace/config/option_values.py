"""Texts of option values: spans of time, amounts of memory, truth values, numbers, lists, maps.

Decides what a text in a configuration means, as Flink reads it. Never knows an option: ``config_options`` says which
of these functions reads which option.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headrace.errors import ConfigurationError
from headrace.types.time import Duration

__all__ = [
    "duration_text",
    "parse_boolean",
    "parse_duration",
    "parse_float",
    "parse_integer",
    "parse_list",
    "parse_map",
    "parse_memory",
    "value_text",
]

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
            f"A text is no {what}", seen=repr(text), expected=f"a whole number and one of {', '.join(units)}"
        )
    return int(found[1]) * units[unit]


def parse_duration(text: str) -> Duration:
    """Return the span of a text such as ``10 s``, ``5min``, ``250`` (milliseconds) or ``PT1M``.

    >>> parse_duration("5 min") == Duration.of_minutes(5), parse_duration("250").to_millis()
    (True, 250)
    """
    iso = _ISO.fullmatch(text.strip())
    if iso is not None and any(iso.groups()):
        days, hours, minutes, seconds = (int(part or 0) for part in iso.group(1, 2, 3, 4))
        whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        return Duration.of_nanos(whole * _SECOND + int((iso[5] or "").ljust(9, "0")))
    return Duration.of_nanos(_amount(text, _NANOS, "ms", "span of time"))


def duration_text(span: Duration) -> str:
    """Return the text of a span in the longest unit that shows it whole.

    >>> duration_text(Duration.of_seconds(90)), duration_text(Duration.of_days(1))
    ('90 s', '1 d')
    """
    nanos = span.to_nanos()
    if nanos == 0:
        return "0 ms"
    unit, names = next((unit, names) for unit, names in _TIME_UNITS.items() if nanos % unit == 0)
    return f"{nanos // unit} {names[0]}"


def parse_memory(text: str) -> int:
    """Return the bytes of a text such as ``64 mb``, ``1g`` or ``512`` (bytes); a kilobyte has 1024.

    >>> parse_memory("64 mb"), parse_memory("512")
    (67108864, 512)
    """
    return _amount(text, _BYTES, "b", "amount of memory")


def parse_boolean(text: str) -> bool:
    """Return the truth value of ``true`` or ``false`` in any case.

    >>> parse_boolean("TRUE")
    True
    """
    known = {"true": True, "false": False}.get(text.strip().lower())
    if known is None:
        raise ConfigurationError("A text is no truth value", seen=repr(text), expected="true or false")
    return known


def parse_integer(text: str) -> int:
    """Return the number of a text of digits.

    >>> parse_integer("-5")
    -5
    """
    try:
        return int(text.strip())
    except ValueError:
        raise ConfigurationError("A text is no whole number", seen=repr(text)) from None


def parse_float(text: str) -> float:
    """Return the number of a text.

    >>> parse_float("1.5")
    1.5
    """
    try:
        return float(text.strip())
    except ValueError:
        raise ConfigurationError("A text is no number", seen=repr(text)) from None


def _scalar(text: str) -> Any:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1].replace(text[0] * 2, text[0]) if text[0] == "'" else text[1:-1]
    return int(text) if re.fullmatch(r"[-+]?\d+", text) else text


def _split(text: str, separator: str) -> list[str]:
    # Separators inside quotes or brackets do not count.
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
    """Return the elements of ``a;b``, of ``[a, b]``, or of lines that each start with a dash.

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
    """Return the entries of ``a:1,b:2`` or ``{a: 1, b: 2}``.

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
            raise ConfigurationError("A text is no map", seen=repr(text), expected="key:value,key:value")
        entries[str(_scalar(key))] = str(_scalar(value))
    return entries


def value_text(value: Any) -> str:
    """Return the text of an option value, which the functions above read back.

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
