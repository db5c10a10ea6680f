"""Read the records of a CSV file as lists of texts.

The position is the number of records that were read, which a new reader skips.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from typing import Any

from headrace.connectors.base.split_reader import SplitReader
from headrace.connectors.files.file_format import unreadable
from headrace.formats.csv_lines import Dialect
from headrace.foundation.file_systems import open_decompressed


class CsvFileReader(SplitReader):
    """Reads one file. A subclass converts the texts, and calls `_done` when it has."""

    def __init__(self, path: str, dialect: Dialect, comments: bool) -> None:
        """Open the file. With `comments`, skip lines that begin with `#`."""
        self._path = path
        self._text = io.TextIOWrapper(open_decompressed(path), "utf-8", "replace", newline="")
        lines: Any = self._text
        if comments:
            lines = (line for line in self._text if not line.startswith("#"))
        self._lines = dialect.reader(lines)
        self._rows: Iterator[list[str]] = iter(())
        self._ahead: list[list[str]] = []
        self._next = 0

    def _start(self, position: int, skipped: int = 0) -> None:
        """Go to a position. `skipped` more records are never read."""
        self._rows = itertools.islice(self._lines, position + skipped, None)
        self._done(position)

    def _texts(self, limit: int) -> list[list[str]]:
        """Return the next records."""
        return self._ahead + self._taken(limit - len(self._ahead))

    def _done(self, count: int) -> None:
        """Count records as read, and find out whether there are more."""
        self._next += count
        self._ahead = self._taken(1)
        self.finished = not self._ahead

    def _taken(self, count: int) -> list[list[str]]:
        try:
            return list(itertools.islice(self._rows, count))
        except csv.Error as error:
            raise unreadable(self._path, error, f", line {self._lines.line_num}") from error

    def position(self) -> int:
        """Return the number of records that were read."""
        return self._next

    def close(self) -> None:
        """Close the file."""
        self._text.close()
