"""TableColumns: rows of a table as columns of pyarrow, in the internal form of values, and back.

Decides the pyarrow type of each column and how batches are packed for the exchange. The internal form of values is the one
that `headrace.table.functions.definition` describes. A batch of changes has one more column, `$kind`. pyarrow is imported
when the first batch is converted.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cached_property, lru_cache
from importlib.util import find_spec
from typing import Any

from headrace.foundation.extras import need
from headrace.types import logical_types as t
from headrace.types.column_run import ColumnRun
from headrace.types.sql_map import SqlMap

KIND = "$kind"
"""The name of the column with the kinds of changes."""
SMALL = 100
"""Runs with fewer rows are processed row by row: columns have a fixed cost per operation."""

Convert = Callable[[Any], Any]


def pyarrow(module: str = "pyarrow") -> Any:
    """Return pyarrow, or one of its modules."""
    return need(module, "table", "A table with columns")


def numpy() -> Any:
    """Return numpy."""
    return need("numpy", "table", "A table with columns")


def has_columns() -> bool:
    """Return whether pyarrow and numpy are installed; without them, tables work row by row."""
    return find_spec("pyarrow") is not None and find_spec("numpy") is not None


class TableColumns:
    """The codec of the runs of one table stream.

    >>> row_type = t.RowType((t.RowField("a", t.IntType()), t.RowField("b", t.ArrayType(t.VarCharType()))))
    >>> codec = TableColumns(row_type)
    >>> run = codec.run([(1, ("x", None)), (None, None)])
    >>> run.columns.schema.types, list(run)
    ([DataType(int32), ListType(list<item: string>)], [(1, ('x', None)), (None, None)])
    >>> list(TableColumns(row_type, kinds=True).run([(7, (), 3)]))
    [(7, (), 3)]
    """

    def __init__(self, row_type: t.RowType, kinds: bool = False) -> None:
        """Set the type of the rows, and whether the kind of the change follows the columns."""
        self.row_type, self.kinds = row_type, kinds

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as bytes, so that a receiver makes one codec for all runs of a stream."""
        return _codec, (self._pickled,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableColumns) and (other.row_type, other.kinds) == (self.row_type, self.kinds)

    def __hash__(self) -> int:
        return hash((self.row_type, self.kinds))

    @cached_property
    def _pickled(self) -> bytes:
        return pickle.dumps((self.row_type, self.kinds))

    @cached_property
    def schema(self) -> Any:
        """The pyarrow schema of a batch."""
        pa = pyarrow()
        fields = [pa.field(f"{i}", arrow_type(field.data_type)) for i, field in enumerate(self.row_type.fields)]
        return pa.schema([*fields, pa.field(KIND, pa.int8())] if self.kinds else fields)

    @cached_property
    def _types(self) -> Any:
        return self.schema.types

    @cached_property
    def _readers(self) -> list[Callable[[Any], list[Any]]]:
        readers = [_reader(field.data_type) for field in self.row_type.fields]
        return [*readers, _numbers] if self.kinds else readers

    @cached_property
    def _writers(self) -> list[Convert | None]:
        writers = [_to_arrow(field.data_type) for field in self.row_type.fields]
        return [*writers, None] if self.kinds else writers

    def rows(self, columns: Any) -> list[tuple[Any, ...]]:
        """Convert columns to rows."""
        if not self._readers:
            return [()] * columns.num_rows
        return list(zip(*[read(column) for read, column in zip(self._readers, columns.columns)]))

    def batch(self, rows: list[tuple[Any, ...]]) -> Any:
        """Convert rows to a record batch."""
        pa = pyarrow()
        if not self._writers:
            return empty_columns(len(rows))
        columns: list[Any] = list(zip(*rows)) if rows else [[] for _ in self._writers]
        arrays = []
        for values, convert, kind in zip(columns, self._writers, self._types):
            if convert is not None:
                values = [None if value is None else convert(value) for value in values]
            arrays.append(pa.array(values, kind))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def run(self, rows: list[tuple[Any, ...]]) -> ColumnRun:
        """Convert rows to a run of columns."""
        return ColumnRun(self.batch(rows), self)

    def of(self, batch: Any) -> ColumnRun:
        """Wrap a record batch, cast to the types of this table."""
        if batch.schema.types != self._types:
            arrays = [column.cast(kind) for column, kind in zip(batch.columns, self._types)]
            batch = pyarrow().RecordBatch.from_arrays(arrays, schema=self.schema)
        return ColumnRun(batch, self)

    def of_arrays(self, arrays: list[Any]) -> ColumnRun:
        """Wrap arrays of pyarrow."""
        return self.of(pyarrow().RecordBatch.from_arrays(arrays, names=self.schema.names))

    def pack(self, columns: Any) -> bytes:
        """Serialize columns; of a slice of a larger batch, only the slice."""
        return bytes(columns.serialize())

    def unpack(self, data: bytes) -> Any:
        """Deserialize columns, without copying them."""
        return pyarrow("pyarrow.ipc").read_record_batch(pyarrow().py_buffer(data), self.schema)


@lru_cache(maxsize=1024)
def _codec(pickled: bytes) -> TableColumns:
    row_type, kinds = pickle.loads(pickled)  # noqa: S301 - made by our own task
    return TableColumns(row_type, kinds)


def empty_columns(rows: int) -> Any:
    """Return a record batch of rows without columns."""
    pa = pyarrow()
    return pa.RecordBatch.from_struct_array(pa.array([{}] * rows, pa.struct([])))


def is_columnar(kind: t.DataType) -> bool:
    """Return whether values of a type can be in columns: all but Python objects of unknown types."""
    match kind:
        case t.RawType():
            return False
        case t.RowType():
            return all(is_columnar(field.data_type) for field in kind.fields)
        case t.ArrayType() | t.MultisetType():
            return is_columnar(kind.element_type)
        case t.MapType():
            return is_columnar(kind.key_type) and is_columnar(kind.value_type)
        case _:
            return True


_PLAIN = {
    t.BooleanType: "bool_",
    t.TinyIntType: "int8",
    t.SmallIntType: "int16",
    t.IntType: "int32",
    t.BigIntType: "int64",
    t.FloatType: "float32",
    t.DoubleType: "float64",
    t.CharType: "string",
    t.VarCharType: "string",
    t.BinaryType: "binary",
    t.VarBinaryType: "binary",
    t.DateType: "int32",
    t.TimeType: "int32",
    t.TimestampType: "int64",
    t.LocalZonedTimestampType: "int64",
    t.InstantType: "int64",
    t.YearMonthIntervalType: "int32",
    t.DayTimeIntervalType: "int64",
    t.NullType: "null",
}


def arrow_type(kind: t.DataType) -> Any:
    """Return the pyarrow type of the internal column form.

    >>> arrow_type(t.TimestampType(3)), arrow_type(t.DecimalType(10, 2))
    (DataType(int64), Decimal128Type(decimal128(10, 2)))
    """
    pa = pyarrow()
    match kind:
        case t.DecimalType():
            return pa.decimal128(kind.precision, kind.scale)
        case t.ArrayType():
            return pa.list_(arrow_type(kind.element_type))
        case t.MapType():
            return pa.map_(arrow_type(kind.key_type), arrow_type(kind.value_type))
        case t.MultisetType():
            return pa.map_(arrow_type(kind.element_type), pa.int32())
        case t.RowType():
            return pa.struct([pa.field(f"{i}", arrow_type(f.data_type)) for i, f in enumerate(kind.fields)])
        case _:
            return getattr(pa, _PLAIN[type(kind)])()


def values_reader(kind: t.DataType) -> Callable[[Any], list[Any]]:
    """Return the function from an array to the list of its values in internal form.

    >>> values_reader(t.ArrayType(t.IntType()))(pyarrow().array([[1], None]))
    [(1,), None]
    """
    return _reader(kind)


def array_maker(kind: t.DataType) -> Callable[[list[Any]], Any]:
    """Return the function from a list of values in internal form to an array.

    >>> array_maker(t.RowType((t.RowField("a", t.IntType()),)))([(1,), None]).to_pylist()
    [{'0': 1}, None]
    """
    pa, column, convert = pyarrow(), arrow_type(kind), _or_none(_to_arrow(kind))
    if convert is None:
        return lambda values: pa.array(values, column)
    return lambda values: pa.array([convert(value) for value in values], column)


_NUMBERS = ("int8", "int16", "int32", "int64", "float32", "float64")


def _reader(kind: t.DataType) -> Callable[[Any], list[Any]]:
    """Return a function that makes a list of internal values from an array."""
    if _PLAIN.get(type(kind)) in _NUMBERS:
        return _numbers
    convert = _from_arrow(kind)
    if convert is None:
        return lambda array: array.to_pylist()
    return lambda array: [None if value is None else convert(value) for value in array.to_pylist()]


def _numbers(array: Any) -> list[Any]:
    """Return numbers; through numpy, which is several times faster, if none is null."""
    return array.to_pylist() if array.null_count else array.to_numpy(zero_copy_only=False).tolist()  # type: ignore[no-any-return]


def _from_arrow(kind: t.DataType) -> Convert | None:
    """Return what turns a value of pyarrow's `to_pylist` into the internal form; None if it already has it."""
    match kind:
        case t.ArrayType():
            element = _or_none(_from_arrow(kind.element_type))
            return tuple if element is None else lambda values: tuple(map(element, values))
        case t.RowType():
            fields = [(f"{i}", _or_none(_from_arrow(f.data_type)) or _same) for i, f in enumerate(kind.fields)]
            return lambda value: tuple([convert(value[name]) for name, convert in fields])
        case t.MapType() | t.MultisetType():
            inner = kind.key_type if isinstance(kind, t.MapType) else kind.element_type
            key = _or_none(_from_arrow(inner)) or _same
            value = (_or_none(_from_arrow(kind.value_type)) if isinstance(kind, t.MapType) else None) or _same
            return lambda pairs: SqlMap((key(k), value(v)) for k, v in pairs)
        case _:
            return None


def _to_arrow(kind: t.DataType) -> Convert | None:
    """Return what turns an internal value into one that pyarrow takes; None if it takes the value itself."""
    match kind:
        case t.ArrayType():
            element = _or_none(_to_arrow(kind.element_type))
            return None if element is None else lambda values: list(map(element, values))
        case t.RowType():
            fields = [(f"{i}", _or_none(_to_arrow(f.data_type)) or _same) for i, f in enumerate(kind.fields)]
            return lambda row: {name: convert(value) for (name, convert), value in zip(fields, row)}
        case t.MapType() | t.MultisetType():
            inner = kind.key_type if isinstance(kind, t.MapType) else kind.element_type
            key = _or_none(_to_arrow(inner)) or _same
            value = (_or_none(_to_arrow(kind.value_type)) if isinstance(kind, t.MapType) else None) or _same
            return lambda pairs: [(key(k), value(v)) for k, v in pairs.items()]
        case _:
            return None


def _or_none(convert: Convert | None) -> Convert | None:
    return None if convert is None else lambda value: None if value is None else convert(value)


def _same(value: Any) -> Any:
    return value
