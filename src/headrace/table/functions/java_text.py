"""Strings as Java sees them: some functions count UTF-16 units, so that a character beyond the BMP counts as two."""

from __future__ import annotations

import re

_UNIT = 2
_LONE = re.compile("[\ud800-\udfff]")


def units(text: str) -> bytes:
    r"""Return the UTF-16 units of a string, two bytes each.

    >>> len(units("a\U0001f600")) // 2
    3
    """
    return text.encode("utf-16-le", "surrogatepass")


def from_units(data: bytes) -> str:
    r"""Return the string of UTF-16 units. Half a character becomes `?`, as Java encodes it.

    >>> from_units(units("a\U0001f600")[:4])
    'a?'
    """
    return _LONE.sub("?", data.decode("utf-16-le", "surrogatepass"))


def is_bmp(text: str) -> bool:
    r"""Return whether no character takes two UTF-16 units.

    >>> is_bmp("ä"), is_bmp("\U0001f600")
    (True, False)
    """
    return text.isascii() or not text or max(text) <= "\uffff"


def length(text: str) -> int:
    """Return the number of UTF-16 units."""
    return len(text) if is_bmp(text) else len(units(text)) // _UNIT


def cut(text: str, start: int, end: int | None = None) -> str:
    """Return the part of a string between two positions, counted in UTF-16 units."""
    if is_bmp(text):
        return text[start:end]
    return from_units(units(text)[start * _UNIT : None if end is None else end * _UNIT])


def split_units(text: str) -> tuple[str, ...]:
    """Return each UTF-16 unit as a string of its own."""
    if is_bmp(text):
        return tuple(text)
    data = units(text)
    return tuple(from_units(data[at : at + _UNIT]) for at in range(0, len(data), _UNIT))
