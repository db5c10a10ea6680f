"""The format `parquet`: columns, which stay columns from the file to the operators and back."""

from __future__ import annotations

from typing import IO, Any, BinaryIO

from headrace.formats.arrow_rows import pyarrow
from headrace.formats.bulk_writers import KeepOpen
from headrace.formats.column_files import BlockFile, ColumnFiles
from headrace.formats.parquet_files import ParquetFileBlocks
from headrace.operators.table.batches import TableColumns
from headrace.table.connectors.options import Option, Options, boolean
from headrace.table.formats.base import TableFormat, unsupported_type
from headrace.types import logical_types as t
from headrace.types.column_run import ColumnRun
from headrace.types.logical_types import DataType, RowType
from headrace.types.serialization import BulkWriter, BulkWriterFactory

_ROWS = 8192
_BLOCK_ROWS = 1 << 17
_NESTED = (t.ArrayType, t.MapType, t.MultisetType, t.RowType)
_CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "LZ4", "BROTLI")


class ParquetFormat(TableFormat):
    """Files of Apache Parquet."""

    identifier = "parquet"
    options = (
        Option("compression", str.upper, "SNAPPY", choices=_CODECS),
        Option("utc-timezone", boolean, False),
    )

    def reader(self, row_type: RowType, options: Options, time_zone: str) -> ParquetTable:
        """Return what reads the columns of a row type, by name."""
        return ParquetTable(row_type)

    def writer(self, row_type: RowType, options: Options, time_zone: str) -> BulkWriterFactory:
        """Return what writes files."""
        file_schema(row_type)  # refuses types that Parquet cannot have
        return BulkWriterFactory(MakeParquet(row_type, options["compression"]))


# -- the types of files -----------------------------------------------------------------------------------------------


def file_type(kind: DataType) -> Any:  # noqa: PLR0911 - one for each type
    """Return the pyarrow type of a column in files.

    >>> file_type(t.TimestampType(3)), file_type(t.DateType())
    (TimestampType(timestamp[ms]), DataType(date32[day]))
    """
    pa = pyarrow()
    match kind:
        case t.LocalZonedTimestampType(precision=precision):
            return pa.timestamp("ms" if precision <= 3 else "us", "UTC")
        case t.TimestampType(precision=precision):
            return pa.timestamp("ms" if precision <= 3 else "us")
        case t.TimeType():
            return pa.time32("ms")
        case t.ArrayType(element_type=element):
            return pa.list_(file_type(element))
        case t.MapType(key_type=key, value_type=value):
            return pa.map_(file_type(key), file_type(value))
        case t.MultisetType(element_type=element):
            return pa.map_(file_type(element), pa.int32())
        case t.RowType():
            return pa.struct([pa.field(each.name, file_type(each.data_type)) for each in kind.fields])
        case t.RawType() | t.YearMonthIntervalType() | t.DayTimeIntervalType():
            raise unsupported_type("parquet", kind)
    if type(kind) is t.DateType:
        return pa.date32()
    from headrace.operators.table.batches import arrow_type

    return arrow_type(kind)


def file_schema(row_type: RowType) -> Any:
    """Return the schema of files."""
    return pyarrow().schema([pyarrow().field(each.name, file_type(each.data_type)) for each in row_type.fields])


def inward(array: Any, kind: DataType) -> Any:
    """Convert a column of a file to the internal form."""
    pa = pyarrow()
    if isinstance(kind, _NESTED):
        array = _aligned(array)
    match kind:
        case t.TimestampType() | t.LocalZonedTimestampType():
            zone = array.type.tz if pa.types.is_timestamp(array.type) else None
            return array.cast(pa.timestamp("us", zone), safe=False).view(pa.int64())
        case t.TimeType():
            return array.cast(pa.time32("ms"), safe=False).view(pa.int32())
        case t.ArrayType(element_type=element):
            values = inward(array.values, element)
            return pa.ListArray.from_arrays(array.offsets, values, mask=_mask(array))
        case t.MapType(key_type=key, value_type=value):
            return _map(array, inward(array.keys, key), inward(array.items, value))
        case t.MultisetType(element_type=element):
            return _map(array, inward(array.keys, element), array.items.cast(pa.int32()))
        case t.RowType():
            parts = [inward(array.field(each.name), each.data_type) for each in kind.fields]
            names = [f"{index}" for index in range(len(parts))]
            return pa.StructArray.from_arrays(parts, names, mask=_mask(array))
    if type(kind) is t.DateType:
        return array.cast(pa.date32()).view(pa.int32())
    return array.cast(file_type(kind))


def outward(array: Any, kind: DataType) -> Any:
    """Convert a column in internal form to that of a file."""
    pa = pyarrow()
    wanted = file_type(kind)
    if isinstance(kind, _NESTED):
        array = _aligned(array)
    match kind:
        case t.TimestampType() | t.LocalZonedTimestampType():
            return array.view(pa.timestamp("us", wanted.tz)).cast(wanted, safe=False)
        case t.TimeType():
            return array.view(wanted)
        case t.ArrayType(element_type=element):
            return pa.ListArray.from_arrays(array.offsets, outward(array.values, element), mask=_mask(array))
        case t.MapType(key_type=key, value_type=value):
            return _map(array, outward(array.keys, key), outward(array.items, value))
        case t.MultisetType(element_type=element):
            return _map(array, outward(array.keys, element), array.items)
        case t.RowType():
            parts = [outward(array.field(index), each.data_type) for index, each in enumerate(kind.fields)]
            return pa.StructArray.from_arrays(parts, kind.field_names(), mask=_mask(array))
    return array.view(wanted) if type(kind) is t.DateType else array


def _mask(array: Any) -> Any:
    return array.is_null() if array.null_count else None


def _aligned(array: Any) -> Any:
    """Return an array that is not a slice of a longer one: parts of nested slices would not fit together."""
    return array.take(pyarrow().array(range(len(array)))) if array.offset else array


def _map(array: Any, keys: Any, items: Any) -> Any:
    pa = pyarrow()
    if not array.null_count:
        return pa.MapArray.from_arrays(array.offsets, keys, items)
    # Null maps are null offsets: the offset before each null entry is left out.
    valid = array.is_valid().to_pylist()
    offsets = array.offsets.to_pylist()
    marked = [offset if ok else None for offset, ok in zip(offsets, valid)] + [offsets[-1]]
    return pa.MapArray.from_arrays(pa.array(marked, pa.int32()), keys, items)


# -- reading ----------------------------------------------------------------------------------------------------------


class ParquetTable(ColumnFiles):
    """Reads columns of Parquet files as runs in internal form."""

    batch_rows = batch_records = 16384

    def __init__(self, row_type: RowType) -> None:
        """Set the columns to read."""
        self._row_type = row_type
        self._codec = TableColumns(row_type)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the type only."""
        return type(self), (self._row_type,)

    def open_file(self, file: IO[bytes]) -> BlockFile:
        """Open a file and read its footer."""
        return ParquetFileBlocks(file, self._row_type.field_names(), case_sensitive=True)

    def records(self, batch: Any) -> Any:
        """Return a run of columns."""
        arrays = [inward(column, each.data_type) for column, each in zip(batch.columns, self._row_type.fields)]
        return self._codec.of_arrays(arrays)


# -- writing ----------------------------------------------------------------------------------------------------------


class MakeParquet:
    """Creates the writer of one file."""

    def __init__(self, row_type: RowType, compression: str = "SNAPPY") -> None:
        """Set the columns."""
        self._row_type, self._compression = row_type, compression

    def __call__(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer."""
        return _TableWriter(self._row_type, self._compression, stream)


class _TableWriter(BulkWriter):
    """Collects rows and columns, and writes them as row groups."""

    def __init__(self, row_type: RowType, compression: str, stream: BinaryIO) -> None:
        self._row_type, self._schema = row_type, file_schema(row_type)
        self._codec = TableColumns(row_type)
        name = "NONE" if compression == "UNCOMPRESSED" else compression
        self._writer = pyarrow("pyarrow.parquet").ParquetWriter(KeepOpen(stream), self._schema, compression=name)
        self._rows: list[Any] = []
        self._batches: list[Any] = []
        self._count = 0

    def add_element(self, element: Any) -> None:
        self._rows.append(element)
        if len(self._rows) >= _ROWS:
            self._take_rows()

    def add_columns(self, run: ColumnRun) -> bool:
        """Add rows as columns."""
        self._take_rows()
        self._take(run.columns)
        return True

    def _take_rows(self) -> None:
        if self._rows:
            rows, self._rows = self._rows, []
            self._take(self._codec.batch(rows))

    def _take(self, batch: Any) -> None:
        arrays = [outward(column, each.data_type) for column, each in zip(batch.columns, self._row_type.fields)]
        self._batches.append(pyarrow().RecordBatch.from_arrays(arrays, schema=self._schema))
        self._count += batch.num_rows
        if self._count >= _BLOCK_ROWS:
            self.flush()

    def flush(self) -> None:
        self._take_rows()
        if self._batches:
            self._writer.write_table(pyarrow().Table.from_batches(self._batches))
            self._batches, self._count = [], 0

    def finish(self) -> None:
        self.flush()
        self._writer.close()


FORMAT = ParquetFormat()
