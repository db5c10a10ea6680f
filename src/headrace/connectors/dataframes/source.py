"""DataFrames as sources: what `StreamExecutionEnvironment.from_dataframe` reads.

1. Driver: Spark writes the rows to Parquet files, once for a batch DataFrame, batch by batch for a streaming one.
2. Tasks read these files as columns; a position is a place in them. So every retry of an epoch sees the rows that were
   computed once, even if Spark would compute other rows the second time.

The files are in the job's state directory and are deleted with the job, or in a directory that the program names.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split, SplitEnumerator, SplitProgress
from headrace.connectors.base.split_reader import EMPTY, Batch, ReaderContext, SplitReader
from headrace.connectors.files.file_format import FileRange
from headrace.errors import InvalidProgramError, JobExecutionError
from headrace.formats.arrow_rows import pyarrow
from headrace.formats.parquet_files import ParquetRows
from headrace.state.job_folder import StateFolder
from headrace.types.data_types import stream_type
from headrace.types.logical_types import RowType
from headrace.types.typeinfo import TypeInformation

_READ_ROWS = 4096


def source_of(
    frame: Any, directory: str | None, parent: str | None, trigger: Mapping[str, Any] | None
) -> FrameRows | FrameStream:
    """Return the source that reads a DataFrame: batch or streaming, as the DataFrame is."""
    from headrace.spark.dataframes import checked_frame

    pyarrow()  # raises at once if the extra is missing
    rows = checked_frame(frame)
    if frame.isStreaming:
        return FrameStream(rows, frame, directory, parent, dict(trigger or {}))
    if trigger is not None:
        raise InvalidProgramError("Only a streaming DataFrame has a trigger", seen=trigger)
    return FrameRows(rows, frame, directory, parent)


@dataclass(frozen=True, eq=False)
class _FrameSource(Source):
    rows: RowType
    frame: Any
    """The DataFrame; it stays in the driver."""
    directory: str | None
    """Where the rows are kept; None: in a directory under `parent` that is deleted with the job."""
    parent: str | None

    @property
    def produced_type(self) -> TypeInformation | None:
        return stream_type(self.rows)

    @property
    def format(self) -> ParquetRows:
        """How the files are read."""
        return ParquetRows(self.rows, _READ_ROWS, True)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "frame": None}


@dataclass(frozen=True, eq=False)
class FrameRows(_FrameSource):
    """The rows of a batch DataFrame; each of Spark's files is a split."""

    def enumerator(self) -> SplitEnumerator:
        return _RowsEnumerator(self)

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        return _opened(self.format, split.payload, position)


@dataclass(frozen=True, eq=False)
class FrameStream(_FrameSource):
    """The rows of a streaming DataFrame, which a query of Spark writes; it ends if that query ends by itself."""

    trigger: Mapping[str, Any]
    bounded = False
    may_finish = True

    def enumerator(self) -> SplitEnumerator:
        return _StreamEnumerator(self)

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        return _LaneReader(self.format, split.payload, position)


class _FolderEnumerator(SplitEnumerator):
    """Keeps the folder of the rows, which is deleted with the job unless the program names it."""

    def __init__(self, source: _FrameSource) -> None:
        self._directory, self._parent = source.directory, source.parent
        self._temporary: StateFolder | None = None

    def _folder(self) -> str:
        if self._directory is not None:
            os.makedirs(self._directory, exist_ok=True)
            return os.path.abspath(self._directory)
        if self._temporary is None:
            self._temporary = StateFolder(self._parent, "frame")
        return str(self._temporary.path)

    def close(self, kept: bool) -> None:
        if self._temporary is not None:
            self._temporary.remove()
            self._temporary = None


class _RowsEnumerator(_FolderEnumerator):
    def __init__(self, source: FrameRows) -> None:
        super().__init__(source)
        self._source = source
        self._splits: list[Split] | None = None

    def start(self, parallelism: int) -> list[Split]:
        """Return none yet: a job that is restored has its splits, and Spark need not compute the rows again."""
        return []

    def discover(self, progress: SplitProgress) -> list[Split]:
        if progress.known:
            return []
        if self._splits is None:
            from headrace.spark.dataframes import write_files

            files = write_files(self._source.frame, os.path.join(self._folder(), uuid.uuid4().hex))
            self._splits = [Split(path, FileRange(path)) for path in files]
        return self._splits

    def close(self, kept: bool) -> None:
        if self._directory is not None and not kept:
            for folder in {os.path.dirname(split.id) for split in self._splits or ()}:
                shutil.rmtree(folder, ignore_errors=True)
        super().close(kept)


class _StreamEnumerator(_FolderEnumerator):
    def __init__(self, source: FrameStream) -> None:
        super().__init__(source)
        self._source = source
        self._query: Any = None

    def start(self, parallelism: int) -> list[Split]:
        folder, lanes = self._folder(), self._lanes(parallelism)
        return [Split(f"lane-{n}", Lane(folder, n, lanes)) for n in range(lanes)]

    def _lanes(self, parallelism: int) -> int:
        """Return the number of lanes: that of the first start, as long as the directory exists."""
        path = os.path.join(self._folder(), "lanes.json")
        found = _json(path)
        if found is None:
            with open(path, "x") as file:
                json.dump(parallelism, file)
        return parallelism if found is None else int(found)

    def discover(self, progress: SplitProgress) -> list[Split]:
        if self._query is None:
            from headrace.spark.frame_query import FrameQuery

            lanes = self._lanes(progress.parallelism)
            self._query = FrameQuery(self._source.frame, self._folder(), lanes, self._source.trigger)
        try:
            self._query.check()
        except JobExecutionError:
            query, self._query = self._query, None  # if the job restarts, so does the query
            query.stop()
            raise
        return []

    def notify_checkpoint_complete(self, positions: dict[str, Any]) -> None:
        numbers = [0 if position is None else position[0] for position in positions.values()]
        if numbers and self._query is not None:
            self._query.forget_before(min(numbers))

    def close(self, kept: bool) -> None:
        if self._query is not None:
            self._query.stop()
            self._query = None
        super().close(kept)


@dataclass(frozen=True)
class Lane:
    """A part of every batch of a streaming DataFrame: each of `lanes` takes its share of the files."""

    folder: str
    number: int
    lanes: int


class _LaneReader(SplitReader):
    """Reads its files of one batch after the other. A position: batch, file of the lane, place in the file."""

    def __init__(self, reading: ParquetRows, lane: Lane, position: Any) -> None:
        self._format, self._lane = reading, lane
        self._batch: int = 0 if position is None else position[0]
        self._file: int = 0 if position is None else position[1]
        self._place: Any = None if position is None else position[2]
        self._files: list[str] | None = None
        self._reader: SplitReader | None = None

    def read(self, limit: int, now: int) -> Batch:
        while True:
            if self._reader is None and not self._open_next():
                return EMPTY
            assert self._reader is not None
            batch = self._reader.read(limit, now)
            self._place = self._reader.position()
            if self._reader.finished:
                self._reader.close()
                self._reader, self._place, self._file = None, None, self._file + 1
            if batch.values:
                return batch

    def _open_next(self) -> bool:
        """Open the next file; return False if there is none yet, or none will follow."""
        while True:
            if self._files is None and not self._list():
                return False
            assert self._files is not None
            if self._file < len(self._files):
                self._reader = _opened(self._format, FileRange(self._files[self._file]), self._place)
                return True
            self._files, self._batch, self._file = None, self._batch + 1, 0
            self._say_where()

    def _list(self) -> bool:
        lane = self._lane
        files = _json(os.path.join(lane.folder, "batches", f"{self._batch:012}.json"))
        if files is None:
            end = _json(os.path.join(lane.folder, "end.json"))
            self.finished = end is not None and self._batch >= end["batches"]
            self._check_not_gone()
            return False
        first = (lane.number + self._batch) % lane.lanes
        self._files = files["files"][first :: lane.lanes]
        return True

    def _check_not_gone(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            later = [name for name in os.listdir(os.path.join(self._lane.folder, "batches")) if name.endswith(".json")]
            if any(int(name.partition(".")[0]) > self._batch for name in later):
                raise JobExecutionError(
                    f"Batch {self._batch} of the streaming DataFrame has been removed",
                    seen=self._lane.folder,
                    expected="the batches since the checkpoint that the job continues from",
                    remedy="use a new directory for a job that starts from the beginning",
                )

    def _say_where(self) -> None:
        """Tell the query where this lane is, so that it does not run ahead."""
        with open(os.path.join(self._lane.folder, "read", str(self._lane.number)), "w") as file:
            file.write(str(self._batch))

    def position(self) -> tuple[int, int, Any]:
        return self._batch, self._file, self._place

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()


def _opened(reading: ParquetRows, part: FileRange, position: Any) -> SplitReader:
    try:
        return reading.open(part, position)
    except FileNotFoundError as error:
        raise JobExecutionError(
            "Rows of a DataFrame that the job still has to read are gone",
            seen=part.path,
            remedy="give from_dataframe a directory that outlives the driver and that all machines see",
        ) from error


def _json(path: str) -> Any:
    try:
        with open(path) as file:
            return json.load(file)
    except FileNotFoundError:
        return None
