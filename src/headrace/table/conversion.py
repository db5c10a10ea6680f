"""Convert values between Python objects of programs and the internal form of tables.

Programs see what PyFlink's do: `datetime` objects, `Decimal`, `Row`, lists and dicts. A program's value that does not have
the type of its column raises a TypeMismatchError that names the column. TIMESTAMP_LTZ values are instants: programs see
them as `datetime` of UTC, and a naive `datetime` is read in the session's time zone.
"""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any
from zoneinfo import ZoneInfo

from headrace.errors import TypeMismatchError
from headrace.table.functions.definition import SqlMap
from headrace.types import logical_types as t
from headrace.types.logical_types import DataType, RowType
from headrace.types.row import Row, RowKind
from headrace.types.time import Instant

Convert = Callable[[Any], Any]

_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_UTC = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_FIRST_DAY = datetime.date(1970, 1, 1).toordinal()
_MICROSECOND = datetime.timedelta(microseconds=1)
_KINDS = tuple(RowKind)
_BITS: dict[type[DataType], int] = {t.TinyIntType: 8, t.SmallIntType: 16, t.IntType: 32, t.BigIntType: 64}


# -- to the internal form ---------------------------------------------------------------------------------------------


def to_internal(data_type: DataType, time_zone: str = "UTC") -> Convert:
    """Return the function that converts a program's value, None included.

    >>> to_internal(t.DateType())(datetime.date(1970, 1, 3)), to_internal(t.ArrayType(t.IntType()))([1, None])
    (2, (1, None))
    >>> to_internal(t.TimestampType(3))(datetime.datetime(1970, 1, 1, 0, 0, 1, 234567))
    1234000
    >>> to_internal(t.IntType().not_null())("a")
    Traceback (most recent call last):
    ...
    headrace.errors.TypeMismatchError: A value does not have the type of its column [TYPE_MISMATCH]
      seen:     a
      expected: INT NOT NULL
    """
    convert = _inward(data_type, time_zone)
    nullable = data_type.is_nullable

    def checked(value: Any) -> Any:
        if value is None:
            if nullable:
                return None
            raise _mismatch(data_type, value)
        try:
            return convert(value)
        except TypeMismatchError:
            raise
        except (TypeError, ValueError, OverflowError, AttributeError, InvalidOperation, struct.error):
            raise _mismatch(data_type, value) from None

    return checked


def _mismatch(data_type: DataType, value: Any) -> TypeMismatchError:
    from headrace.table.functions.type_text import sql_text

    if value is None:
        return TypeMismatchError("A column that is NOT NULL has a null value", expected=sql_text(data_type))
    return TypeMismatchError("A value does not have the type of its column", seen=value, expected=sql_text(data_type))


def _inward(kind: DataType, time_zone: str) -> Convert:  # noqa: PLR0911 - one for each type
    match kind:
        case t.RowType():
            return _row_in(kind, time_zone)
        case t.ArrayType(element_type=element):
            each = to_internal(element, time_zone)
            return lambda value: tuple(map(each, _collection(value)))
        case t.MapType(key_type=key, value_type=value_type):
            key_in, value_in = to_internal(key, time_zone), to_internal(value_type, time_zone)
            return lambda value: SqlMap((key_in(k), value_in(v)) for k, v in value.items())
        case t.MultisetType(element_type=element):
            each = to_internal(element, time_zone)
            return lambda value: SqlMap((each(k), int(v)) for k, v in value.items())
        case t.DecimalType(precision=precision, scale=scale):
            return _decimal_in(precision, scale)
        case t.TimestampType(precision=precision):
            return _timestamp_in(precision)
        case t.LocalZonedTimestampType(precision=precision):
            return _instant_in(precision, time_zone)
        case t.TimeType(precision=precision):
            return _time_in(precision)
        case t.CharType() | t.VarCharType():
            return _text
        case t.BinaryType() | t.VarBinaryType():
            return lambda value: bytes(value) if not isinstance(value, (int, str)) else _wrong()
        case t.YearMonthIntervalType():
            return _whole
        case t.DayTimeIntervalType():
            return lambda value: value // datetime.timedelta(milliseconds=1)
    return _plain_in(kind)


def _plain_in(kind: DataType) -> Convert:
    bits = _BITS.get(type(kind))
    if bits is not None:
        least, most = -(1 << bits - 1), (1 << bits - 1) - 1
        return lambda value: whole if least <= (whole := _whole(value)) <= most else _wrong()
    if type(kind) is t.BooleanType:
        return lambda value: value if isinstance(value, bool) else bool(_numpy(value, "b"))
    if type(kind) is t.DoubleType:
        return _number
    if type(kind) is t.FloatType:
        return lambda value: single(_number(value))
    if type(kind) is t.DateType:
        return _date_in
    return lambda value: value


def _row_in(kind: RowType, time_zone: str) -> Convert:
    names = kind.field_names()
    fields = [_named(name, to_internal(part, time_zone)) for name, part in zip(names, kind.field_types())]
    count = len(fields)

    def convert(value: Any) -> tuple[Any, ...]:
        if isinstance(value, Row):
            value = value.get_fields_by_names(names)
        elif isinstance(value, Mapping):
            value = [value.get(name) for name in names]
        elif not isinstance(value, (tuple, list)):
            value = [getattr(value, name) for name in names]
        if len(value) != count:
            raise TypeMismatchError(
                f"A row has {len(value)} fields instead of {count}", seen=value, expected=", ".join(names)
            )
        return tuple([function(each) for function, each in zip(fields, value)])

    return convert


def _named(name: str, convert: Convert) -> Convert:
    def call(value: Any) -> Any:
        try:
            return convert(value)
        except TypeMismatchError as error:
            if " in field " in error.message:
                raise
            raise TypeMismatchError(
                f"{error.message}, in field '{name}'", seen=error.seen, expected=error.expected
            ) from None

    return call


def _wrong() -> Any:
    raise ValueError


def _numpy(value: Any, kinds: str) -> Any:
    """Return the Python number of a numpy scalar of some kinds."""
    dtype = getattr(value, "dtype", None)
    return value.item() if dtype is not None and dtype.kind in kinds else _wrong()


def _whole(value: Any) -> int:
    if type(value) is int:
        return value
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else int(_numpy(value, "iu"))


def _number(value: Any) -> float:
    if isinstance(value, (float, int)) and not isinstance(value, bool):
        return float(value)
    return float(_numpy(value, "fiu"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _wrong()


def single(value: float) -> float:
    """Return the nearest number of 32 bits; infinite if it is too large.

    >>> single(0.1), single(1e300)
    (0.10000000149011612, inf)
    """
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _decimal_in(precision: int, scale: int) -> Convert:
    step = Decimal(1).scaleb(-scale)
    limit = Decimal(10) ** (precision - scale)

    def convert(value: Any) -> Decimal | None:
        if isinstance(value, bool) or not isinstance(value, (Decimal, int)):
            _wrong()
        rounded = Decimal(value).quantize(step, rounding=ROUND_HALF_UP)
        return rounded if abs(rounded) < limit else None  # as in Flink, a number with too many digits becomes null

    return convert


def _date_in(value: Any) -> int:
    if isinstance(value, datetime.datetime):
        value = value.date()
    return value.toordinal() - _FIRST_DAY if isinstance(value, datetime.date) else _wrong()


def _time_in(precision: int) -> Convert:
    unit = 10 ** max(3 - precision, 0)

    def convert(value: Any) -> int:
        if not isinstance(value, datetime.time):
            _wrong()
        millis = ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000
        return int(millis - millis % unit)

    return convert


def _timestamp_in(precision: int) -> Convert:
    unit = 10 ** max(6 - precision, 0)

    def convert(value: Any) -> int:
        if isinstance(value, datetime.datetime):
            micros = (value.replace(tzinfo=None) - _EPOCH) // _MICROSECOND
        elif isinstance(value, Instant):
            micros = value.seconds * 1_000_000 + value.nanos // 1000
        else:
            _wrong()
        return int(micros - micros % unit)

    return convert


def _instant_in(precision: int, time_zone: str) -> Convert:
    unit = 10 ** max(6 - precision, 0)
    zone = zone_of(time_zone)

    def convert(value: Any) -> int:
        if isinstance(value, datetime.datetime):
            aware = value if value.tzinfo is not None else value.replace(tzinfo=zone)
            micros = (aware - _EPOCH_UTC) // _MICROSECOND
        elif isinstance(value, Instant):
            micros = value.seconds * 1_000_000 + value.nanos // 1000
        else:
            _wrong()
        return int(micros - micros % unit)

    return convert


def zone_of(name: str) -> datetime.tzinfo:
    """Return a time zone by its name; `GMT+08:00` and `UTC` are known without a database.

    >>> zone_of("GMT+08:00").utcoffset(None)
    datetime.timedelta(seconds=28800)
    """
    if name in ("UTC", "Z", "GMT"):
        return datetime.timezone.utc
    text = name.removeprefix("GMT").removeprefix("UTC")
    if text[:1] in ("+", "-"):
        hours, _, minutes = text[1:].partition(":")
        offset = datetime.timedelta(hours=int(hours), minutes=int(minutes or 0))
        return datetime.timezone(-offset if text[0] == "-" else offset)
    return ZoneInfo(name)


def _collection(value: Any) -> Iterable[Any]:
    if isinstance(value, (list, tuple)):
        return value
    elements: Iterable[Any] = value.tolist() if hasattr(value, "dtype") else _wrong()
    return elements


# -- to the form of programs ------------------------------------------------------------------------------------------


def to_external(data_type: DataType) -> Convert | None:
    """Return the function that converts an internal value, None if both forms are the same.

    >>> to_external(t.DateType())(2), to_external(t.IntType()) is None
    (datetime.date(1970, 1, 3), True)
    >>> to_external(t.RowType((t.RowField("a", t.DateType()), t.RowField("b", t.IntType()))))((1, 2))
    Row(a=datetime.date(1970, 1, 2), b=2)
    """
    convert = _outward(data_type)
    if convert is None:
        return None
    return lambda value: None if value is None else convert(value)


def _outward(kind: DataType) -> Convert | None:  # noqa: PLR0911 - one for each type
    match kind:
        case t.RowType():
            return row_reader(kind)
        case t.ArrayType(element_type=element):
            each = to_external(element)
            return list if each is None else lambda value: list(map(each, value))
        case t.MapType(key_type=key, value_type=value_type):
            key_out, value_out = to_external(key) or _same, to_external(value_type) or _same
            return lambda value: {key_out(k): value_out(v) for k, v in value.items()}
        case t.MultisetType(element_type=element):
            element_out = to_external(element) or _same
            return lambda value: {element_out(k): v for k, v in value.items()}
        case t.LocalZonedTimestampType():
            return lambda value: _EPOCH_UTC + datetime.timedelta(microseconds=value)
        case t.TimestampType():
            return lambda value: _EPOCH + datetime.timedelta(microseconds=value)
        case t.TimeType():
            return _time_out
        case t.DayTimeIntervalType():
            return lambda value: datetime.timedelta(milliseconds=value)
    if type(kind) is t.DateType:
        return lambda value: datetime.date.fromordinal(value + _FIRST_DAY)
    return None


def _same(value: Any) -> Any:
    return value


def _time_out(value: int) -> datetime.time:
    seconds, millis = divmod(value, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return datetime.time(hour, minute, second, millis * 1000)


def row_reader(row_type: RowType, kinds: bool = False) -> Callable[[Sequence[Any]], Row]:
    """Return the function that makes a `Row` of an internal row; with `kinds` the last element is the row's kind.

    >>> row_reader(t.RowType((t.RowField("a", t.IntType()),)), kinds=True)((1, 3)).get_row_kind()
    <RowKind.DELETE: 3>
    """
    names = row_type.field_names()
    outward = [(index, convert) for index, part in enumerate(row_type.field_types()) if (convert := to_external(part))]

    def read(values: Sequence[Any]) -> Row:
        parts = list(values)
        kind = _KINDS[parts.pop()] if kinds else None
        for index, convert in outward:
            parts[index] = convert(parts[index])
        row = Row(*parts)
        row.set_field_names(names)
        if kind is not None:
            row.set_row_kind(kind)
        return row

    return read


def row_writer(row_type: RowType, time_zone: str = "UTC", kinds: bool = False) -> Callable[[Any], tuple[Any, ...]]:
    """Return the function that makes an internal row of a `Row`, tuple, list or dict; with `kinds` its kind is added.

    >>> row_writer(t.RowType((t.RowField("a", t.IntType()),)), kinds=True)(Row.of_kind(RowKind.DELETE, 1))
    (1, 3)
    >>> row_writer(t.RowType((t.RowField("a", t.DateType()),)))((datetime.date(1970, 1, 2),))
    (1,)
    """
    convert = _row_in(row_type, time_zone)
    if not kinds:
        return convert
    return lambda row: (*convert(row), row.get_row_kind().value if isinstance(row, Row) else 0)
