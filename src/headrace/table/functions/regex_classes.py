"""The named character classes of Java's regular expressions, as the inside of a Python character class."""

from __future__ import annotations

import sys
import unicodedata
from functools import cache

ESCAPES = {
    "d": "0-9",
    "w": "a-zA-Z_0-9",
    "s": " \\t\\n\\x0b\\f\\r",
    "h": " \\t\\xa0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000",
    "v": "\\n\\x0b\\f\\r\\x85\\u2028\\u2029",
}
"""Classes of one letter; the upper-case letter is the complement."""

_POSIX = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": "\\x00-\\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": "!-/:-@\\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": " \\t",
    "Cntrl": "\\x00-\\x1f\\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": " \\t\\n\\x0b\\f\\r",
}
_METHODS = {
    "Alphabetic": str.isalpha,
    "Letter": str.isalpha,
    "Lowercase": str.islower,
    "LowerCase": str.islower,
    "Uppercase": str.isupper,
    "UpperCase": str.isupper,
    "Digit": str.isdecimal,
    "White_Space": str.isspace,
    "Whitespace": str.isspace,
    "LetterOrDigit": lambda c: c.isalpha() or c.isdecimal(),
    "Punctuation": lambda c: unicodedata.category(c).startswith("P"),
    "Control": lambda c: unicodedata.category(c) == "Cc",
}
_SCRIPTS = ("LATIN", "GREEK", "CYRILLIC", "HEBREW", "ARABIC", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "ARMENIAN")
_CATEGORIES = frozenset(
    "L LU LL LT LM LO M MN MC ME N ND NL NO Z ZS ZL ZP C CC CF CO CS CN P PD PS PE PC PO PI PF S SM SC SK SO".split()
)


def property_class(name: str) -> str | None:
    r"""Return the inside of a class for the name in `\p{name}`, or None if there is no such property.

    >>> property_class("Alpha"), property_class("Nonsense")
    ('a-zA-Z', None)
    """
    if name in _POSIX:
        return _POSIX[name]
    key = name.partition("=")[2] or name
    for prefix in ("Is", "java"):
        if key.startswith(prefix):
            key = key[len(prefix) :]
    if key in _METHODS:
        return _by_method(key)
    if (key.upper() in _CATEGORIES and key != name.upper()) or name in ("L", "M", "N", "Z", "C", "P", "S"):
        return _by_category(key.upper())
    if key.upper() in ("HAN", "INHAN"):
        return (
            "\\u2e80-\\u2fd5\\u3005\\u3007\\u3021-\\u3029\\u3038-\\u303b\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff"
        )
    return _by_script(key.upper()) if key.upper() in _SCRIPTS else None


@cache
def _by_method(name: str) -> str:
    return _ranges(_METHODS[name])


@cache
def _by_category(name: str) -> str:
    wanted = name.capitalize()
    return _ranges(lambda c: unicodedata.category(c).startswith(wanted))


@cache
def _by_script(name: str) -> str:
    return _ranges(lambda c: unicodedata.name(c, "").startswith(name + " "))


def _ranges(test: object) -> str:
    parts, start, previous = [], None, None
    for code in range(sys.maxunicode + 1):
        if test(chr(code)):  # type: ignore[operator]
            start = code if start is None else start
            previous = code
        elif start is not None:
            parts.append(_range(start, previous))
            start = None
    if start is not None:
        parts.append(_range(start, previous))
    return "".join(parts)


def _range(first: int, last: int | None) -> str:
    assert last is not None
    return f"\\U{first:08x}-\\U{last:08x}" if last > first else f"\\U{first:08x}"
