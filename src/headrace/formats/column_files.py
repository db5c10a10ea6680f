"""Read columnar files in blocks (Parquet's row groups, ORC's stripes) and write them, with pyarrow.

A position is (block, rows of it that were read). Large files are split between blocks.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any, BinaryIO

from headrace.connectors.base.split_reader import Batch, SplitReader
from headrace.connectors.files.file_format import FileFormat, FileRange, unreadable
from headrace.errors import TypeMismatchError
from headrace.formats.arrow_rows import columns_writer, pyarrow
from headrace.formats.row_columns import RowColumns
from headrace.foundation.file_systems import file_size, open_input
from headrace.types.column_run import ColumnCodec, ColumnRun, as_columns
from headrace.types.java_parsing import fitting
from headrace.types.logical_types import ArrayType, CharType, DataType, DecimalType, MapType, RowType
from headrace.types.serialization import BulkWriter

_LARGE = 16 << 20


class BlockFile:
    """An open file: its number of blocks, and the rows of each in batches."""

    blocks: int

    @abstractmethod
    def batches(self, block: int, rows: int) -> Iterator[Any]:
        """Yield record batches of about `rows` rows at most."""


class ColumnFiles(FileFormat):
    """The base of columnar formats."""

    batch_rows = 2048

    @abstractmethod
    def open_file(self, file: IO[bytes]) -> BlockFile:
        """Open a file and read its footer."""

    @abstractmethod
    def records(self, batch: Any) -> list[Any]:
        """Convert a record batch to records; a `ColumnRun` does so on first access."""

    def cuts(self, path: str, parts: int) -> list[int]:
        if file_size(path) < _LARGE:
            return []
        with open_input(path) as file:
            blocks = self.open_file(file).blocks
        count = min(parts, blocks)
        return [blocks * index // count for index in range(count + 1)] if count > 1 else []

    def open(self, part: FileRange, position: Any) -> SplitReader:
        return _BlockReader(self, part, position or (part.start, 0))


@dataclass(frozen=True)
class _InFile:
    """Adds the path and block to errors that occur when columns are converted to rows."""

    codec: ColumnCodec
    path: str
    block: int

    def rows(self, columns: Any) -> list[Any]:
        try:
            return self.codec.rows(columns)
        except Exception as error:
            raise unreadable(self.path, error, f", in block {self.block}") from error

    def pack(self, columns: Any) -> bytes:
        return self.codec.pack(columns)

    def unpack(self, data: bytes) -> Any:
        return self.codec.unpack(data)


class _BlockReader(SplitReader):
    def __init__(self, reading: ColumnFiles, part: FileRange, position: tuple[int, int]) -> None:
        self._format, self._path = reading, part.path
        self._stream = open_input(part.path)
        self._file = reading.open_file(self._stream)
        self._end = self._file.blocks if part.end is None else part.end
        self._block, self._done = position
        self._given = 0
        """Number of rows of the block that have been put into `_rest`."""
        self._batches: Iterator[Any] | None = None
        self._rest: list[Any] = []
        self.finished = self._block >= self._end

    def read(self, limit: int, now: int) -> Batch:
        while not self._rest and not self.finished:
            try:
                self._load()
            except Exception as error:
                raise unreadable(self._path, error, f", in block {self._block}") from error
        values, self._rest = self._rest[:limit], self._rest[limit:]
        self._done += len(values)
        if not self._rest and values:
            self._look_ahead()
        return Batch(values)

    def _look_ahead(self) -> None:
        """Load the next rows, so that the reader finishes with the last rows and not one read later."""
        try:
            while not self._rest and not self.finished:
                self._load()
        except Exception as error:
            raise unreadable(self._path, error, f", in block {self._block}") from error

    def _load(self) -> None:
        """Load the next batch of rows that were not read yet, or advance to the next block."""
        if self._batches is None:
            self._batches, self._given = self._file.batches(self._block, self._format.batch_rows), 0
        batch = next(self._batches, None)
        if batch is None:
            self._batches, self._block, self._done = None, self._block + 1, 0
            self.finished = self._block >= self._end
            return
        skipped = min(max(self._done - self._given, 0), batch.num_rows)
        self._given += batch.num_rows
        if skipped < batch.num_rows:
            rest = self._format.records(batch.slice(skipped) if skipped else batch)
            run = as_columns(rest)
            if run is not None:
                run.codec = _InFile(run.codec, self._path, self._block)
            self._rest = rest

    def position(self) -> tuple[int, int]:
        return self._block, self._done

    def close(self) -> None:
        self._stream.close()


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
