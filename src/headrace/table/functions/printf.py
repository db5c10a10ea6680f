"""PRINTF: the formats of `java.util.Formatter`. A format that does not fit its arguments gives NULL."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from headrace.table.functions.definition import CallSite, ScalarFunction
from headrace.table.functions.iso_text import java_local_text
from headrace.table.functions.signatures import ANY, STRING, TEXT, TIMESTAMP_TYPES, always, signature
from headrace.types.logical_types import (
    BigIntType,
    DataType,
    DecimalType,
    FloatType,
    IntType,
    SmallIntType,
    TinyIntType,
)

_SPECIFIER = re.compile(r"%(?:(\d+)\$)?([-#+ 0,(<]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])")
_BITS = {TinyIntType: 8, SmallIntType: 16, IntType: 32, BigIntType: 64}
_DEFAULT_PRECISION = 6
_MASK = 0xFFFFFFFF


class _BadFormat(Exception):
    """A format is malformed or does not fit an argument."""


def _printf_rows(site: CallSite) -> Callable[..., str | None]:
    types = [each.type for each in site.arguments[1:]]

    def compute(template: str | None, *values: Any) -> str | None:
        if template is None:
            return None
        try:
            return _format(template, values, types)
        except _BadFormat:
            return None

    return compute


def _format(template: str, values: tuple[Any, ...], types: list[DataType]) -> str:
    parts: list[str] = []
    at = ordinary = 0
    last = -1
    while (start := template.find("%", at)) >= 0:
        match = _SPECIFIER.match(template, start)
        if match is None:
            raise _BadFormat
        parts.append(template[at:start])
        at = match.end()
        position, flags, width, precision, conversion = match.groups()
        if conversion == "n":
            parts.append("\n")
            continue
        if conversion == "%":
            parts.append(_padded("%", flags, width))
            continue
        if "<" in flags:
            index = last
        elif position is not None:
            index = int(position) - 1
        else:
            index, ordinary = ordinary, ordinary + 1
        if not 0 <= index < len(values):
            raise _BadFormat
        last = index
        shown = _converted(conversion, flags, width, precision, values[index], types[index])
        parts.append(shown.upper() if conversion.isupper() else shown)
    parts.append(template[at:])
    return "".join(parts)


def _converted(
    conversion: str, flags: str, width: str | None, precision: str | None, value: Any, data_type: DataType
) -> str:
    digits = None if precision is None else int(precision)
    match conversion.lower():
        case "s":
            return _padded(_cut(_text(value, data_type), digits), flags, width)
        case "b":
            truth = value if isinstance(value, bool) else value is not None
            return _padded(_cut(str(truth).lower(), digits), flags, width)
        case "d" | "o" | "x" if value is None:
            return _padded("null", flags, width)
        case "d" | "o" | "x":
            if isinstance(value, bool) or not isinstance(value, int) or digits is not None:
                raise _BadFormat
            return _integer(conversion.lower(), flags, width, value, data_type)
        case "e" | "f" | "g" if value is None:
            return _padded("null", flags, width)
        case "e" | "f" | "g":
            if not isinstance(value, float):
                raise _BadFormat
            return _real(conversion.lower(), flags, width, _DEFAULT_PRECISION if digits is None else digits, value)
        case "h":
            return _padded(_cut(_hash(value, data_type), digits), flags, width)
        case "c":
            if isinstance(value, bool) or isinstance(data_type, BigIntType):
                raise _BadFormat
            if not isinstance(value, (int, type(None))) or not 0 <= (value or 0) < 0x110000:
                raise _BadFormat
            return _padded("null" if value is None else chr(value), flags, width)
    raise _BadFormat


def _text(value: Any, data_type: DataType) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        from headrace.types.java_formatting import double_text, float_text

        return float_text(value) if isinstance(data_type, FloatType) else double_text(value)
    if isinstance(data_type, TIMESTAMP_TYPES):
        return java_local_text(value)
    return f"{value:f}" if isinstance(data_type, DecimalType) else str(value)


def _hash(value: Any, data_type: DataType) -> str:
    """Return the hash code that Java gives a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"{1231 if value else 1237:x}"
    if isinstance(value, str):
        return f"{_murmur(value.encode()):x}"
    if isinstance(value, int):
        return f"{(value ^ (value >> 32 if isinstance(data_type, BigIntType) else 0)) & 0xFFFFFFFF:x}"
    raise _BadFormat


def _murmur(data: bytes) -> int:
    """Return the hash of a string inside Flink: the 32-bit Murmur hash, with each byte at the end mixed on its own."""
    state = 42
    whole = len(data) // 4 * 4
    words = [int.from_bytes(data[at : at + 4], "little") for at in range(0, whole, 4)]
    for word in (*words, *(each - 256 if each > 127 else each for each in data[whole:])):
        mixed = word * 0xCC9E2D51 & _MASK
        mixed = _rotated(mixed, 15) * 0x1B873593 & _MASK
        state = (_rotated(state ^ mixed, 13) * 5 + 0xE6546B64) & _MASK
    state ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        state = (state ^ state >> shift) * factor & _MASK
    return state ^ state >> 16


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & _MASK


def _cut(text: str, digits: int | None) -> str:
    return text if digits is None else text[:digits]


def _padded(text: str, flags: str, width: str | None) -> str:
    if "-" in flags and width is None:
        raise _BadFormat
    size = int(width or 0)
    return text.ljust(size) if "-" in flags else text.rjust(size)


def _integer(conversion: str, flags: str, width: str | None, value: int, data_type: DataType) -> str:
    if conversion == "d":
        return _signed(f"{abs(value):,}" if "," in flags else str(abs(value)), value < 0, flags, width)
    bits = _BITS.get(type(data_type), 64)
    shown = format(value % (1 << bits), "x" if conversion == "x" else "o")
    prefix = {"x": "0x", "o": "0"}[conversion] if "#" in flags else ""
    if "0" in flags:
        return prefix + shown.zfill(int(width or 0) - len(prefix))
    return _padded(prefix + shown, flags, width)


def _real(conversion: str, flags: str, width: str | None, digits: int, value: float) -> str:
    if not math.isfinite(value):
        return _padded({"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)], flags, width)
    number = Decimal(repr(abs(value)))
    if conversion == "f":
        rounded = number.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
        shown = f"{rounded:,f}" if "," in flags else f"{rounded:f}"
    elif conversion == "e":
        shown = _scientific(number, digits)
    else:
        shown = _general(number, digits or 1)
    return _signed(shown, value < 0 or str(value).startswith("-"), flags, width)


def _scientific(number: Decimal, digits: int) -> str:
    if number == 0:
        return f"{Decimal(0):.{digits}f}e+00"
    rounded = number.scaleb(-number.adjusted()).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    exponent = number.adjusted()
    if rounded >= 10:
        rounded, exponent = (rounded / 10).quantize(Decimal(1).scaleb(-digits)), exponent + 1
    return f"{rounded:f}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _general(number: Decimal, digits: int) -> str:
    low, high = Decimal("0.0001"), Decimal(10) ** digits
    if number == 0 or low <= number < high:
        places = digits - 1 if number == 0 else max(digits - number.adjusted() - 1, 0)
        return f"{number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):f}"
    return _scientific(number, digits - 1)


def _signed(shown: str, negative: bool, flags: str, width: str | None) -> str:
    before, after = ("(", ")") if negative and "(" in flags else ("-" if negative else "", "")
    if not negative:
        before = "+" if "+" in flags else " " if " " in flags else ""
    if "0" in flags:
        shown = shown.zfill(int(width or 0) - len(before) - len(after))
    return _padded(before + shown + after, flags, width)


FUNCTIONS: tuple[ScalarFunction, ...] = (
    ScalarFunction("PRINTF", signature(STRING, rest=ANY, result=always(TEXT)), _printf_rows, strict=False),
)
