"""Read files of lines in large blocks of bytes, so that a block is parsed at once.

1. A block ends at a line feed, or at the end of the file. A range of a file has the lines that begin in it.
2. A position is (offset of a block, records of it that were read): the same block is parsed again by the next reader.
3. A parser raises `BadLine` for a line that cannot be read; the error that users see names the file and the line.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from headrace.connectors.base.line_limit import MAX_LINE_BYTES, first_line, line_too_long
from headrace.connectors.base.split_reader import Batch, SplitReader
from headrace.connectors.files.file_format import FileFormat, FileRange, unreadable
from headrace.errors import BadRecordError
from headrace.foundation.file_systems import file_size, is_compressed, open_decompressed, skip

_BLOCK = 1 << 21
_PART = 32 << 20


class BadLine(Exception):
    """A line cannot be read: its number in the block, from 0, and why."""

    def __init__(self, number: int, reason: str, line: str, remedy: str | None = None) -> None:
        """Store the parts."""
        super().__init__(reason)
        self.number, self.reason, self.line, self.remedy = number, reason, line, remedy


class LineFormat(FileFormat):
    """A format whose records are lines. `parse` makes a list of rows, or a run of columns, of a block."""

    batch_records = 16384

    @abstractmethod
    def parse(self, block: bytes) -> Any:
        """Return the records of a block of complete lines. Raise BadLine."""

    def cuts(self, path: str, parts: int) -> list[int]:
        """Return where to cut a large file; a compressed one cannot be cut."""
        if is_compressed(path):
            return []
        size = file_size(path)
        count = min(parts, size // _PART)
        return [size * index // count for index in range(count + 1)] if count > 1 else []

    def open(self, part: FileRange, position: Any) -> SplitReader:
        """Return a reader of a range."""
        return _BlockReader(self, part, position)


class _BlockReader(SplitReader):
    """Reads one range. `_records` are those of the block at `_offset`; `_next` of them were returned."""

    def __init__(self, reading: LineFormat, part: FileRange, position: tuple[int, int] | None) -> None:
        self._format, self._path, self._end = reading, part.path, part.end
        self._file = open_decompressed(part.path)
        self._offset, self._next = position or (first_line(self._file, part.path, part.start), 0)
        self._after = self._offset
        self._rest = b""
        if is_compressed(part.path):
            skip(self._file, self._offset)
        else:
            self._file.seek(self._offset)
        self._records: Any = []
        self._load(self._next)

    def read(self, limit: int, now: int) -> Batch:
        """Return the next records of the current block."""
        whole = self._next == 0 and len(self._records) <= limit
        values = self._records if whole else self._records[self._next : self._next + limit]
        self._next += len(values)
        if self._next >= len(self._records):
            self._load(0)
        return Batch(values)

    def position(self) -> tuple[int, int]:
        """Return the block and the number of its records that were read."""
        return self._offset, self._next

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _load(self, done: int) -> None:
        """Parse the next block that has a record which was not read; at the end there are no records."""
        while True:
            self._offset, self._next = self._after, done
            block = self._block()
            if not block:
                self._records, self.finished = [], True
                self._next = 0
                return
            self._after = self._offset + len(block)
            try:
                self._records = self._format.parse(block)
            except BadLine as error:
                number = self._lines_before(self._offset) + error.number + 1
                shown = BadRecordError(error.reason, seen=error.line[:200], remedy=error.remedy)
                raise unreadable(self._path, shown, f", line {number}") from error
            if len(self._records) > done:
                return
            done = 0

    def _block(self) -> bytes:
        if self._end is not None and self._offset >= self._end:
            return b""
        parts, size = [self._rest], len(self._rest)
        while True:
            data = self._file.read(_BLOCK)
            end = data.rfind(b"\n") + 1
            if not data or end:
                break
            parts.append(data)
            size += len(data)
            if size > MAX_LINE_BYTES:
                raise line_too_long(f"{self._path} from byte {self._offset}")
        parts.append(data[:end])
        self._rest = data[end:]
        block = b"".join(parts)
        if self._end is not None and self._offset + len(block) > self._end:
            last = block.find(b"\n", self._end - self._offset - 1) + 1
            block = block[:last] if last else block
        return block

    def _lines_before(self, offset: int) -> int:
        with open_decompressed(self._path) as file:
            count, left = 0, offset
            while left > 0 and (data := file.read(min(left, _BLOCK))):
                left -= len(data)
                count += data.count(b"\n")
        return count
