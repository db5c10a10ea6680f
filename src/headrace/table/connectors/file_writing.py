"""Writes rows of partitioned tables, and replaces the files of INSERT OVERWRITE."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, BinaryIO

from headrace.connectors.base.sink_committer import Handle, SinkCommitter
from headrace.connectors.files.sink import FileParts
from headrace.connectors.files.writer import FileCommitter
from headrace.foundation.file_systems import file_system, is_local
from headrace.types.column_run import ColumnRun
from headrace.types.serialization import BulkWriter, BulkWriterFactory, Encoder

Writer = Encoder | BulkWriterFactory


def record_writer(writer: Writer, written: tuple[int, ...], width: int) -> Writer:
    """Return a writer of whole rows that leaves out the partition columns."""
    if len(written) == width:
        return writer
    if isinstance(writer, Encoder):
        return _PartEncoder(writer, written)
    return BulkWriterFactory(_PartFactory(writer, written))


def _picked(columns: tuple[int, ...]) -> Callable[[Any], tuple[Any, ...]]:
    pick = itemgetter(*columns)
    return pick if len(columns) > 1 else lambda row: (pick(row),)


class _PartEncoder(Encoder):
    def __init__(self, inner: Encoder, written: tuple[int, ...]) -> None:
        super().__init__()
        self._inner, self._written, self._pick = inner, written, _picked(written)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._inner, self._written)

    def encode(self, element: Any, stream: BinaryIO) -> None:
        self._inner.encode(self._pick(element), stream)

    def lines(self, elements: list[Any]) -> list[bytes]:
        return self._inner.lines([self._pick(element) for element in elements])


class _PartFactory:
    def __init__(self, inner: BulkWriterFactory, written: tuple[int, ...]) -> None:
        self._inner, self._written = inner, written

    def __call__(self, stream: BinaryIO) -> BulkWriter:
        return _PartWriter(self._inner.create(stream), self._written)


class _PartWriter(BulkWriter):
    def __init__(self, inner: BulkWriter, written: tuple[int, ...]) -> None:
        self._inner, self._pick = inner, _picked(written)

    def add_element(self, element: Any) -> None:
        self._inner.add_element(self._pick(element))

    def add_columns(self, run: ColumnRun) -> bool:
        """Return False: rows are split by partition one by one."""
        return False

    def flush(self) -> None:
        self._inner.flush()

    def finish(self) -> None:
        self._inner.finish()


@dataclass(frozen=True)
class OverwritingParts(FileParts):
    """Part files that replace what their directories contained before."""

    def open_committer(self, job_id: str, sink_id: str) -> SinkCommitter:
        """Return a committer that removes old files first."""
        super().open_committer(job_id, sink_id)
        return _ReplacingCommitter(self.prefix)


class _ReplacingCommitter(FileCommitter):
    """Removes the files of a directory that are not of this job before the first of its own appears there.

    The names of a job's files begin with a prefix of its own, so that a commit that is repeated removes none of them.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._cleared: set[str] = set()

    def commit(self, handle: Handle) -> None:
        folder = os.path.dirname(handle.payload["to"])
        if folder not in self._cleared:
            self._clear(folder)
            self._cleared.add(folder)
        super().commit(handle)

    def _clear(self, folder: str) -> None:
        if is_local(folder):
            if not os.path.isdir(folder):
                return
            for entry in os.scandir(folder):
                if entry.is_file() and not entry.name.startswith((".", "_", self._prefix)):
                    os.unlink(entry.path)
            return
        system, inner = file_system(folder)
        for name in system.find(inner, maxdepth=1):
            if not os.path.basename(name).startswith((".", "_", self._prefix)):
                system.rm_file(name)
