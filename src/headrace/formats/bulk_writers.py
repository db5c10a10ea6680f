"""Writers of files of columns through pyarrow: what Parquet and ORC share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO

from headrace.errors import TypeMismatchError
from headrace.formats.arrow_rows import columns_writer, pyarrow
from headrace.formats.file_values import fitted, has_char, padded
from headrace.formats.row_columns import RowColumns
from headrace.types.column_run import ColumnRun
from headrace.types.data_types import RowType
from headrace.types.serialization import BulkWriter

__all__ = ["ColumnWriter"]

_ROWS = 8192
_BLOCK_ROWS = 1 << 17
_BLOCK_BYTES = 64 << 20


class ColumnWriter(BulkWriter):
    """Gathers rows as columns and hands tables, the blocks of the file, to `write`; `close` writes its foot.

    With `pads` texts of CHAR have blanks up to their length.
    """

    def __init__(
        self, rows: RowType, write: Callable[[Any], None], close: Callable[[], None], pads: bool = False
    ) -> None:
        self._columns, self._write, self._close = RowColumns(rows), write, close
        self._made_of_rows = columns_writer(rows, padded if pads else fitted)
        self._only_rows = pads and has_char(rows)
        self._rows: list[Any] = []
        self._batches: list[Any] = []
        self._count = self._bytes = 0

    def add_element(self, element: Any) -> None:
        """Add a row."""
        self._rows.append(element)
        if len(self._rows) >= _ROWS:
            self._take_rows()

    def add_columns(self, run: ColumnRun) -> bool:
        """Add rows that are columns; False if these columns are not those of the file as they are."""
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
                    f"The column {field.name!r} is NOT NULL, and a value of it is null",
                    expected=str(field.type),
                    remedy="a decimal number with too many digits is null, too; else declare the column nullable",
                )
        self._batches.append(pyarrow().RecordBatch.from_arrays(columns.columns, schema=self._columns.schema))
        self._count += columns.num_rows
        self._bytes += columns.nbytes
        if self._count >= _BLOCK_ROWS or self._bytes >= _BLOCK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Hand over what was gathered."""
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
    """A stream that its writer cannot close: the sink does."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.closed = False

    def write(self, data: Any) -> int:
        if self._stream.closed:  # the part was abandoned, and its writer ends as it is collected
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
