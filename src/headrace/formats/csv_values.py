"""Convert fields of CSV to values of a type and back, with Flink's conversions.

`reader_of` and `writer_of` convert fields of messages; `column_reader` and `column_writer` convert columns of files,
where decimal numbers are also rounded to the type of their column.
"""

from __future__ import annotations

import base64
import binascii
import datetime
from collections.abc import Callable
from typing import Any

from headrace.errors import InvalidProgramError
from headrace.types import java_parsing, typeinfo
from headrace.types.data_types import stream_type
from headrace.types.java_formatting import decimal_text, double_text, float_text
from headrace.types.logical_types import ArrayType, DataType, DecimalType
from headrace.types.row import named_rows
from headrace.types.time import Instant, utc_moment
from headrace.types.typeinfo import BasicType, TypeInformation, Types

Reader = Callable[[str], Any]
Writer = Callable[[Any], str]
_ARRAYS = (typeinfo.PrimitiveArrayTypeInfo, typeinfo.BasicArrayTypeInfo, typeinfo.ObjectArrayTypeInfo)


def reader_of(type_info: TypeInformation, separator: str = ";", null: str | None = None) -> Reader:
    """Return the function that parses a field; `separator` separates the elements of arrays and rows.

    >>> reader_of(Types.OBJECT_ARRAY(Types.INT()))("1;2")
    [1, 2]
    """
    return _null_reader(_reader(type_info, separator, null), null)


def _null_reader(read: Reader, null: str | None) -> Reader:
    return read if null is None else lambda text: None if text == null else read(text)


def _array_reader(element: Reader, separator: str) -> Reader:
    return lambda text: [element(part) for part in text.split(separator)] if text.strip() else []


def _reader(type_info: TypeInformation, separator: str, null: str | None) -> Reader:
    if type_info == Types.PRIMITIVE_ARRAY(Types.BYTE()):
        return _bytes
    if isinstance(type_info, typeinfo.RowTypeInfo):
        names = type_info.get_field_names()
        fields = [reader_of(part, separator, null) for part in type_info.get_field_types()]

        def row(text: str) -> Any:
            if not text.strip():
                return None
            parts = text.split(separator)
            if len(parts) != len(fields):
                raise ValueError(f"{len(fields)} fields expected but was {len(parts)}")
            return named_rows(names, [[read(part) for read, part in zip(fields, parts)]])[0]

        return row
    if isinstance(type_info, _ARRAYS):
        return _array_reader(reader_of(type_info.element_type, separator, null), separator)
    for known, read in _PLAIN_READERS:
        if type_info == known:
            return read
    if isinstance(type_info, typeinfo.BasicTypeInfo) and type_info.basic_type in _READERS:
        return _READERS[type_info.basic_type]
    raise InvalidProgramError("CSV has no fields of this type", seen=type_info)


def writer_of(type_info: TypeInformation, separator: str = ";", null: str = "") -> Writer:
    """Return the function that formats a field.

    >>> writer_of(Types.OBJECT_ARRAY(Types.INT()))([1, None, 3])
    '1;;3'
    """
    return _null_writer(_writer(type_info, separator, null), null)


def _null_writer(write: Writer, null: str) -> Writer:
    return lambda value: null if value is None else write(value)


def _array_writer(element: Writer, separator: str) -> Writer:
    return lambda value: separator.join([element(part) for part in value])


def _writer(type_info: TypeInformation, separator: str, null: str) -> Writer:
    if type_info == Types.PRIMITIVE_ARRAY(Types.BYTE()):
        return lambda value: base64.b64encode(value).decode()
    if isinstance(type_info, typeinfo.RowTypeInfo):
        fields = [writer_of(part, separator, null) for part in type_info.get_field_types()]
        return lambda row: separator.join([write(part) for write, part in zip(fields, row, strict=True)])
    if isinstance(type_info, _ARRAYS):
        return _array_writer(writer_of(type_info.element_type, separator, null), separator)
    for known, write in _PLAIN_WRITERS:
        if type_info == known:
            return write
    if isinstance(type_info, typeinfo.BasicTypeInfo) and type_info.basic_type in _WRITERS:
        return _WRITERS[type_info.basic_type]
    raise InvalidProgramError("CSV has no fields of this type", seen=type_info)


def column_reader(data_type: DataType, separator: str, null: str | None = None) -> Reader:
    """Return the function that parses a column; a number with too many digits becomes None.

    >>> from headrace.table import DataTypes
    >>> read = column_reader(DataTypes.ARRAY(DataTypes.DECIMAL(3, 1)), ";")
    >>> read("1;2.25;1000")
    [Decimal('1.0'), Decimal('2.3'), None]
    """
    if isinstance(data_type, DecimalType):
        fit = java_parsing.fitting(data_type.precision, data_type.scale)
        return _null_reader(lambda text: fit(java_parsing.decimal_number(text)), null)
    if isinstance(data_type, ArrayType):
        return _null_reader(_array_reader(column_reader(data_type.element_type, separator, null), separator), null)
    return reader_of(stream_type(data_type), separator, null)


def column_writer(data_type: DataType, separator: str, null: str = "") -> Writer:
    """Return the function that formats a column; a number with too many digits becomes null.

    >>> from decimal import Decimal
    >>> from headrace.table import DataTypes
    >>> write = column_writer(DataTypes.DECIMAL(3, 1), ";", "null")
    >>> write(Decimal("2.25")), write(Decimal("1.0")), write(Decimal(1000))
    ('2.3', '1', 'null')
    """
    if isinstance(data_type, DecimalType):
        fit, text = java_parsing.fitting(data_type.precision, data_type.scale), _null_writer(decimal_text, null)
        return _null_writer(lambda value: text(fit(value)), null)
    if isinstance(data_type, ArrayType):
        return _null_writer(_array_writer(column_writer(data_type.element_type, separator, null), separator), null)
    return writer_of(stream_type(data_type), separator, null)


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text.strip(), validate=True)
    except binascii.Error as error:
        raise ValueError(f"not Base64: {text!r}: {error}") from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value


def _whole(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is not an integer")
    return str(value)


def _stamp(value: datetime.datetime, whole: str) -> str:
    fraction = f".{value.microsecond:06}".rstrip("0") if value.microsecond else whole
    return f"{value:%Y-%m-%d %H:%M:%S}{fraction}"


def _zoned(value: Any) -> str:
    moment = utc_moment(value) if isinstance(value, Instant) else value.astimezone(datetime.timezone.utc)
    return _stamp(moment, "") + "Z"


_READERS: dict[BasicType, Reader] = {
    BasicType.STRING: str,
    BasicType.BOOLEAN: lambda text: text.strip().lower() == "true",
    BasicType.BYTE: java_parsing.whole_in(8),
    BasicType.SHORT: java_parsing.whole_in(16),
    BasicType.INT: java_parsing.whole_in(32),
    BasicType.LONG: java_parsing.whole_in(64),
    BasicType.FLOAT: java_parsing.float32,
    BasicType.DOUBLE: java_parsing.double,
    BasicType.BIG_DEC: java_parsing.decimal_number,
    BasicType.BIG_INT: java_parsing.whole,
}
_PLAIN_READERS: list[tuple[TypeInformation, Reader]] = [
    (Types.SQL_DATE(), java_parsing.date),
    (Types.SQL_TIME(), java_parsing.time_of_day),
    (Types.SQL_TIMESTAMP(), java_parsing.timestamp),
    (Types.INSTANT(), lambda text: java_parsing.instant(text, " ")),
    (typeinfo.LocalZonedTimestampTypeInfo(), lambda text: utc_moment(java_parsing.instant(text, " "))),
]
_WRITERS: dict[BasicType, Writer] = {
    BasicType.STRING: _text,
    BasicType.BOOLEAN: lambda value: "true" if value else "false",
    BasicType.BYTE: _whole,
    BasicType.SHORT: _whole,
    BasicType.INT: _whole,
    BasicType.LONG: _whole,
    BasicType.BIG_INT: _whole,
    BasicType.FLOAT: float_text,
    BasicType.DOUBLE: double_text,
    BasicType.BIG_DEC: lambda value: format(value, "f"),
}
_PLAIN_WRITERS: list[tuple[TypeInformation, Writer]] = [
    (Types.SQL_DATE(), lambda value: f"{value:%Y-%m-%d}"),
    (Types.SQL_TIME(), lambda value: f"{value:%H:%M:%S}"),
    (Types.SQL_TIMESTAMP(), lambda value: _stamp(value, ".0")),
    (Types.INSTANT(), _zoned),
    (typeinfo.LocalZonedTimestampTypeInfo(), _zoned),
]
