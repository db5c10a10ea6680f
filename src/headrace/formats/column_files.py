"""Read columnar files in blocks: Parquet's row groups, ORC's stripes.

A position is (block, rows of it that were read). Large files are split between blocks.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from headrace.connectors.base.split_reader import Batch, SplitReader
from headrace.connectors.files.file_format import FileFormat, FileRange, unreadable
from headrace.foundation.file_systems import file_size, open_input
from headrace.types.column_run import ColumnCodec, as_columns

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
