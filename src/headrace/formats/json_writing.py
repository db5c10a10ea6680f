"""Convert values of a type to JSON, formatted like Flink's serializer."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any

from headrace.errors import InvalidProgramError
from headrace.types.java_formatting import double_text, float_text
from headrace.types.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TypeInformation,
    Types,
)

Writer = Callable[[Any], str]
_ODD = re.compile("[\U00010000-\U0010ffff]|\\\\u00[01][a-f]")


def writer_of(type_info: TypeInformation) -> Writer:
    """Return the function that converts a value of a type to JSON.

    >>> writer_of(Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.DOUBLE()]))((1, 1e10))
    '{"a":1,"b":1.0E10}'
    """
    write = _writer(type_info)
    return lambda value: "null" if value is None else write(value)


def _writer(type_info: TypeInformation) -> Writer:
    if isinstance(type_info, RowTypeInfo):
        return _row_writer(type_info)
    if isinstance(type_info, MapTypeInfo):
        if type_info.key_type_info != Types.STRING():
            raise InvalidProgramError("JSON objects need strings as keys", seen=type_info)
        value_of = writer_of(type_info.value_type_info)
        return lambda value: "{" + ",".join(f"{_string(k)}:{value_of(v)}" for k, v in value.items()) + "}"
    if type_info == Types.PRIMITIVE_ARRAY(Types.BYTE()):
        return lambda value: f'"{base64.b64encode(value).decode()}"'
    if isinstance(type_info, (PrimitiveArrayTypeInfo, BasicArrayTypeInfo, ObjectArrayTypeInfo, ListTypeInfo)):
        element_of = writer_of(type_info.element_type)
        return lambda value: "[" + ",".join([element_of(v) for v in value]) + "]"
    for known, write in _PLAIN:
        if type_info == known:
            return write
    if isinstance(type_info, BasicTypeInfo) and type_info.basic_type in _BASIC:
        return _BASIC[type_info.basic_type]
    raise InvalidProgramError("This type cannot be written as JSON", seen=type_info)


def _row_writer(type_info: RowTypeInfo) -> Writer:
    fields = [
        (index, encode_basestring(name) + ":", writer_of(part))
        for index, (name, part) in enumerate(zip(type_info.get_field_names(), type_info.get_field_types()))
    ]
    return lambda row: "{" + ",".join([prefix + write(row[index]) for index, prefix, write in fields]) + "}"


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    text = encode_basestring(value)
    return text if text.isascii() and "\\u" not in text else _ODD.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    text = found.group()
    if len(text) > 1:
        return "\\u" + text[2:].upper()
    pair = text.encode("utf-16-be").hex().upper()
    return f"\\u{pair[:4]}\\u{pair[4:]}"


def _whole(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is not an integer")
    return str(value)


def _number(form: Callable[[float], str]) -> Writer:
    def write(value: Any) -> str:
        if isinstance(value, (bool, str)):
            raise TypeError(f"{value!r} is not a number")
        text = form(value)
        return f'"{text}"' if text in ("NaN", "Infinity", "-Infinity") else text

    return write


def _boolean(value: Any) -> str:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is not a boolean")
    return "true" if value else "false"


def _fraction(micros: int) -> str:
    return f".{micros:06}".rstrip("0") if micros % 1000 else f".{micros // 1000:03}" if micros else ""


def _timestamp(value: Any) -> str:
    return f'"{value:%Y-%m-%dT%H:%M:%S}{_fraction(value.microsecond)}Z"'


def _instant(value: Any) -> str:
    import datetime

    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)
    return _timestamp(moment)


_BASIC: dict[BasicType, Writer] = {
    BasicType.STRING: _string,
    BasicType.BOOLEAN: _boolean,
    BasicType.BYTE: _whole,
    BasicType.SHORT: _whole,
    BasicType.INT: _whole,
    BasicType.LONG: _whole,
    BasicType.BIG_INT: _whole,
    BasicType.FLOAT: _number(float_text),
    BasicType.DOUBLE: _number(double_text),
    BasicType.BIG_DEC: lambda value: format(value, "f"),
}
_PLAIN: list[tuple[TypeInformation, Writer]] = [
    (Types.SQL_DATE(), lambda value: f'"{value:%Y-%m-%d}"'),
    (Types.SQL_TIME(), lambda value: f'"{value:%H:%M:%S}Z"'),
    (Types.SQL_TIMESTAMP(), _timestamp),
    (Types.INSTANT(), _instant),
]
