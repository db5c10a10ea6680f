"""LIKE and SIMILAR TO: patterns of SQL, as regular expressions or as comparisons of the start, the end or the middle."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from headrace.table.errors import SqlRuntimeError
from headrace.table.functions.column_forms import Columns, by_distinct, constants
from headrace.table.functions.definition import CallSite, ScalarFunction
from headrace.table.functions.regex_translation import PatternError, compiled
from headrace.table.functions.signatures import TYPED_STRING, nullable_if_any, signature
from headrace.types.logical_types import BooleanType

_SIMILAR_CLASSES = {
    "[:ALPHA:]": "\\p{Alpha}",
    "[:alpha:]": "\\p{Alpha}",
    "[:UPPER:]": "\\p{Upper}",
    "[:upper:]": "\\p{Upper}",
    "[:LOWER:]": "\\p{Lower}",
    "[:lower:]": "\\p{Lower}",
    "[:DIGIT:]": "\\d",
    "[:digit:]": "\\d",
    "[:SPACE:]": " ",
    "[:space:]": " ",
    "[:WHITESPACE:]": "\\s",
    "[:whitespace:]": "\\s",
    "[:ALNUM:]": "\\p{Alnum}",
    "[:alnum:]": "\\p{Alnum}",
}


_CHARACTER = "[^\\n\\r\\x85\\u2028\\u2029]"
"""What `_` stands for: every character except the ends of lines."""


def _escape_of(escape: str | None) -> str | None:
    if not escape:
        return None
    if len(escape) > 1:
        raise SqlRuntimeError(f"Invalid escape character {escape!r}", remedy="give a single character")
    return escape


def _parts(pattern: str, escape: str | None) -> list[str | None]:
    """Return the pattern as text between wildcards; None is a `%`, and the NUL character stands for `_`."""
    parts: list[str | None] = [""]
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == escape:
            at += 1
            if at == len(pattern) or pattern[at] not in ("%", "_", escape):
                raise SqlRuntimeError(f"Invalid escape sequence in the LIKE pattern {pattern!r} at {at - 1}")
            parts[-1] = (parts[-1] or "") + pattern[at]
        elif character == "%":
            parts += [None, ""]
        elif character == "_":
            parts += ["\0", ""]
        else:
            parts[-1] = (parts[-1] or "") + character
        at += 1
    return [each for each in parts if each != ""]


@lru_cache(maxsize=256)
def _matcher(pattern: str, escape: str | None) -> Callable[[str], bool]:
    """Return a test for strings; the forms that occur most need no regular expression."""
    parts = _parts(pattern, _escape_of(escape))
    kinds = "".join("%" if each is None else "_" if each == "\0" else "x" for each in parts)
    text = next((each for each in parts if each is not None and each != "\0"), "")
    match kinds:
        case "" | "x":
            return lambda value: value == text
        case "%":
            return lambda value: True
        case "x%":
            return lambda value: value.startswith(text)
        case "%x":
            return lambda value: value.endswith(text)
        case "%x%":
            return lambda value: text in value
    regex = re.compile("".join(_regex_part(each) for each in parts))
    return lambda value: regex.fullmatch(value) is not None


def _regex_part(part: str | None) -> str:
    if part is None:
        return "(?s:.*)"
    return _CHARACTER if part == "\0" else re.escape(part)


def _like(value: str, pattern: str, escape: str | None = None) -> bool:
    return _matcher(pattern, escape)(value)


def _like_rows(site: CallSite) -> Callable[..., bool]:
    known = constants(site, *range(1, len(site.arguments)))
    if known is None:
        return _like
    test = _matcher(*(known if len(known) > 1 else (known[0], None)))
    return lambda value, *_: test(value)


_SIMPLE = {"": "equal", "x": "equal", "x%": "starts_with", "%x": "ends_with", "%x%": "match_substring"}


def _like_columns(site: CallSite) -> Columns | None:
    known = constants(site, *range(1, len(site.arguments)))
    if known is None:
        return None
    parts = _parts(known[0], _escape_of(known[1] if len(known) > 1 else None))
    kinds = "".join("%" if each is None else "_" if each == "\0" else "x" for each in parts)
    if kinds not in _SIMPLE:
        return by_distinct(_like_rows)(site)
    text = next((each for each in parts if each is not None), "")

    def run(column: Any, *_: Any) -> Any:
        import pyarrow.compute as pc

        return getattr(pc, _SIMPLE[kinds])(column, text)

    return run


@lru_cache(maxsize=256)
def _similar_regex(pattern: str, escape: str | None) -> re.Pattern[str]:
    escape = _escape_of(escape)
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == escape:
            at += 1
            if at == len(pattern):
                raise SqlRuntimeError(f"Invalid escape sequence in the pattern {pattern!r} at {at - 1}")
            parts.append("\\" + pattern[at])
        elif character == "[":
            end = _class_end(pattern, at)
            parts.append(_class(pattern[at : end + 1]))
            at = end
        else:
            parts.append({"%": "(?:.|\\n)*", "_": "(?:.|\\n)"}.get(character, character))
        at += 1
    try:
        return compiled("".join(parts))
    except PatternError as error:
        raise SqlRuntimeError(f"Invalid pattern of SIMILAR TO: {pattern!r}") from error


def _class_end(pattern: str, start: int) -> int:
    at = start + 1
    while at < len(pattern) and pattern[at] != "]":
        at = pattern.find(":]", at) + 2 if pattern.startswith("[:", at) and ":]" in pattern[at:] else at + 1
    if at >= len(pattern):
        raise SqlRuntimeError(f"Unclosed '[' in the pattern {pattern!r}")
    return at


def _class(text: str) -> str:
    inside = text[1:-1]
    for name, replacement in _SIMILAR_CLASSES.items():
        inside = inside.replace(name, replacement)
    return f"[{inside}]"


def _similar(value: str, pattern: str, escape: str | None = None) -> bool:
    return _similar_regex(pattern, escape).fullmatch(value) is not None


_TEST = signature(TYPED_STRING, TYPED_STRING, TYPED_STRING, result=nullable_if_any(BooleanType()), optional=1)

FUNCTIONS: tuple[ScalarFunction, ...] = (
    ScalarFunction("LIKE", _TEST, _like_rows, _like_columns),
    ScalarFunction("SIMILAR TO", _TEST, lambda site: _similar, by_distinct(lambda site: _similar)),
)
