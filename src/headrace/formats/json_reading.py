"""Convert JSON values to values of a type, with Flink's conversions."""

from __future__ import annotations

import base64
import binascii
import decimal
import json
from collections.abc import Callable
from typing import Any

from headrace.errors import InvalidProgramError
from headrace.types import java_parsing
from headrace.types.java_formatting import double_text
from headrace.types.row import named_rows
from headrace.types.time import Instant
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

Reader = Callable[[Any], Any]
_NANOS = 1_000_000_000
_LAST_SECOND = 31_556_889_864_403_199


def reader_of(type_info: TypeInformation, fail_on_missing: bool, ignore_errors: bool) -> Reader:
    """Return the function that converts a value of `json.loads` to a value of a type; None stays None.

    >>> reader_of(Types.INT(), False, False)("12")
    12
    """
    read = _reader(type_info, fail_on_missing, ignore_errors)
    if not ignore_errors:
        return lambda value: None if value is None else read(value)

    def tolerant(value: Any) -> Any:
        try:
            return None if value is None else read(value)
        except (ValueError, TypeError, ArithmeticError):
            return None

    return tolerant


def _reader(type_info: TypeInformation, fail_on_missing: bool, ignore_errors: bool) -> Reader:
    def inner(part: TypeInformation) -> Reader:
        return reader_of(part, fail_on_missing, ignore_errors)

    if isinstance(type_info, RowTypeInfo):
        return _row_reader(type_info, fail_on_missing, inner)
    if isinstance(type_info, MapTypeInfo):
        if type_info.key_type_info != Types.STRING():
            raise InvalidProgramError("JSON objects need strings as keys", seen=type_info)
        value_of = inner(type_info.value_type_info)
        return lambda value: {k: value_of(v) for k, v in value.items()} if isinstance(value, dict) else {}
    if type_info == Types.PRIMITIVE_ARRAY(Types.BYTE()):
        return _bytes
    if isinstance(type_info, (PrimitiveArrayTypeInfo, BasicArrayTypeInfo, ObjectArrayTypeInfo, ListTypeInfo)):
        element_of = inner(type_info.element_type)
        return lambda value: [element_of(v) for v in checked(value, list, "an array")]
    if type_info == Types.PICKLED_BYTE_ARRAY():
        return lambda value: value
    for known, read in _PLAIN:
        if type_info == known:
            return read
    if isinstance(type_info, BasicTypeInfo) and type_info.basic_type in _BASIC:
        return _BASIC[type_info.basic_type]
    raise InvalidProgramError("JSON cannot be read as this type", seen=type_info)


def _row_reader(type_info: RowTypeInfo, fail_on_missing: bool, inner: Callable[[TypeInformation], Reader]) -> Reader:
    names = type_info.get_field_names()
    fields = [(name, inner(part)) for name, part in zip(names, type_info.get_field_types())]

    def read(value: Any) -> Any:
        checked(value, dict, "an object")
        if fail_on_missing:
            for name in names:
                if name not in value:
                    raise ValueError(f"the field {name!r} is missing")
        get = value.get
        return named_rows(names, [[convert(get(name)) for name, convert in fields]])[0]

    return read


def checked(value: Any, kind: type, what: str) -> Any:
    """Return a value of JSON if it has this kind."""
    if not isinstance(value, kind):
        raise ValueError(f"{json_text(value)} is not {what}")
    return value


def json_text(value: Any) -> str:
    """Return a value as Jackson's `asText`, arrays and objects as compact JSON."""
    if type(value) is str:
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (float, decimal.Decimal)):
        return double_text(float(value))
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=float)
    return str(value)


def _boolean(value: Any) -> bool:
    return value if isinstance(value, bool) else isinstance(value, str) and value.strip().lower() == "true"


def _number_text(value: Any) -> str:
    if isinstance(value, (dict, list)):
        raise ValueError(f"{json_text(value)} is not a number")
    return json_text(value)


def _whole(bits: int, from_fractions: bool) -> Reader:
    limit = 1 << (bits - 1)
    read = java_parsing.whole_in(bits)

    def convert(value: Any) -> int:
        if type(value) is int and -limit <= value < limit:
            return value
        if from_fractions and isinstance(value, (float, decimal.Decimal)) and -limit <= value < limit:
            return int(value)
        return read(_number_text(value))

    return convert


def _double(value: Any) -> float:
    if type(value) is float:
        return value
    if type(value) in (int, decimal.Decimal):
        return float(value)
    return java_parsing.double(_number_text(value))


def _decimal(value: Any) -> decimal.Decimal:
    if type(value) is int:
        return decimal.Decimal(value)
    if isinstance(value, (float, decimal.Decimal)):
        number = decimal.Decimal(repr(value)) if isinstance(value, float) else value
        return decimal.Decimal(format(number.normalize(_EXACT), "f"))
    return java_parsing.decimal_number(_number_text(value))


_EXACT = decimal.Context(prec=2000, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def _big_int(value: Any) -> int:
    return value if type(value) is int else java_parsing.whole(_number_text(value))


def _bytes(value: Any) -> bytes | None:
    if not isinstance(value, str):
        return None
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as error:
        raise ValueError(f"not Base64: {value!r}: {error}") from None


def _instant(value: Any) -> Instant | None:
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return None
        if not _is_number(text):
            return java_parsing.instant(text)
        value = decimal.Decimal(text)
    if isinstance(value, bool) or not isinstance(value, (int, float, decimal.Decimal)):
        raise ValueError(f"{json_text(value)} is not a time")
    if not -_LAST_SECOND <= value <= _LAST_SECOND:
        raise ValueError(f"{value} is out of range")
    nanos = int(decimal.Decimal(repr(value) if isinstance(value, float) else value) * _NANOS)
    return Instant(*divmod(nanos, _NANOS))


def _is_number(text: str) -> bool:
    try:
        java_parsing.decimal_number(text)
    except ValueError:
        return False
    return True


def _string_only(read: Callable[[str], Any]) -> Reader:
    return lambda value: read(checked(value, str, "a string"))


_BASIC: dict[BasicType, Reader] = {
    BasicType.STRING: json_text,
    BasicType.BOOLEAN: _boolean,
    BasicType.BYTE: _whole(8, False),
    BasicType.SHORT: _whole(16, False),
    BasicType.INT: _whole(32, True),
    BasicType.LONG: _whole(64, True),
    BasicType.FLOAT: lambda value: java_parsing.narrow(_double(value)),
    BasicType.DOUBLE: _double,
    BasicType.BIG_DEC: _decimal,
    BasicType.BIG_INT: _big_int,
}
_PLAIN: list[tuple[TypeInformation, Reader]] = [
    (Types.SQL_DATE(), _string_only(java_parsing.date)),
    (Types.SQL_TIME(), _string_only(lambda text: java_parsing.time_of_day(text, "Z"))),
    (Types.SQL_TIMESTAMP(), _string_only(lambda text: java_parsing.timestamp(text, "T", "Z"))),
    (Types.INSTANT(), _instant),
]
