"""REGEXP and its relatives. A pattern that is not valid gives NULL (FALSE for REGEXP), as in Flink."""

from __future__ import annotations

import re

from headrace.table.functions import java_text
from headrace.table.functions.column_forms import by_distinct
from headrace.table.functions.definition import ScalarFunction, SqlMap
from headrace.table.functions.making import plain
from headrace.table.functions.regex_translation import PatternError, compiled
from headrace.table.functions.signatures import (
    INTEGER,
    STRING,
    TEXT,
    TYPED_STRING,
    always,
    any_of,
    nullable,
    nullable_if_any,
    signature,
)
from headrace.types.logical_types import ArrayType, BooleanType, IntType, MapType, VarCharType


def _pattern(pattern: str) -> re.Pattern[str] | None:
    try:
        return compiled(pattern)
    except PatternError:
        return None


def _regexp(text: str, pattern: str) -> bool:
    found = _pattern(pattern)
    return bool(pattern) and found is not None and found.search(text) is not None


def _replace(text: str, pattern: str, replacement: str) -> str | None:
    found = _pattern(pattern)
    return None if found is None else found.sub(lambda match: replacement, text)


def _extract(text: str, pattern: str, group: int = 0) -> str | None:
    found = _pattern(pattern)
    match = found.search(text) if found is not None else None
    if match is None or not 0 <= group <= match.re.groups:
        return None
    return match[group]


def _extract_all(text: str, pattern: str, group: int = 1) -> tuple[str | None, ...] | None:
    found = _pattern(pattern)
    if found is None or not 0 <= group <= found.groups:
        return None
    return tuple(match[group] for match in found.finditer(text))


def _count(text: str, pattern: str) -> int | None:
    found = _pattern(pattern)
    return None if found is None else sum(1 for _ in found.finditer(text))


def _instr(text: str, pattern: str) -> int | None:
    found = _pattern(pattern)
    if found is None:
        return None
    match = found.search(text)
    return java_text.length(text[: match.start()]) + 1 if match is not None else 0


def _split(text: str, pattern: str, limit: int = 0) -> list[str]:
    """Split as Java: no empty part before a match of nothing at the start, and without a limit none at the end."""
    parts: list[str] = []
    start = 0
    for match in compiled(pattern).finditer(text):
        if limit and len(parts) == limit - 1:
            break
        if match.end() == 0 or (match.end() == match.start() == len(text)):
            continue
        parts.append(text[start : match.start()])
        start = match.end()
    parts.append(text[start:])
    if not limit:
        while len(parts) > 1 and not parts[-1]:
            parts.pop()
        if parts == [""] and text:
            return []
    return parts


def _str_to_map(text: str, entry_delimiter: str = ",", value_delimiter: str = "=") -> SqlMap:
    result: dict[str, str | None] = {}
    for entry in _split(text, entry_delimiter) if text else ():
        key, *value = _split(entry, value_delimiter, 2)
        result[key if value else entry] = value[0] if value else None
    return SqlMap(result)


_BOOLEAN = nullable_if_any(BooleanType())
_TWO = (TYPED_STRING, TYPED_STRING)

FUNCTIONS: tuple[ScalarFunction, ...] = (
    plain("REGEXP", signature(*_TWO, result=_BOOLEAN), _regexp, by_distinct(lambda site: _regexp)),
    plain("REGEXP_REPLACE", signature(*_TWO, TYPED_STRING, result=nullable_if_any(TEXT)), _replace),
    plain("REGEXP_EXTRACT", signature(*_TWO, INTEGER, result=nullable(TEXT), optional=1), _extract),
    plain(
        "REGEXP_EXTRACT_ALL",
        signature(STRING, STRING, INTEGER, result=always(ArrayType(VarCharType())), optional=1),
        _extract_all,
    ),
    plain("REGEXP_COUNT", signature(STRING, STRING, result=always(IntType())), _count),
    plain("REGEXP_INSTR", signature(STRING, STRING, result=always(IntType())), _instr),
    plain("REGEXP_SUBSTR", signature(STRING, STRING, result=always(TEXT)), _extract),
    plain(
        "STR_TO_MAP",
        any_of(
            signature(TYPED_STRING, result=always(MapType(TEXT, TEXT))),
            signature(*_TWO, TYPED_STRING, result=always(MapType(TEXT, TEXT))),
        ),
        _str_to_map,
    ),
)
ALIASES = {"RLIKE": "REGEXP"}
