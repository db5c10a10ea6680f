"""Files of lines: each line is a record, or is parsed into one.

1. A file is read in chunks of bytes that end at a line's end; a chunk is decoded and split at once.
2. A position is (offset of a chunk, lines of it that were read), so that no line is measured while reading.
3. A file that is not compressed may be cut anywhere: a range has the lines that begin in it.

A line ends with a line feed, a carriage return, or both; the last line needs no end. Bytes that the charset does not know
become replacement characters, as in Java.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import Any

from headrace.connectors.base.line_limit import MAX_LINE_BYTES, first_line, line_too_long
from headrace.connectors.base.split_reader import Batch, SplitReader
from headrace.connectors.files.file_format import FileFormat, FileRange, unreadable
from headrace.errors import InvalidProgramError, reason_of
from headrace.foundation.file_systems import file_size, is_compressed, open_decompressed, skip
from headrace.types.bad_record import BadRecord
from headrace.types.typeinfo import TypeInformation, Types

# With decoding, chunks of 128 KB and more take twice as long: the C library maps and unmaps pages for each of them.
_CHUNK = 1 << 16
_WIDE = ("utf-16", "utf-32")
_PART = 32 << 20


class TextLines(FileFormat):
    """Each line is a record; `parse` turns it into another one, or into None to skip it.

    >>> TextLines("latin-1").charset
    'iso8859-1'
    """

    def __init__(
        self,
        charset: str = "UTF-8",
        parse: Callable[[str], Any] | None = None,
        produced_type: TypeInformation | None = None,
    ) -> None:
        try:
            self.charset = codecs.lookup(charset).name
        except LookupError:
            raise InvalidProgramError("The charset of a file source is unknown", seen=charset) from None
        self.parse = parse
        self.can_set_aside = parse is not None
        self.produced_type = Types.STRING() if parse is None else produced_type

    def cuts(self, path: str, parts: int) -> list[int]:
        if is_compressed(path) or self.charset.startswith(_WIDE):
            return []
        size = file_size(path)
        count = min(parts, size // _PART)
        return [size * index // count for index in range(count + 1)] if count > 1 else []

    def open(self, part: FileRange, position: Any) -> SplitReader:
        reader = _LineReader(part, self.charset, position)
        return reader if self.parse is None else _RecordReader(part.path, reader, self.parse, self.sets_aside)


class _LineReader(SplitReader):
    """Reads one range. `_lines` are those of the chunk at `_offset`; `_next` of them were returned."""

    def __init__(self, part: FileRange, charset: str, position: tuple[int, int] | None) -> None:
        self._path = part.path
        self._file = open_decompressed(part.path)
        self._end = part.end
        self._charset = charset
        # In wide charsets the byte 0x0A is not always a line feed: such a file is one chunk.
        self._chunk_size = -1 if charset.startswith(_WIDE) else _CHUNK
        self._offset, skipped = position or (first_line(self._file, part.path, part.start), 0)
        self._after = self._offset
        self._rest = b""
        self._lines: list[str] = []
        self._next = 0
        if is_compressed(part.path):
            skip(self._file, self._offset)
        elif self._offset:
            self._file.seek(self._offset)
        self._load()
        # The chunk may have been longer when the position was taken.
        while skipped and self._lines:
            self._next = min(skipped, len(self._lines))
            skipped -= self._next
            if self._next == len(self._lines):
                self._load()
        self._check_finished()

    def read(self, limit: int, now: int) -> Batch:
        values: list[str] = []
        while not self.finished:
            lines, room = self._lines, limit - len(values)
            if room < len(lines) and values:
                break
            values += lines[self._next : self._next + room] if self._next or room < len(lines) else lines
            self._next = min(self._next + room, len(lines))
            if self._next == len(lines):
                self._load()
                self._check_finished()
        return Batch(values)

    def position(self) -> tuple[int, int]:
        return self._offset, self._next

    def close(self) -> None:
        self._file.close()

    def _check_finished(self) -> None:
        self.finished = self._next >= len(self._lines)

    def _load(self) -> None:
        """Read the next chunk that has at least one line; at the end of the range there are no lines."""
        self._offset, self._next = self._after, 0
        if self._end is not None and self._offset >= self._end:
            self._lines = []
            return
        parts = [self._rest]
        size = len(self._rest)
        while True:
            block = self._file.read(self._chunk_size)
            end = block.rfind(b"\n") + 1 if self._chunk_size > 0 else 0
            if not block or end:
                break
            parts.append(block)
            size += len(block)
            if self._chunk_size < 0:
                break
            if size > MAX_LINE_BYTES:
                raise line_too_long(f"{self._path} from byte {self._offset}")
        self._rest = block[end:] if end else b""
        parts.append(block[:end])
        chunk = b"".join(parts)
        if self._end is not None and self._offset + len(chunk) > self._end:
            last = chunk.find(b"\n", self._end - self._offset - 1) + 1
            chunk = chunk[:last] if last else chunk
        self._after = self._offset + len(chunk)
        self._lines = _split(chunk.decode(self._charset, "replace"))


class _RecordReader(SplitReader):
    """Makes records of lines."""

    def __init__(self, path: str, lines: _LineReader, parse: Callable[[str], Any], sets_aside: bool) -> None:
        self._path, self._lines, self._parse, self._sets_aside = path, lines, parse, sets_aside
        self._counted = (0, 0)
        """An offset, and the number of lines before it."""
        self.finished = lines.finished

    def read(self, limit: int, now: int) -> Batch:
        before = self._lines.position()
        lines = self._lines.read(limit, now).values
        parse = self._parse
        bad: list[BadRecord] = []
        try:
            values = [parse(line) for line in lines]
        except Exception:
            values, bad = self._one_by_one(before, lines)
        self.finished = self._lines.finished
        kept = [value for value in values if value is not None]
        return Batch(kept, more=not kept and not self.finished, dead_letters=bad)

    def _one_by_one(self, before: tuple[int, int], lines: list[str]) -> tuple[list[Any], list[BadRecord]]:
        """Set aside lines that cannot be read, or raise an error that names the line."""
        values, bad = [], []
        first = self._lines_before(before[0]) + before[1] + 1
        for number, line in enumerate(lines, first):
            try:
                values.append(self._parse(line))
            except Exception as error:
                if not self._sets_aside:
                    raise unreadable(self._path, error, f", line {number}") from error
                bad.append(BadRecord({"file": self._path, "line": number}, line, reason_of(error)))
        return values, bad

    def _lines_before(self, offset: int) -> int:
        """Count the lines up to a byte of the file; only files with bad lines are read for this."""
        start, count = self._counted
        if offset < start:
            start, count = 0, 0
        with open_decompressed(self._path) as file:
            skip(file, start)
            left = offset - start
            while left > 0 and (block := file.read(min(left, 1 << 20))):
                left -= len(block)
                count += block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")
        self._counted = (offset, count)
        return count

    def position(self) -> tuple[int, int]:
        return self._lines.position()

    def close(self) -> None:
        self._lines.close()


def _split(text: str) -> list[str]:
    r"""Return the lines of a string that begins at the start of a line.

    >>> _split("a\nb\r\nc"), _split("a\n"), _split(""), _split("\n")
    (['a', 'b', 'c'], ['a'], [], [''])
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
