"""JSON_STRING, JSON_OBJECT, JSON_ARRAY, JSON, JSON_QUOTE and JSON_UNQUOTE.

JSON_OBJECT(on_null, key, value, ...) and JSON_ARRAY(on_null, value, ...) begin with the keyword NULL or ABSENT. Values that
other JSON functions return are nested as they are: their types have `is_json`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from headrace.table.errors import SqlRuntimeError
from headrace.table.functions import java_text, json_text
from headrace.table.functions.definition import Argument, ArgumentError, CallSite, ScalarFunction, Signature
from headrace.table.functions.making import plain
from headrace.table.functions.signatures import (
    BINARY_TYPES,
    INTEGER_TYPES,
    STRING,
    STRING_TYPES,
    TEXT,
    is_symbol,
    nullable_if_any,
    signature,
)
from headrace.types.java_formatting import double_text
from headrace.types.logical_types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowType,
    TimestampType,
    TimeType,
    VarCharType,
    YearMonthIntervalType,
)

_NO_VALUES = (DateType, TimeType, YearMonthIntervalType, DayTimeIntervalType)
"""Types that Flink does not convert to JSON at the top level; inside arrays, maps and rows it does."""
Write = Callable[[Any], str]
_JSON = VarCharType(is_json=True)
_SAFE = 0x80
_ESCAPES = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def writer(data_type: DataType) -> Write:
    """Return the function that writes values of a type as JSON."""
    inner = _writer(data_type)
    return lambda value: "null" if value is None else inner(value)


def _writer(data_type: DataType) -> Write:
    if isinstance(data_type, STRING_TYPES):
        return str if data_type.is_json else json_text.quote
    if isinstance(data_type, BooleanType):
        return lambda value: "true" if value else "false"
    if isinstance(data_type, (*INTEGER_TYPES, DecimalType)):
        return str
    if isinstance(data_type, (FloatType, DoubleType)):
        return _number
    if isinstance(data_type, BINARY_TYPES):
        return lambda value: json_text.quote(base64.b64encode(value).decode())
    if isinstance(data_type, (DateType, TimeType, TimestampType, LocalZonedTimestampType)):
        return partial(_temporal, data_type)
    if isinstance(data_type, ArrayType):
        element = writer(data_type.element_type)
        return lambda value: "[" + ",".join(map(element, value)) + "]"
    if isinstance(data_type, (MapType, MultisetType)):
        return _map_writer(data_type)
    if isinstance(data_type, RowType):
        fields = [(each.name, writer(each.data_type)) for each in data_type.fields]
        return lambda value: _object({name: write(each) for (name, write), each in zip(fields, value, strict=True)})
    return lambda value: json_text.quote(str(value))


def _map_writer(data_type: MapType | MultisetType) -> Write:
    key_type = data_type.key_type if isinstance(data_type, MapType) else data_type.element_type
    if not isinstance(key_type, STRING_TYPES):
        raise SqlRuntimeError("The keys of a map must be strings to be written as JSON", seen=repr(key_type))
    write = writer(data_type.value_type) if isinstance(data_type, MapType) else str
    return lambda value: _object({key: write(each) for key, each in value.items()})


def _number(value: float) -> str:
    text = double_text(value)
    return f'"{text}"' if text.endswith(("NaN", "Infinity")) else str(Decimal(text))


def _temporal(data_type: DataType, value: int) -> str:
    from headrace.table.functions.iso_text import iso_text

    return json_text.quote(iso_text(data_type, value))


def _object(members: dict[str, str]) -> str:
    keys = sorted(members, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(f"{json_text.quote(key)}:{members[key]}" for key in keys) + "}"


def _string_rows(site: CallSite) -> Callable[..., Any]:
    return writer(site.arguments[0].type)


def _object_rows(site: CallSite) -> Callable[..., Any]:
    writers = [writer(each.type) for each in site.arguments[2::2]]

    def compute(on_null: str, *items: Any) -> str:
        members: dict[str, str] = {}
        for key, value, write in zip(items[::2], items[1::2], writers, strict=True):
            if key is None:
                raise SqlRuntimeError("A key of JSON_OBJECT is NULL")
            if value is not None or on_null == "NULL":
                members[key] = write(value)
        return _object(members)

    return compute


def _array_rows(site: CallSite) -> Callable[..., Any]:
    writers = [writer(each.type) for each in site.arguments[1:]]

    def compute(on_null: str, *items: Any) -> str:
        kept = zip(items, writers, strict=True)
        return "[" + ",".join(write(value) for value, write in kept if value is not None or on_null == "NULL") + "]"

    return compute


def _value_type(argument: Argument) -> DataType:
    if isinstance(argument.type, _NO_VALUES):
        raise ArgumentError(f"{argument.type!r} cannot be converted to JSON")
    return argument.type.nullable() if isinstance(argument.type, NullType) else argument.type


def _VALUE(argument: Argument) -> DataType | None:
    """Fit values that can be written as JSON."""
    return None if isinstance(argument.type, _NO_VALUES) else argument.type


def _check_on_null(arguments: Sequence[Argument]) -> None:
    if not arguments or not is_symbol(arguments[0]) or arguments[0].value not in ("NULL", "ABSENT"):
        raise ArgumentError("the first argument must be the keyword NULL or ABSENT")


def _object_infer(arguments: Sequence[Argument]) -> Signature:
    _check_on_null(arguments)
    if len(arguments) % 2 == 0:
        raise ArgumentError("a key needs a value")
    for key in arguments[1::2]:
        if not isinstance(key.type, STRING_TYPES):
            raise ArgumentError(f"a key must be a string, got {key.type!r}")
    return Signature(tuple(_value_type(each) for each in arguments), _JSON.not_null())


def _array_infer(arguments: Sequence[Argument]) -> Signature:
    _check_on_null(arguments)
    return Signature(tuple(_value_type(each) for each in arguments), _JSON.not_null())


def _json(text: str) -> str | None:
    if not text.strip():
        return None
    try:
        return json_text.write(json_text.parse(text.strip()))
    except json_text.JsonError as error:
        raise SqlRuntimeError(f"JSON got a string that is not JSON: {text!r} ({error})") from None


def _quote(text: str) -> str:
    """Quote a string; of a character beyond the BMP both its code point and its second half are written."""
    parts: list[str] = []
    for character in text:
        code = ord(character)
        if code < _SAFE:
            parts.append(_ESCAPES.get(character, character))
            continue
        parts.append(f"\\u{code:04x}")
        if code > 0xFFFF:
            parts.append(f"\\u{0xDC00 + (code & 0x3FF):04x}")
    return f'"{"".join(parts)}"'


def _unquote(text: str) -> str:
    """Remove the quotes of a JSON string and its escapes; other text stays as it is."""
    try:
        json_text.parse(text)
        if not (text.startswith('"') and text.endswith('"')):
            return text
        return _unescaped(text[1:-1])
    except ValueError:
        return text


def _unescaped(text: str) -> str:
    parts: list[str] = []
    at = 0
    while at < len(text):
        if text[at] != "\\" or at + 1 >= len(text):
            parts.append(text[at])
            at += 1
            continue
        kind = text[at + 1]
        at += 2
        if kind == "u":
            parts.append(chr(int(text[at : at + 4], 16)))
            at += 4
        elif kind in _UNESCAPES:
            parts.append(_UNESCAPES[kind])
        else:
            raise ValueError(kind)
    return java_text.from_units(java_text.units("".join(parts)))


_TEXT_IF_ANY = nullable_if_any(TEXT)

FUNCTIONS: tuple[ScalarFunction, ...] = (
    ScalarFunction("JSON_STRING", signature(_VALUE, result=_TEXT_IF_ANY), _string_rows),
    ScalarFunction("JSON_OBJECT", _object_infer, _object_rows, strict=False),
    ScalarFunction("JSON_ARRAY", _array_infer, _array_rows, strict=False),
    plain("JSON", signature(STRING, result=nullable_if_any(_JSON)), _json),
    plain("JSON_QUOTE", signature(STRING, result=_TEXT_IF_ANY), _quote),
    plain("JSON_UNQUOTE", signature(STRING, result=_TEXT_IF_ANY), _unquote),
)
