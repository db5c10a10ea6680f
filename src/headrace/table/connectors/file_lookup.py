"""Looks rows up in the files of a table: each subtask reads them once, when it starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headrace.connectors.base.split_reader import ReaderContext
from headrace.connectors.files.source import Files

Row = tuple[Any, ...]


@dataclass
class FileLookup:
    """Finds the rows of files by the values of some columns.

    Files that change while a job runs are not read again: the table is the one that the subtask saw at its start.
    """

    files: Files
    columns: tuple[int, ...]
    _rows: dict[Row, list[Row]] = field(default_factory=dict, repr=False)

    def open(self) -> None:
        """Read all rows."""
        self._rows = {}
        for split in self.files.enumerator().start(1):
            reader = self.files.open_reader(split, None, ReaderContext())
            try:
                while not reader.finished:
                    for row in reader.read(self.files.batch_records, 0).values:
                        self._rows.setdefault(tuple([row[column] for column in self.columns]), []).append(row)
            finally:
                reader.close()

    def close(self) -> None:
        """Forget the rows."""
        self._rows = {}

    def __call__(self, *key: Any) -> list[Row]:
        """Return the rows for a key."""
        return self._rows.get(key, [])
