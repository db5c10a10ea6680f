"""JSON as Flink reads and writes it: floating-point numbers are decimals, keys are written in order.

A document is None, bool, int, Decimal, str, list or dict.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from functools import lru_cache
from typing import Any

_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_SPECIAL = re.compile('["\\\\\x00-\x1f]')
_NUMBER_END = re.compile(r"[\s,\]}:]")
_WHITESPACE = " \t\n\r"


class JsonError(ValueError):
    """A string is not JSON."""


def _refuse(name: str) -> Any:
    raise JsonError(f"{name} is not a JSON value")


_DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=_refuse)


def parse(text: str) -> Any:
    """Return the first JSON value of a string; what follows it does not count. Raise JsonError if there is none.

    >>> parse('{"a": [1, 2.50]} rest')
    {'a': [1, Decimal('2.50')]}
    """
    stripped = text.lstrip(_WHITESPACE)
    try:
        value, end = _DECODER.raw_decode(stripped)
    except JsonError:
        raise
    except (ValueError, RecursionError) as error:
        raise JsonError(f"not JSON: {error}") from None
    if not isinstance(value, (dict, list)) and end < len(stripped) and not _NUMBER_END.match(stripped, end):
        if not isinstance(value, str):
            raise JsonError("not JSON: a number or word must be followed by a separator")
    return value


@lru_cache(maxsize=16)
def cached(text: str) -> Any:
    """Return the parsed form of a string, of which several calls in a row often need the same."""
    return parse(text)


def _escaped(match: re.Match[str]) -> str:
    return _SHORT.get(match[0]) or f"\\u{ord(match[0]):04X}"


def quote(text: str) -> str:
    """Return a string as a JSON string."""
    return f'"{_SPECIAL.sub(_escaped, text)}"'


def write(value: Any, *, ordered: bool = True) -> str:
    """Return a value as JSON, the keys of objects in order.

    >>> write({"b": None, "a": [True, Decimal("1.50"), "x"]})
    '{"a":[true,1.50,"x"],"b":null}'
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return quote(value)
        case dict():
            keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass")) if ordered else value
            return "{" + ",".join(f"{quote(key)}:{write(value[key], ordered=ordered)}" for key in keys) + "}"
        case list() | tuple():
            return "[" + ",".join(write(each, ordered=ordered) for each in value) + "]"
        case _:
            return str(value)
