"""Columns of a file table that are not in the file's records: partitions and metadata of the file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base.split_reader import Batch, SplitReader
from headrace.connectors.files.file_format import FileFormat, FileRange
from headrace.foundation.file_systems import file_size, file_system, is_local, local_path
from headrace.table.connectors.partitions import partition_values, value_reader
from headrace.types import logical_types as t
from headrace.types.column_run import as_columns
from headrace.types.logical_types import DataType, RowType

METADATA: Mapping[str, DataType] = {
    "file.path": t.VarCharType(is_nullable=False),
    "file.name": t.VarCharType(is_nullable=False),
    "file.size": t.BigIntType(is_nullable=False),
    "file.modification-time": t.LocalZonedTimestampType(3, is_nullable=False),
}


def metadata_value(key: str, path: str) -> Any:
    """Return what is known of a file."""
    match key:
        case "file.path":
            return f"file:{path}" if is_local(path) else path
        case "file.name":
            return os.path.basename(path)
        case "file.size":
            return file_size(path)
    if is_local(path):
        return int(os.path.getmtime(local_path(path)) * 1000) * 1000
    system, inner = file_system(path)
    return int(system.modified(inner).timestamp() * 1000) * 1000


@dataclass(frozen=True)
class FileColumns:
    """Where the columns of a row come from: the record (`record`: the place of each field, -1 for none), path, metadata."""

    row_type: RowType
    record: tuple[int, ...]
    partitions: tuple[tuple[int, str], ...] = ()
    metadata: tuple[tuple[int, str], ...] = ()
    default_partition: str = "__DEFAULT_PARTITION__"

    def constants(self, path: str) -> dict[int, Any]:
        """Return the values that all rows of a file have, by column."""
        found = partition_values(path, tuple(key for _, key in self.partitions))
        types = self.row_type.field_types()
        values: dict[int, Any] = {}
        for index, key in self.partitions:
            text = found.get(key)
            values[index] = None if text is None else value_reader(types[index], self.default_partition)(text)
        return values | {index: metadata_value(key, path) for index, key in self.metadata}


class WithFileColumns(FileFormat):
    """Reads records with another format and adds the columns of their file."""

    def __init__(self, inner: FileFormat, columns: FileColumns) -> None:
        """Set the format of the records."""
        self._inner, self._columns = inner, columns
        self.batch_records = inner.batch_records

    def cuts(self, path: str, parts: int) -> list[int]:
        """Return where the other format cuts a file."""
        return self._inner.cuts(path, parts)

    def open(self, part: FileRange, position: Any) -> SplitReader:
        """Return a reader that adds columns."""
        return _Reader(self._inner.open(part, position), self._columns, part.path)


class _Reader(SplitReader):
    def __init__(self, inner: SplitReader, columns: FileColumns, path: str) -> None:
        self._inner, self._columns = inner, columns
        self._constants = columns.constants(path)
        self.finished = inner.finished

    def read(self, limit: int, now: int) -> Batch:
        batch = self._inner.read(limit, now)
        self.finished = self._inner.finished
        run = as_columns(batch.values)
        batch.values = self._rows(batch.values) if run is None else self._run(run)
        return batch

    def _rows(self, rows: Sequence[Any]) -> list[Any]:
        width, constants = len(self._columns.row_type), self._constants
        template = [constants.get(index) for index in range(width)]
        made = []
        for row in rows:
            values = template.copy()
            for index, value in zip(self._columns.record, row):
                if index >= 0:
                    values[index] = value
            made.append(tuple(values))
        return made

    def _run(self, run: Any) -> Any:
        from headrace.operators.table.batches import TableColumns, pyarrow

        pa = pyarrow()
        codec = TableColumns(self._columns.row_type)
        arrays: list[Any] = [None] * len(self._columns.row_type)
        for index, column in zip(self._columns.record, run.columns.columns):
            if index >= 0:
                arrays[index] = column
        for index, value in self._constants.items():
            arrays[index] = pa.repeat(pa.scalar(value, codec.schema.types[index]), len(run))
        return codec.of_arrays(arrays)

    def position(self) -> Any:
        return self._inner.position()

    def close(self) -> None:
        self._inner.close()
