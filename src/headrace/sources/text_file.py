"""A source of the lines of text files.

1. Driver: paths (files, directories, patterns) become files; each file is one split, as Flink's text format is not cut.
2. Task: a file is read in chunks of bytes that end at a line's end; a chunk is decoded and split at once.
3. A position is (offset of a chunk, lines of it that were read), so that no line is measured while reading.

A line ends with a line feed, a carriage return, or both; the last line needs no end. Bytes that the charset does not know
become replacement characters, as in Java.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from headrace.common.errors import InvalidProgramError
from headrace.common.typeinfo import TypeInformation, Types
from headrace.sources.base import Batch, ReaderContext, Source, Split, SplitReader
from headrace.sources.file_listing import list_files

# With decoding, chunks of 128 KB and more take twice as long: the C library maps and unmaps pages for each of them.
_CHUNK = 1 << 16
_WIDE = ("utf-16", "utf-32")
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".gzip": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class TextFiles(Source):
    r"""The lines of all files under `paths`; with `monitor_seconds` it looks for new files for ever.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     size = file.write(b"to be\r\nor not")
    ...     file.flush()
    ...     source = TextFiles([file.name])
    ...     reader = source.open_reader(source.splits(1)[0][0], None, ReaderContext())
    ...     reader.read(10, 0).values
    ['to be', 'or not']
    """

    produced_type: TypeInformation | None = Types.STRING()

    def __init__(self, paths: Sequence[str], charset: str = "UTF-8", monitor_seconds: float | None = None) -> None:
        """Takes paths, their charset, and how often to look for new files."""
        if not paths:
            raise InvalidProgramError("A file source needs at least one path")
        try:
            self.charset = codecs.lookup(charset).name
        except LookupError:
            raise InvalidProgramError("The charset of a file source is unknown", seen=charset) from None
        self.paths = tuple(str(path) for path in paths)
        self.monitor_seconds = monitor_seconds
        self.bounded = monitor_seconds is None
        self._looked_at = float("-inf")

    def splits(self, parallelism: int) -> list[list[Split]]:
        files = list_files(self.paths, may_be_missing=not self.bounded)
        self._looked_at = time.monotonic()
        return [[Split(file) for file in files[index::parallelism]] for index in range(parallelism)]

    def discover(self, known: frozenset[str]) -> list[Split]:
        now = time.monotonic()
        if self.monitor_seconds is None or now - self._looked_at < self.monitor_seconds:
            return []
        self._looked_at = now
        return [Split(file) for file in list_files(self.paths, may_be_missing=True) if file not in known]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        return _LineReader(split.id, self.charset, position or (0, 0))


class _LineReader(SplitReader):
    """Reads one file. `_lines` are those of the chunk at `_offset`; `_next` of them were given out."""

    def __init__(self, path: str, charset: str, position: tuple[int, int]) -> None:
        opener = _OPENERS.get(Path(path).suffix, open)
        self._file: IO[bytes] = opener(path, "rb")
        self._charset = charset
        # In wide charsets the byte 0x0A is not always a line feed: such a file is one chunk.
        self._chunk_size = -1 if charset.startswith(_WIDE) else _CHUNK
        self._offset, skipped = position
        self._after = self._offset
        self._rest = b""
        self._lines: list[str] = []
        self._next = 0
        if self._offset:
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
        """Reads the next chunk that has at least one line; at the end of the file there are no lines."""
        self._offset, self._next = self._after, 0
        chunk = self._rest
        while True:
            block = self._file.read(self._chunk_size)
            end = block.rfind(b"\n") + 1 if self._chunk_size > 0 else 0
            if not block or end:
                break
            chunk += block
            if self._chunk_size < 0:
                break
        self._rest = block[end:] if end else b""
        chunk += block[:end]
        self._after = self._offset + len(chunk)
        self._lines = _split(chunk.decode(self._charset, "replace"))


def _split(text: str) -> list[str]:
    r"""The lines of a text that begins at a line's start.

    >>> _split("a\nb\r\nc"), _split("a\n"), _split(""), _split("\n")
    (['a', 'b', 'c'], ['a'], [], [''])
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
