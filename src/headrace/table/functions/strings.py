"""Strings as a whole: case, length, concatenation, trimming, padding. Lengths are code points unless stated otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace.table.functions import java_text
from headrace.table.functions.column_forms import Columns, by_distinct, constants, flat
from headrace.table.functions.definition import Argument, CallSite, ScalarFunction, Signature
from headrace.table.functions.making import plain
from headrace.table.functions.signatures import (
    BINARY_TYPES,
    INT,
    INTEGER,
    LONGEST,
    STRING,
    STRING_TYPES,
    TEXT,
    TYPED_STRING,
    argument,
    nullable,
    nullable_if_any,
    signature,
    symbol,
    varying,
)
from headrace.types.logical_types import BinaryType, CharType, DataType, IntType, VarBinaryType, VarCharType


def _case_columns(ascii_name: str, compute: Any) -> Any:
    distinct = by_distinct(lambda site: compute)

    def columns(site: CallSite) -> Columns | None:
        general = distinct(site)

        def run(column: Any) -> Any:
            import pyarrow.compute as pc

            # The case mapping of pyarrow has no special cases such as the upper case of 'ß'.
            if pc.all(pc.string_is_ascii(column)).as_py() is not False or general is None:
                return getattr(pc, ascii_name)(column)
            return general(column)

        return run

    return columns


def _initcap(text: str) -> str:
    """Return the text with the first letter of each ASCII word in upper case."""
    start, parts = True, []
    for character in text:
        word = character.isascii() and character.isalnum()
        changed = character.upper() if start else character.lower()
        parts.append(changed if character.isascii() else character)
        start = not word
    return "".join(parts)


def _length_columns(site: CallSite) -> Columns | None:
    def run(column: Any) -> Any:
        import pyarrow.compute as pc

        return pc.utf8_length(column)

    return run


def concat_result(types: Sequence[DataType]) -> DataType:
    """Return the type of `a || b`: the lengths are added up."""
    lengths = [getattr(each, "length", LONGEST) for each in types]
    total = min(sum(lengths), LONGEST)
    if isinstance(types[0], BINARY_TYPES):
        fixed = all(isinstance(each, BinaryType) for each in types)
        return BinaryType(total) if fixed else VarBinaryType(total)
    fixed = all(isinstance(each, CharType) for each in types)
    return CharType(total) if fixed else VarCharType(total)


def _concat_infer(arguments: Sequence[Argument]) -> Signature:
    return signature(TYPED_STRING, TYPED_STRING, result=nullable_if_any(concat_result))(arguments)


def _joined(*values: str) -> str:
    return "".join(values)


def _concat_columns(site: CallSite) -> Columns | None:
    if not all(isinstance(each.type, STRING_TYPES) for each in site.arguments):
        return None

    def run(*values: Any) -> Any:
        import pyarrow.compute as pc

        return pc.binary_join_element_wise(*values, "")

    return run


def _concat_ws(separator: str | None, *values: str | None) -> str | None:
    return None if separator is None else separator.join(each for each in values if each is not None)


def _trim(side: str, characters: str, text: str) -> str:
    if side == "LEADING":
        return text.lstrip(characters)
    return text.rstrip(characters) if side == "TRAILING" else text.strip(characters)


_TRIMS = {"LEADING": "utf8_ltrim", "TRAILING": "utf8_rtrim", "BOTH": "utf8_trim"}


def _trim_columns(site: CallSite) -> Columns | None:
    known = constants(site, 0, 1)
    if known is None or not known[1]:
        return None
    side, characters = known

    def run(*values: Any) -> Any:
        import pyarrow.compute as pc

        return getattr(pc, _TRIMS[side])(values[2], characters=characters)

    return run


def _trim_one(side: str) -> Any:
    return lambda text, characters=" ": _trim(side, characters, text)


def _filler(pad: str, count: int) -> str:
    return (pad * (count // java_text.length(pad) + 1)) if count > 0 else ""


def _pad(text: str, size: int, pad: str, *, left: bool) -> str | None:
    """Pad a string to `size` UTF-16 units, or cut it to that size."""
    if size < 0 or not pad:
        return None
    missing = size - java_text.length(text)
    if missing <= 0:
        return java_text.cut(text, 0, size)
    filler = java_text.cut(_filler(pad, missing), 0, missing)
    return filler + text if left else text + filler


def _substring(text: str, start: int, length: int = LONGEST) -> str | None:
    if length < 0:
        return None
    if start > 0:
        first = start - 1
    else:
        first = len(text) + start if start else 0
        if first < 0:
            return ""
    return text[first : first + length]


def _substring_columns(site: CallSite) -> Columns | None:
    known = constants(site, *range(1, len(site.arguments)))
    if known is None or known[0] < 0 or (len(known) > 1 and known[1] < 0):
        return None
    first = max(known[0] - 1, 0)
    last = first + known[1] if len(known) > 1 else None

    def run(column: Any, *_: Any) -> Any:
        import pyarrow.compute as pc

        return pc.utf8_slice_codeunits(flat(column), first, last)

    return run


def _right(text: str, length: int) -> str:
    return text[max(len(text) - length, 0) :] if length > 0 else ""


_TEXT_IF_ANY = nullable_if_any(TEXT)
_SAME = nullable_if_any(argument(0))
_CUT = signature(TYPED_STRING, INT, INT, result=nullable(varying(0)), optional=1)
_PART = signature(TYPED_STRING, INTEGER, result=nullable(varying(0)))
_TRIMMED = signature(TYPED_STRING, TYPED_STRING, result=nullable_if_any(varying(0)), optional=1)
_PADDED = signature(TYPED_STRING, INT, TYPED_STRING, result=_TEXT_IF_ANY)

FUNCTIONS: tuple[ScalarFunction, ...] = (
    plain("UPPER", signature(TYPED_STRING, result=_SAME), str.upper, _case_columns("ascii_upper", str.upper)),
    plain("LOWER", signature(TYPED_STRING, result=_SAME), str.lower, _case_columns("ascii_lower", str.lower)),
    plain("INITCAP", signature(TYPED_STRING, result=_SAME), _initcap, by_distinct(lambda site: _initcap)),
    plain("CHAR_LENGTH", signature(TYPED_STRING, result=nullable_if_any(IntType())), len, _length_columns),
    plain("||", _concat_infer, _joined, _concat_columns),
    plain("CONCAT", signature(TYPED_STRING, rest=TYPED_STRING, result=_TEXT_IF_ANY), _joined, _concat_columns),
    plain("CONCAT_WS", signature(TYPED_STRING, rest=TYPED_STRING, result=_TEXT_IF_ANY), _concat_ws, strict=False),
    plain(
        "TRIM",
        signature(symbol(*_TRIMS), TYPED_STRING, TYPED_STRING, result=nullable_if_any(varying(2))),
        _trim,
        _trim_columns,
    ),
    plain("LTRIM", _TRIMMED, _trim_one("LEADING")),
    plain("RTRIM", _TRIMMED, _trim_one("TRAILING")),
    plain("BTRIM", signature(STRING, STRING, result=_TEXT_IF_ANY, optional=1), _trim_one("BOTH")),
    plain("LPAD", _PADDED, lambda text, size, pad: _pad(text, size, pad, left=True)),
    plain("RPAD", _PADDED, lambda text, size, pad: _pad(text, size, pad, left=False)),
    plain("REPEAT", signature(TYPED_STRING, INTEGER, result=_TEXT_IF_ANY), lambda text, count: text * max(count, 0)),
    plain("REVERSE", signature(TYPED_STRING, result=nullable(TEXT)), lambda text: text[::-1]),
    plain("SUBSTRING", _CUT, _substring, _substring_columns),
    plain("LEFT", _PART, lambda text, count: text[:count] if count > 0 else ""),
    plain("RIGHT", _PART, _right),
)
ALIASES = {"CHARACTER_LENGTH": "CHAR_LENGTH", "SUBSTR": "SUBSTRING"}
