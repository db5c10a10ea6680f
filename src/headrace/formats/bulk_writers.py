"""Write columnar files with pyarrow: the common part of Parquet and ORC."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO

from headrace.errors import TypeMismatchError
from headrace.formats.arrow_rows import columns_writer, pyarrow
from headrace.formats.row_columns import RowColumns
from headrace.types.column_run import ColumnRun
from headrace.types.java_parsing import fitting
from headrace.types.logical_types import ArrayType, CharType, DataType, DecimalType, MapType, RowType
from headrace.types.serialization import BulkWriter

_ROWS = 8192
_BLOCK_ROWS = 1 << 17
_BLOCK_BYTES = 64 << 20


class ColumnWriter(BulkWriter):
    """Collects rows as columns and passes tables, the blocks of the file, to `write`; `close` writes the footer.

    With `pads`, strings of CHAR are padded with blanks to their length.
    """

    def __init__(
        self, rows: RowType, write: Callable[[Any], None], close: Callable[[], None], pads: bool = False
    ) -> None:
        self._columns, self._write, self._close = RowColumns(rows), write, close
        self._made_of_rows = columns_writer(rows, _padded if pads else _fitted)
        self._only_rows = pads and _has_char(rows)
        self._rows: list[Any] = []
        self._batches: list[Any] = []
        self._count = self._bytes = 0

    def add_element(self, element: Any) -> None:
        """Add a row."""
        self._rows.append(element)
        if len(self._rows) >= _ROWS:
            self._take_rows()

    def add_columns(self, run: ColumnRun) -> bool:
        """Add rows as columns. Return False if the columns do not have the types of the file."""
        if self._only_rows or not self._columns.fits(run):
            return False
        self._take_rows()
        self._take(run.columns)
        return True

    def _take_rows(self) -> None:
        if self._rows:
            rows, self._rows = self._rows, []
            self._take(self._made_of_rows(rows))

    def _take(self, columns: Any) -> None:
        for field, column in zip(self._columns.schema, columns.columns):
            if column.null_count and not field.nullable:
                raise TypeMismatchError(
                    f"The column {field.name!r} is NOT NULL and has a null value",
                    expected=str(field.type),
                    remedy="declare the column nullable; a decimal number with too many digits also becomes null",
                )
        self._batches.append(pyarrow().RecordBatch.from_arrays(columns.columns, schema=self._columns.schema))
        self._count += columns.num_rows
        self._bytes += columns.nbytes
        if self._count >= _BLOCK_ROWS or self._bytes >= _BLOCK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write the collected rows."""
        self._take_rows()
        if self._batches:
            table = pyarrow().Table.from_batches(self._batches)
            self._batches, self._count, self._bytes = [], 0, 0
            self._write(table)

    def finish(self) -> None:
        """Write the end of the file."""
        self.flush()
        self._close()


class KeepOpen:
    """A stream that the writer of pyarrow cannot close, because the sink does."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.closed = False

    def write(self, data: Any) -> int:
        if self._stream.closed:  # the part was abandoned, and its writer is being garbage-collected
            return len(data)
        return self._stream.write(bytes(data))

    def flush(self) -> None:
        self._stream.flush()

    def tell(self) -> int:
        return self._stream.tell()

    def close(self) -> None:
        self.closed = True

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False


def _fitted(data_type: DataType) -> Callable[[Any], Any] | None:
    """Return the function that rounds decimal numbers to the type of their column, or None for other types.

    >>> from headrace.table import DataTypes
    >>> _fitted(DataTypes.DECIMAL(2, 0))(1.5), _fitted(DataTypes.INT())
    (Decimal('2'), None)
    """
    return fitting(data_type.precision, data_type.scale) if isinstance(data_type, DecimalType) else None


def _padded(data_type: DataType) -> Callable[[Any], Any] | None:
    """Return the function for values of ORC, which also pads strings of CHAR with blanks to their length.

    >>> from headrace.table import DataTypes
    >>> _padded(DataTypes.CHAR(3))("a")
    'a  '
    """
    if not isinstance(data_type, CharType):
        return _fitted(data_type)
    length = data_type.length
    return lambda text: text.ljust(length)


def _has_char(data_type: DataType) -> bool:
    """Return whether a type contains a CHAR.

    >>> from headrace.table import DataTypes
    >>> _has_char(DataTypes.ARRAY(DataTypes.CHAR(3))), _has_char(DataTypes.STRING())
    (True, False)
    """
    if isinstance(data_type, RowType):
        return any(map(_has_char, data_type.field_types()))
    if isinstance(data_type, ArrayType):
        return _has_char(data_type.element_type)
    if isinstance(data_type, MapType):
        return _has_char(data_type.key_type) or _has_char(data_type.value_type)
    return isinstance(data_type, CharType)
