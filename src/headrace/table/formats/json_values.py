"""Convert JSON values to the internal form of a type and back, with Flink's conversions."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from headrace.formats.json_reading import checked, json_text
from headrace.table.formats import times
from headrace.table.formats.base import unsupported_type
from headrace.types import java_parsing
from headrace.types import logical_types as t
from headrace.types.java_formatting import double_text
from headrace.types.logical_types import DataType, RowType
from headrace.types.sql_map import SqlMap

Convert = Callable[[Any], Any]
_FAILURES = (ValueError, TypeError, ArithmeticError, KeyError, AttributeError)


@dataclass(frozen=True)
class JsonSettings:
    """The options of the format."""

    fail_on_missing: bool = False
    ignore_errors: bool = False
    iso: bool = False
    null_key: str = "FAIL"
    null_key_literal: str = "null"
    plain_decimals: bool = False
    ignore_nulls: bool = False


# -- reading ----------------------------------------------------------------------------------------------------------


def json_reader(kind: DataType, settings: JsonSettings) -> Convert:
    """Return the function that converts a value of `json.loads`; None stays None.

    >>> json_reader(t.IntType(), JsonSettings())(" 12 "), json_reader(t.VarCharType(), JsonSettings())({"a": 1})
    (12, '{"a":1}')
    """
    convert = _reader(kind, settings)
    if not settings.ignore_errors:
        return lambda value: None if value is None else convert(value)

    def tolerant(value: Any) -> Any:
        try:
            return None if value is None else convert(value)
        except _FAILURES:
            return None

    return tolerant


def _reader(kind: DataType, settings: JsonSettings) -> Convert:
    match kind:
        case t.RowType():
            return row_reader(kind, settings)
        case t.ArrayType(element_type=element):
            each = json_reader(element, settings)
            return lambda value: tuple([each(part) for part in checked(value, list, "an array")])
        case t.MapType(key_type=key, value_type=value_type):
            if not isinstance(key, (t.VarCharType, t.CharType)):
                raise unsupported_type("json", kind)
            value_in = json_reader(value_type, settings)
            return lambda value: SqlMap((k, value_in(v)) for k, v in checked(value, dict, "an object").items())
        case t.MultisetType(element_type=element):
            if not isinstance(element, (t.VarCharType, t.CharType)):
                raise unsupported_type("json", kind)
            count = json_reader(t.IntType(), settings)
            return lambda value: SqlMap((k, count(v)) for k, v in checked(value, dict, "an object").items())
        case t.DecimalType(precision=precision, scale=scale):
            fit = java_parsing.fitting(precision, scale)
            return lambda value: fit(_decimal(value))
        case t.TimestampType() | t.LocalZonedTimestampType():
            read = times.timestamp_reader(kind, settings.iso)
            return lambda value: read(json_text(value))
    plain = _PLAIN.get(type(kind))
    if plain is None:
        raise unsupported_type("json", kind)
    return plain


def row_reader(kind: RowType, settings: JsonSettings) -> Convert:
    """Return the function that makes a row of a JSON object."""
    fields = [(name, json_reader(part, settings)) for name, part in zip(kind.field_names(), kind.field_types())]
    demanded = settings.fail_on_missing

    def read(value: Any) -> tuple[Any, ...]:
        checked(value, dict, "an object")
        row = []
        for name, convert in fields:
            if demanded and name not in value:
                raise ValueError(f"Could not find field with name '{name}'")
            try:
                row.append(convert(value.get(name)))
            except _FAILURES as error:
                raise ValueError(f"Fail to deserialize at field: {name}: {error}") from None
        return tuple(row)

    return read


def _scalar(value: Any) -> str:
    if isinstance(value, (dict, list)):
        raise ValueError(f"{json_text(value)} is not a number")
    return json_text(value)


def _whole(bits: int, from_fractions: bool) -> Convert:
    limit = 1 << (bits - 1)
    read = java_parsing.whole_in(bits)

    def convert(value: Any) -> int:
        if type(value) is int and -limit <= value < limit:
            return value
        if from_fractions and isinstance(value, float) and -limit <= value < limit:
            return int(value)
        return read(_scalar(value))

    return convert


def _double(value: Any) -> float:
    return float(value) if type(value) in (float, int) else java_parsing.double(_scalar(value))


def _decimal(value: Any) -> Decimal:
    return Decimal(value) if type(value) is int else java_parsing.decimal_number(_scalar(value))


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(checked(value, str, "a Base64 text"), validate=True)
    except binascii.Error as error:
        raise ValueError(f"not Base64: {value!r}: {error}") from None


def _boolean(value: Any) -> bool:
    return value if isinstance(value, bool) else json_text(value).strip().lower() == "true"


_PLAIN: dict[type[DataType], Convert] = {
    t.BooleanType: _boolean,
    t.TinyIntType: _whole(8, False),
    t.SmallIntType: _whole(16, False),
    t.IntType: _whole(32, True),
    t.BigIntType: _whole(64, True),
    t.FloatType: lambda value: java_parsing.narrow(_double(value)),
    t.DoubleType: _double,
    t.CharType: json_text,
    t.VarCharType: json_text,
    t.BinaryType: _bytes,
    t.VarBinaryType: _bytes,
    t.DateType: lambda value: times.date_of(json_text(value)),
    t.TimeType: lambda value: times.time_of(json_text(value)),
    t.NullType: lambda value: None,
}


# -- writing ----------------------------------------------------------------------------------------------------------


def json_writer(kind: DataType, settings: JsonSettings) -> Convert:
    """Return the function that makes a value that `msgspec.json` encodes; None stays None.

    >>> json_writer(t.RowType((t.RowField("a", t.DateType()), t.RowField("b", t.IntType()))), JsonSettings())((1, None))
    {'a': '1970-01-02', 'b': None}
    """
    convert = _writer(kind, settings)
    return lambda value: None if value is None else convert(value)


def _writer(kind: DataType, settings: JsonSettings) -> Convert:
    match kind:
        case t.RowType():
            return _row_writer(kind, settings)
        case t.ArrayType(element_type=element):
            each = json_writer(element, settings)
            return lambda value: [each(part) for part in value]
        case t.MapType(key_type=key, value_type=value_type):
            return _map_writer(kind, key, json_writer(value_type, settings), settings)
        case t.MultisetType(element_type=element):
            return _map_writer(kind, element, _same, settings)
        case t.TimestampType() | t.LocalZonedTimestampType():
            return times.timestamp_writer(kind, settings.iso)
        case t.DecimalType():
            return _number_writer(settings.plain_decimals)
        case t.BinaryType() | t.VarBinaryType():
            return lambda value: base64.b64encode(value).decode()
        case t.RawType() | t.YearMonthIntervalType() | t.DayTimeIntervalType():
            raise unsupported_type("json", kind)
    return _TEXTS.get(type(kind), _same)


_TEXTS: dict[type[DataType], Convert] = {
    t.DateType: times.date_text,
    t.TimeType: times.time_text,
    t.FloatType: lambda value: _raw_number(_float_number(value)),
    t.DoubleType: lambda value: _raw_number(double_text(value)),
}


def _same(value: Any) -> Any:
    return value


def _float_number(value: float) -> str:
    from headrace.types.java_formatting import float_text

    return float_text(value)


def _raw_number(text: str) -> Any:
    """Return a number exactly as written; NaN and infinities become texts, as in Flink."""
    import msgspec

    return text if text[-1].isalpha() else msgspec.Raw(text.encode())


def _number_writer(plain: bool) -> Convert:
    import msgspec

    return lambda value: msgspec.Raw((format(value, "f") if plain else str(value)).encode())


def _row_writer(kind: RowType, settings: JsonSettings) -> Convert:
    fields = [(name, json_writer(part, settings)) for name, part in zip(kind.field_names(), kind.field_types())]
    if settings.ignore_nulls:
        return lambda row: {name: convert(value) for (name, convert), value in zip(fields, row) if value is not None}
    return lambda row: {name: convert(value) for (name, convert), value in zip(fields, row)}


def _map_writer(kind: DataType, key: DataType, value: Convert, settings: JsonSettings) -> Convert:
    if not isinstance(key, (t.VarCharType, t.CharType)):
        raise unsupported_type("json", kind)
    mode, literal = settings.null_key, settings.null_key_literal

    def write(entries: dict[Any, Any]) -> dict[str, Any]:
        written = {}
        for name, each in entries.items():
            if name is None:
                if mode == "DROP":
                    continue
                if mode == "FAIL":
                    raise ValueError(
                        "JSON format doesn't support to serialize map data with null keys. You can drop null key "
                        "entries or encode null in literals by specifying json.map-null-key.mode option."
                    )
                name = literal
            written[name] = value(each)
        return written

    return write
