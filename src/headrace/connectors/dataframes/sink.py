"""Streams to DataFrames: what `DataStream.sink_to_spark` and `DataStream.to_dataframe` write with.

1. Task: the rows of an epoch become one Parquet file beside the files of the checkpoints: staged.
2. Driver: the files of all subtasks and epochs of a checkpoint are one handle, so that one write of Spark commits them.
3. Driver: the rows are written by Spark's writer, with the number of the checkpoint where the options ask for it; or the
   files are kept for a DataFrame.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

from headrace.connectors.base import staging
from headrace.connectors.base.sink import Sink
from headrace.connectors.base.sink_committer import Handle, SinkCommitter
from headrace.connectors.base.sink_writer import EpochEnd, RecordError, SinkWriter, WriterContext
from headrace.errors import TypeMismatchError
from headrace.formats.arrow_rows import pyarrow
from headrace.formats.row_columns import RowColumns
from headrace.types.column_run import as_columns
from headrace.types.logical_types import RowType
from headrace.types.row import Row


@dataclass(frozen=True)
class SparkWriter:
    """Commits rows with a writer of Spark; `{epoch}` and `{job}` in its options are filled in."""

    schema: str
    """As JSON: tasks can read it without PySpark."""
    format: str
    options: tuple[tuple[str, str], ...]
    mode: str
    partition_by: tuple[str, ...]
    session: Any = None
    """The driver's session, which is not pickled."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "session": None}

    def commit(self, paths: Sequence[str], job_id: str, epoch: int) -> None:
        """Write the rows of all files at once."""
        from headrace.spark import dataframes

        filled = {k: v.replace("{epoch}", str(epoch)).replace("{job}", job_id) for k, v in self.options}
        rows = dataframes.read_files(self.session, paths, dataframes.schema_from_json(self.schema))
        dataframes.write_with(rows, self.format, filled, self.mode, self.partition_by)


@dataclass(frozen=True)
class FrameFiles:
    """Commits rows by keeping their files."""

    folder: str

    def commit(self, paths: Sequence[str], job_id: str, epoch: int) -> None:
        """Copy the files; one that exists is replaced by the same."""
        for path in paths:
            shutil.copyfile(path, os.path.join(self.folder, os.path.basename(path)))


@dataclass(frozen=True)
class FrameSink(Sink):
    """Stages rows as files; `target` makes them visible."""

    rows: RowType
    target: SparkWriter | FrameFiles
    shared: str | None = None
    """A directory that all machines see, for files that Spark is to read; None: the temporary directory."""

    @property
    def takes_columns(self) -> bool:
        return True

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        return _Writer(self.rows, context)

    def open_committer(self, job_id: str, sink_id: str) -> SinkCommitter:
        return _Committer(self.target, job_id, self.shared)


class _Writer(SinkWriter):
    def __init__(self, rows: RowType, context: WriterContext) -> None:
        self._names = rows.field_names()
        self._place, self._working = context.staging or context.directory, context.directory
        self._columns = RowColumns(rows)
        self._batches: list[Any] = []

    def write(self, values: list[Any], timestamps: list[int | None] | None) -> None:
        run = as_columns(values)
        if run is not None and self._columns.fits(run):
            arrays = run.columns.columns
            self._batches.append(pyarrow().RecordBatch.from_arrays(arrays, schema=self._columns.schema))
            return
        rows = [self._row(value) for value in values]
        try:
            self._batches.append(self._columns.run(rows).columns)
        except TypeMismatchError as error:
            self._explain(rows, values)
            raise error

    def _row(self, value: Any) -> Any:
        names = self._names
        if isinstance(value, dict):
            if set(value) - set(names):
                raise RecordError(value) from self._wrong(value, f"fields that are not columns of {names}")
            return [value.get(name) for name in names]
        if not isinstance(value, (Row, tuple, list)):
            value = (value,)
        if len(value) != len(names):
            raise RecordError(value) from self._wrong(value, f"{len(value)} fields")
        return value

    def _wrong(self, value: Any, what: str) -> TypeMismatchError:
        return TypeMismatchError(
            f"A record does not fit the schema: it has {what}", seen=value, expected=f"the columns {self._names}"
        )

    def _explain(self, rows: list[Any], values: list[Any]) -> None:
        """Find the record whose values do not have the types of their columns."""
        for row, value in zip(rows, values):
            try:
                self._columns.run([row])
            except TypeMismatchError as error:
                raise RecordError(value) from TypeMismatchError(error.message, seen=value, expected=error.expected)

    def end_epoch(self, end: EpochEnd) -> list[Any]:
        if not self._batches:
            return []
        path = staging.stage(f"{end.handle}.parquet", self._save, self._place, self._working)
        self._batches = []
        return [{"paths": [path]}]

    def _save(self, file: IO[bytes]) -> None:
        with pyarrow("pyarrow.parquet").ParquetWriter(file, self._batches[0].schema) as writer:
            writer.write_table(pyarrow().Table.from_batches(self._batches))


class _Committer(SinkCommitter):
    def __init__(self, target: SparkWriter | FrameFiles, job_id: str, shared: str | None) -> None:
        self._target, self._job_id, self._shared = target, job_id, shared

    def combined(self, handles: list[Handle]) -> list[Handle]:
        """Merge all handles of a checkpoint into one write."""
        paths = [path for handle in handles for path in handle.payload["paths"]]
        return [replace(handles[0], payload={"paths": paths})] if handles else []

    def commit(self, handle: Handle) -> None:
        """Commit once, as far as this side can know: a mark beside the files says that their rows are visible.

        The mark has the name of a staged file, so the job collects it once the checkpoint's own marker is written.
        """
        paths = handle.payload["paths"]
        mark = f"{paths[0]}.committed"
        if not staging.exists(mark):
            if self._shared is not None:
                os.makedirs(self._shared, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix="headrace-frame-", dir=self._shared) as folder:
                local = [staging.fetch(path, folder, "Rows for Spark are neither written nor staged") for path in paths]
                self._target.commit(local, self._job_id, handle.checkpoint)
            staging.create_mark(mark)
        _remove(paths)

    def abort(self, handle: Handle) -> bool:
        if staging.exists(f"{handle.payload['paths'][0]}.committed"):
            return False
        _remove(handle.payload["paths"])
        return True


def _remove(paths: Sequence[str]) -> None:
    for path in paths:
        staging.remove(path)
