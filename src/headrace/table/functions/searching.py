"""Strings inside strings: positions, replacement, splitting, prefixes and suffixes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from headrace.table.errors import SqlRuntimeError
from headrace.table.functions import java_text
from headrace.table.functions.definition import Argument, ArgumentError, ScalarFunction, Signature
from headrace.table.functions.making import plain
from headrace.table.functions.signatures import (
    BINARY,
    BINARY_TYPES,
    INTEGER,
    LONGEST,
    STRING,
    TEXT,
    TYPED_STRING,
    any_of,
    nullable,
    nullable_if_any,
    nullable_if_first,
    signature,
)
from headrace.types.logical_types import ArrayType, BooleanType, DataType, IntType, VarBinaryType, VarCharType

_LAST_BYTE = 255
_WHITESPACE = re.compile(r"\s")


def _position(needle: str, text: str, start: int = 1) -> int:
    """Return the position of the first occurrence from `start`, from 1; 0 if there is none."""
    if not needle:
        return 1
    return text.find(needle, max(start - 1, 0)) + 1


def _instr(text: str, needle: str, start: int = 1, occurrence: int = 1) -> int:
    """Return the position of the nth occurrence; a negative start searches backwards from the end."""
    if occurrence <= 0:
        raise SqlRuntimeError(f"The occurrence of INSTR must be positive, got {occurrence}")
    if start == 0:
        return 0
    if start < 0:
        found = _instr(text[::-1], needle[::-1], -start, occurrence)
        return len(text) + 2 - found - len(needle) if found else 0
    found = 0
    for _ in range(occurrence):
        found = _position(needle, text, start)
        if not found:
            return 0
        start = found + 1
    return found


def _overlay(text: str, other: str, start: int, length: int | None = None) -> str:
    """Replace part of a string. Positions count UTF-16 units."""
    size = java_text.length(text)
    if start <= 0 or start > size:
        return text
    length = java_text.length(other) if length is None else length
    kept = java_text.cut(text, start - 1 + length) if start + length <= size and length > 0 else ""
    return java_text.cut(text, 0, start - 1) + other + kept


def _overlay_result(types: Sequence[DataType]) -> DataType:
    lengths = [getattr(each, "length", LONGEST) for each in types[:2]]
    return VarCharType(min(sum(lengths), LONGEST))


def _replace(text: str, old: str, new: str) -> str:
    if old or java_text.is_bmp(text):
        return text.replace(old, new)
    return new + "".join(unit + new for unit in java_text.split_units(text))


def _translate(text: str | None, old: str | None, new: str | None) -> str | None:
    if not text or not old:
        return text
    table: dict[int, str] = {}
    for index, character in enumerate(old):
        table.setdefault(ord(character), (new or "")[index : index + 1])
    return text.translate(table)


def _split(text: str, delimiter: str) -> tuple[str, ...]:
    if not delimiter:
        return java_text.split_units(text)
    return tuple(text.split(delimiter)) if text else ()


def _split_index(text: str, separator: str | int, index: int) -> str | None:
    if index < 0:
        return None
    if isinstance(separator, int):
        if not 1 <= separator <= _LAST_BYTE:
            return None
        separator = chr(separator)
    if not text:
        return None
    parts = text.split(separator) if separator else _WHITESPACE.split(text)
    return parts[index] if index < len(parts) else None


def _elt(index: int | None, *values: str | bytes | None) -> str | bytes | None:
    return values[index - 1] if index is not None and 1 <= index <= len(values) else None


def _common_text(types: Sequence[DataType]) -> DataType:
    values = types[1:]
    lengths = {getattr(each, "length", 0) for each in values}
    first = values[0]
    if len(lengths) == 1 and len({type(each) for each in values}) == 1:
        return first
    longest = max(lengths)
    return VarBinaryType(longest) if isinstance(first, BINARY_TYPES) else VarCharType(longest)


def _elt_infer(arguments: Sequence[Argument]) -> Signature:
    if arguments and isinstance(arguments[0].value, int) and arguments[0].value < 0:
        raise ArgumentError(f"the index must not be negative, got {arguments[0].value}")
    result = nullable(_common_text)
    text = signature(INTEGER, STRING, rest=STRING, result=result)
    return any_of(text, signature(INTEGER, BINARY, rest=BINARY, result=result))(arguments)


_INT = nullable_if_any(IntType())
_BOOLEAN = nullable_if_any(BooleanType())
_TEXTS = nullable_if_any(ArrayType(VarCharType()))
_AFFIX = any_of(signature(STRING, STRING, result=_BOOLEAN), signature(BINARY, BINARY, result=_BOOLEAN))
_SPLIT_INDEX = any_of(
    signature(TYPED_STRING, INTEGER, INTEGER, result=nullable(TEXT)),
    signature(TYPED_STRING, TYPED_STRING, INTEGER, result=nullable(TEXT)),
)
_THREE = signature(TYPED_STRING, TYPED_STRING, TYPED_STRING, result=nullable_if_any(TEXT))

FUNCTIONS: tuple[ScalarFunction, ...] = (
    plain("POSITION", signature(TYPED_STRING, TYPED_STRING, INTEGER, result=_INT, optional=1), _position),
    plain("LOCATE", signature(TYPED_STRING, TYPED_STRING, INTEGER, result=_INT, optional=1), _position),
    plain("INSTR", signature(TYPED_STRING, TYPED_STRING, INTEGER, INTEGER, result=_INT, optional=2), _instr),
    plain(
        "OVERLAY",
        signature(TYPED_STRING, TYPED_STRING, INTEGER, INTEGER, result=nullable_if_any(_overlay_result), optional=1),
        _overlay,
    ),
    plain("REPLACE", _THREE, _replace),
    plain("TRANSLATE", signature(STRING, STRING, STRING, result=nullable_if_first(TEXT)), _translate, strict=False),
    plain("SPLIT", signature(STRING, STRING, result=_TEXTS), _split),
    plain("SPLIT_INDEX", _SPLIT_INDEX, _split_index),
    plain("STARTSWITH", _AFFIX, lambda value, part: value.startswith(part)),
    plain("ENDSWITH", _AFFIX, lambda value, part: value.endswith(part)),
    plain("ELT", _elt_infer, _elt, strict=False),
)
