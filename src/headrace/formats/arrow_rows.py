"""Convert pyarrow columns to rows and back: the common part of Parquet and ORC."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.config.configuration import Configuration
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.foundation.extras import need
from headrace.types import logical_types as types
from headrace.types.logical_types import DataType, RowType
from headrace.types.row import Row, named_rows
from headrace.types.time import Instant, instant_of, utc_moment

Convert = Callable[[Any], Any]
Change = Callable[[DataType], Convert | None]
_MILLIS = 3
_MICROS = 6


def pyarrow(module: str = "pyarrow") -> Any:
    """Return pyarrow, or one of its modules."""
    return need(module, "formats", "Parquet and ORC")


def row_type(given: object, what: str) -> RowType:
    """Check that the argument is a row type."""
    if not isinstance(given, RowType):
        raise TypeMismatchError(
            f"{what} takes a row type",
            seen=given,
            expected='DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT())])',
        )
    return given


def no_hadoop(configuration: Configuration | None, what: str) -> None:
    """Reject Hadoop settings, which would have no effect; an empty configuration is fine.

    >>> no_hadoop(Configuration(), "Parquet")
    """
    if configuration is not None and (not isinstance(configuration, Configuration) or configuration.to_dict()):
        raise InvalidProgramError(
            f"{what} files are read and written without Hadoop",
            seen=configuration,
            expected="no Hadoop settings",
            remedy="remove hadoop_config",
        )


def arrow_schema(rows: RowType) -> Any:
    """Return the pyarrow schema of rows.

    >>> from headrace.table import DataTypes
    >>> arrow_schema(DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())])).field("a").type
    DataType(int32)
    """
    return pyarrow().schema(
        [pyarrow().field(f.name, arrow_type(f.data_type), nullable=f.data_type.is_nullable) for f in rows.fields]
    )


def arrow_type(data_type: DataType) -> Any:
    """Return the pyarrow type of a column."""
    pa = pyarrow()
    if isinstance(data_type, RowType):
        return pa.struct([pa.field(f.name, arrow_type(f.data_type)) for f in data_type.fields])
    if isinstance(data_type, types.ArrayType):
        return pa.list_(arrow_type(data_type.element_type))
    if isinstance(data_type, types.MapType):
        return pa.map_(arrow_type(data_type.key_type), arrow_type(data_type.value_type))
    if isinstance(data_type, types.DecimalType):
        return pa.decimal128(data_type.precision, data_type.scale)
    if isinstance(data_type, (types.TimestampType, types.LocalZonedTimestampType)):
        unit = "ms" if data_type.precision <= _MILLIS else "us" if data_type.precision <= _MICROS else "ns"
        return pa.timestamp(unit, "UTC" if isinstance(data_type, types.LocalZonedTimestampType) else None)
    plain = {
        types.BooleanType: pa.bool_,
        types.TinyIntType: pa.int8,
        types.SmallIntType: pa.int16,
        types.IntType: pa.int32,
        types.BigIntType: pa.int64,
        types.FloatType: pa.float32,
        types.DoubleType: pa.float64,
        types.CharType: pa.string,
        types.VarCharType: pa.string,
        types.BinaryType: pa.binary,
        types.VarBinaryType: pa.binary,
        types.DateType: pa.date32,
        types.TimeType: lambda: pa.time32("ms"),
    }.get(type(data_type))
    if plain is None:
        raise InvalidProgramError("Files cannot have columns of this type", seen=data_type)
    return plain()


def columns_reader(rows: RowType) -> Callable[[Any], list[Row]]:
    """Return the function that converts a pyarrow record batch to rows."""
    names = rows.field_names()
    schema = arrow_schema(rows)
    converters = [_from_arrow(part) for part in rows.field_types()]

    def read(batch: Any) -> list[Row]:
        columns = []
        for name, convert in zip(names, converters):
            column = batch.column(name)
            wanted = schema.field(name).type
            values = (column if column.type == wanted else column.cast(wanted)).to_pylist()
            columns.append(values if convert is None else [None if v is None else convert(v) for v in values])
        return named_rows(names, [list(values) for values in zip(*columns)])

    return read


def columns_writer(rows: RowType, change: Change = lambda _: None) -> Callable[[list[Any]], Any]:
    """Return the function that converts rows to a pyarrow record batch; `change` converts values by type."""
    schema = arrow_schema(rows)
    converters = [_to_arrow(part, change) for part in rows.field_types()]

    def write(values: list[Any]) -> Any:
        pa = pyarrow()
        columns = list(zip(*values)) if values else [()] * len(rows)
        arrays = []
        for index, (field, column) in enumerate(zip(schema, columns)):
            convert = converters[index]
            try:
                plain = column if convert is None else [None if v is None else convert(v) for v in column]
                arrays.append(pa.array(plain, field.type))
            except (ValueError, TypeError, AttributeError, OverflowError) as error:
                raise TypeMismatchError(
                    f"A value of field {field.name!r} does not have the type of its column: {error}",
                    expected=str(field.type),
                ) from None
        return pa.record_batch(arrays, schema=schema)

    return write


def _from_arrow(data_type: DataType) -> Convert | None:
    if isinstance(data_type, RowType):
        names = data_type.field_names()
        parts = [_from_arrow(part) or _same for part in data_type.field_types()]
        return lambda v: named_rows(names, [[None if v[n] is None else c(v[n]) for n, c in zip(names, parts)]])[0]
    if isinstance(data_type, types.ArrayType):
        element = _from_arrow(data_type.element_type)
        return None if element is None else lambda v: [None if e is None else element(e) for e in v]
    if isinstance(data_type, types.MapType):
        key, value = _from_arrow(data_type.key_type) or _same, _from_arrow(data_type.value_type) or _same
        return lambda v: {key(k): None if e is None else value(e) for k, e in v}
    if isinstance(data_type, types.InstantType):
        return instant_of
    return None


def _to_arrow(data_type: DataType, change: Change) -> Convert | None:
    if isinstance(data_type, RowType):
        names = data_type.field_names()
        parts = [_to_arrow(part, change) or _same for part in data_type.field_types()]
        return lambda v: {n: None if e is None else c(e) for n, c, e in zip(names, parts, v)}
    if isinstance(data_type, types.ArrayType):
        element = _to_arrow(data_type.element_type, change)
        return None if element is None else lambda v: [None if e is None else element(e) for e in v]
    if isinstance(data_type, types.MapType):
        key, value = _to_arrow(data_type.key_type, change) or _same, _to_arrow(data_type.value_type, change) or _same
        return lambda v: [(key(k), None if e is None else value(e)) for k, e in v.items()]
    if isinstance(data_type, types.LocalZonedTimestampType):
        return _moment
    return change(data_type)


def _same(value: Any) -> Any:
    return value


def _moment(value: Any) -> Any:
    return utc_moment(value) if isinstance(value, Instant) else value
