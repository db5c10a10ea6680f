"""Numbers and bytes as digits: BIN, HEX, UNHEX; and the tests IS_ALPHA, IS_DECIMAL, IS_DIGIT of texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from headrace.table.functions.casts.to_text import text_form
from headrace.table.functions.definition import Argument, CallSite, ScalarFunction, Signature
from headrace.table.functions.inference import expect_count, expect_family, fixed, strict
from headrace.table.functions.type_families import Family, family
from headrace.types.logical_types import BigIntType, BooleanType, VarBinaryType, VarCharType

_BITS = (1 << 64) - 1
_DIGITS = re.compile(r"[0-9a-fA-F]*")
_NUMBER = re.compile(r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFdD]?")


def _infer_bin(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 1)
    expect_family(arguments[0], {Family.INTEGER})
    return strict(arguments, (BigIntType(),), VarCharType())


def _infer_hex(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 1)
    expect_family(arguments[0], {Family.INTEGER, Family.CHARACTER})
    data_type = arguments[0].type
    return strict(arguments, (BigIntType() if family(data_type) is Family.INTEGER else data_type,), VarCharType())


def _hex(site: CallSite) -> Callable[[Any], str]:
    if family(site.arguments[0].type) is Family.INTEGER:
        return lambda number: f"{number & _BITS:X}"
    return lambda text: text.encode().hex().upper()


def _infer_unhex(arguments: Sequence[Argument]) -> Signature:
    return replace(fixed(VarCharType(), result=VarBinaryType())(arguments), result=VarBinaryType())


def _unhex(text: str) -> bytes | None:
    if not _DIGITS.fullmatch(text):
        return None
    # The first of an odd number of digits has no value.
    return bytes.fromhex("00" + text[1:] if len(text) % 2 else text)


def _infer_text_test(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 1)
    return Signature((arguments[0].type,), BooleanType().not_null())


def _text_test(name: str, test: Callable[[str], bool]) -> ScalarFunction:
    def rows(site: CallSite) -> Callable[[Any], bool]:
        form = text_form(site.arguments[0].type, site.session.time_zone)
        return lambda value: value is not None and test(form(value))

    return ScalarFunction(name, _infer_text_test, rows=rows, strict=False)


FUNCTIONS = (
    ScalarFunction("BIN", _infer_bin, rows=lambda site: lambda number: f"{number & _BITS:b}"),
    ScalarFunction("HEX", _infer_hex, rows=_hex),
    ScalarFunction("UNHEX", _infer_unhex, rows=lambda site: _unhex),
    _text_test("IS_ALPHA", lambda text: text.isalpha()),
    _text_test("IS_DECIMAL", lambda text: _NUMBER.fullmatch(text.strip()) is not None),
    _text_test("IS_DIGIT", lambda text: text.isdigit()),
)
