"""Writers of files of columns through pyarrow: what Parquet and ORC share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO

from headrace.common.data_types import RowType
from headrace.common.serialization import BulkWriter
from headrace.datastream.formats.arrow_rows import columns_writer

__all__ = ["ColumnWriter"]

_ROWS = 8192


class ColumnWriter(BulkWriter):
    """Gathers rows and hands record batches to `write`; `close` writes the foot of the file."""

    def __init__(self, rows: RowType, write: Callable[[Any], None], close: Callable[[], None]) -> None:
        self._batch_of, self._write, self._close = columns_writer(rows), write, close
        self._rows: list[Any] = []

    def add_element(self, element: Any) -> None:
        """Add a row."""
        self._rows.append(element)
        if len(self._rows) >= _ROWS:
            self.flush()

    def flush(self) -> None:
        """Hand over what was gathered."""
        if self._rows:
            rows, self._rows = self._rows, []
            self._write(self._batch_of(rows))

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
