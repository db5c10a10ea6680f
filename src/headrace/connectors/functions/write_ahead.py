"""Runs a `GenericWriteAheadSink`: elements wait in the checkpoint, and the driver sends them when it is complete.

A *log* is the elements of one subtask's epoch. It travels in the manifest, compressed. Its number, which the user's
`CheckpointCommitter` remembers, rises from log to log of a subtask, even if the parallelism changes or the job starts from
the beginning: it is the time in milliseconds, or the last number plus one if the clock has not advanced.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

from headrace.connectors.base.commit_requests import CommitRequest, commit_all
from headrace.connectors.base.driver_side import DriverFunction
from headrace.connectors.base.sink import Sink
from headrace.connectors.base.sink_committer import Handle, SinkCommitter
from headrace.connectors.base.sink_writer import EpochEnd, SinkWriter, WriterContext
from headrace.metrics.values import Path, Value
from headrace.state.safe_pickle import dump, load


class WriteAheadSink(Sink):
    """The definition around a function."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        return _Writer(max(states, default=0))

    def open_committer(self, job_id: str, sink_id: str) -> SinkCommitter:
        return _Committer(DriverFunction(self._function, job_id, sink_id), job_id, sink_id)


class _Writer(SinkWriter):
    def __init__(self, last_number: int) -> None:
        self._number = last_number
        self._values: list[Any] = []

    def write(self, values: list[Any], timestamps: list[int | None] | None) -> None:
        self._values += values

    def end_epoch(self, end: EpochEnd) -> list[Any]:
        if not self._values:
            return []
        self._number = max(end.now, self._number + 1)
        codec, data = dump(self._values)
        self._values = []
        log = base64.b64encode(zlib.compress(data, 1)).decode("ascii")
        return [{"number": self._number, "timestamp": end.now, "codec": codec, "log": log}]

    def state(self) -> Any:
        return self._number or None


class _Committer(SinkCommitter):
    def __init__(self, function: DriverFunction, job_id: str, sink_id: str) -> None:
        self._function, self._job_id, self._sink_id = function, job_id, sink_id
        self._book: Any = None

    def commit(self, handle: Handle) -> None:
        function = self._function.get()
        if self._book is None:
            book = function.committer
            book.set_job_id(self._job_id)
            book.set_operator_id(self._sink_id)
            book.create_resource()
            book.open()
            self._book = book
        log = handle.payload
        number = log["number"]
        if self._book.is_checkpoint_committed(handle.subtask, number):
            return
        data = zlib.decompress(base64.b64decode(log["log"]))
        values = load(log["codec"], data, allowed_modules=None, trust_job_code=True)

        def send(requests: list[CommitRequest]) -> None:
            if function.send_values(values, number, log["timestamp"]) is not True:
                requests[0].retry_later()

        commit_all([CommitRequest(f"log {number} of subtask {handle.subtask}, {len(values)} values")], send)
        self._book.commit_checkpoint(handle.subtask, number)

    def abort(self, handle: Handle) -> bool:
        """Say whether the log was not sent; there is nothing outside the handle to drop."""
        return self._book is None or not self._book.is_checkpoint_committed(handle.subtask, handle.payload["number"])

    def metrics(self) -> dict[Path, Value]:
        return self._function.metrics()

    def close(self) -> None:
        if self._book is not None:
            book, self._book = self._book, None
            book.close()
        self._function.close()
