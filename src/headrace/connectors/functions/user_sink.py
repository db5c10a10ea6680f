"""Runs a user's sink of writers and committers (Flink's Sink V2).

1. Task, at the end of each epoch: `flush`; then `prepare_commit`, if the sink commits; then `snapshot_state`, if the
   writer has state. All committables of one subtask's epoch are one handle.
2. Driver: `commit` with all of them at once; those that ask for it are retried.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

import cloudpickle

from headrace.connectors.base.commit_requests import CommitRequest, commit_all
from headrace.connectors.base.sink import Sink
from headrace.connectors.base.sink_committer import Handle, SinkCommitter
from headrace.connectors.base.sink_writer import ElementContext, EpochEnd, RecordError, SinkWriter, WriterContext
from headrace.errors import InvalidProgramError
from headrace.metrics.local import LocalMetricGroup
from headrace.metrics.values import Path, Value
from headrace.state.safe_pickle import packed, unpacked


@dataclass(frozen=True)
class WriterInitContext:
    """What `create_writer` may know of the subtask.

    >>> WriterInitContext(WriterContext("sink", "job", subtask=2, parallelism=4)).get_subtask_id()
    2
    """

    _context: WriterContext

    def get_job_id(self) -> str:
        """Return the id of the job, 32 hexadecimal digits."""
        return self._context.job_id

    def get_subtask_id(self) -> int:
        """Return the index of the subtask, from 0."""
        return self._context.subtask

    def get_number_of_parallel_subtasks(self) -> int:
        """Return the parallelism of the sink."""
        return self._context.parallelism

    def get_attempt_number(self) -> int:
        """Return how often the job has been restarted."""
        return self._context.attempt

    def get_restored_checkpoint_id(self) -> int | None:
        """Return the checkpoint that the subtask was restored from, None at a first start."""
        return self._context.restored_checkpoint

    def metric_group(self) -> Any:
        """Return the group in which the writer registers its metrics."""
        return self._context.runtime.get_metrics_group()

    def current_processing_time(self) -> int:
        """Return the processing time in milliseconds."""
        return self._context.current_processing_time()


@dataclass(frozen=True)
class CommitterInitContext:
    """What `create_committer` may know. There is one committer for all subtasks, in the driver.

    >>> CommitterInitContext("a" * 32).get_number_of_parallel_subtasks()
    1
    """

    _job_id: str
    _metrics: LocalMetricGroup = field(default_factory=LocalMetricGroup)

    def get_job_id(self) -> str:
        """Return the id of the job, 32 hexadecimal digits."""
        return self._job_id

    def get_number_of_parallel_subtasks(self) -> int:
        """Return 1."""
        return 1

    def metric_group(self) -> LocalMetricGroup:
        """Return the group in which the committer registers its metrics."""
        return self._metrics


class UserSink(Sink):
    """The definition around a user's sink."""

    def __init__(self, sink: Any) -> None:
        self._sink = sink

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        init = WriterInitContext(context)
        restored = [unpacked(state) for subtask in states for state in subtask]
        if restored:
            writer = self._sink.restore_writer(init, restored)
        else:
            writer = self._sink.create_writer(init)
        commits = hasattr(self._sink, "create_committer")
        if commits != hasattr(writer, "prepare_commit"):
            raise InvalidProgramError(
                "A sink that has create_committer needs a writer that has prepare_commit, and the other way round",
                seen=f"{type(self._sink).__name__} and {type(writer).__name__}",
                remedy="derive them from SupportsCommitter and CommittingSinkWriter, or neither",
            )
        if hasattr(writer, "snapshot_state") and not hasattr(self._sink, "restore_writer"):
            raise InvalidProgramError(
                "A writer with snapshot_state needs a sink that has restore_writer",
                seen=f"{type(self._sink).__name__} and {type(writer).__name__}",
                remedy="derive the sink from SupportsWriterState",
            )
        return _Writer(writer, context)

    def commits(self) -> bool:
        return hasattr(self._sink, "create_committer")

    def open_committer(self, job_id: str, sink_id: str) -> SinkCommitter | None:
        return _Committer(self._sink, job_id) if self.commits() else None


class _Writer(SinkWriter):
    def __init__(self, writer: Any, context: WriterContext) -> None:
        self._writer = writer
        self._element = ElementContext(context.current_watermark, context.current_processing_time)
        self._checkpoint = 0

    def write(self, values: list[Any], timestamps: list[int | None] | None) -> None:
        write, element = self._writer.write, self._element
        element.record_timestamp = None
        value = None
        try:
            for i, value in enumerate(values):
                if timestamps is not None:
                    element.record_timestamp = timestamps[i]
                write(value, element)
        except Exception as error:
            raise RecordError(value) from error

    def write_watermark(self, timestamp: int) -> None:
        self._writer.write_watermark(timestamp)

    def end_epoch(self, end: EpochEnd) -> list[Any]:
        self._checkpoint = end.checkpoint
        self._writer.flush(end.last)
        if not hasattr(self._writer, "prepare_commit"):
            return []
        committables = [packed(c) for c in self._writer.prepare_commit()]
        return [committables] if committables else []

    def state(self) -> Any:
        if not hasattr(self._writer, "snapshot_state"):
            return None
        return [packed(state) for state in self._writer.snapshot_state(self._checkpoint)] or None

    def close(self) -> None:
        self._writer.close()


_OUTCOMES = ("successful", "alreadyCommitted", "failed", "retried")


class _Committer(SinkCommitter):
    """Keeps partly committed handles, so that a retry commits only the rest."""

    def __init__(self, sink: Any, job_id: str) -> None:
        self._sink, self._job_id = sink, job_id
        self._committer: Any = None
        self._begun: dict[str, list[CommitRequest]] = {}
        self._metrics = LocalMetricGroup()
        self._counted = {name: self._metrics.counter(f"{name}Committables") for name in _OUTCOMES}

    def commit(self, handle: Handle) -> None:
        if self._committer is None:
            sink = pickle.loads(cloudpickle.dumps(self._sink))  # noqa: S301 - the program's own object
            self._committer = sink.create_committer(CommitterInitContext(self._job_id, self._metrics))
        requests = self._begun.setdefault(handle.id, [CommitRequest(unpacked(c)) for c in handle.payload])
        before = sum(request.get_number_of_retries() for request in requests)
        try:
            commit_all(requests, self._committer.commit)
        finally:
            retries = sum(request.get_number_of_retries() for request in requests) - before
            self._counted["retried"].inc(retries)
            self._counted["failed"].inc(sum(request.error is not None for request in requests))
        del self._begun[handle.id]
        for request in requests:
            self._counted[request.outcome].inc()

    def abort(self, handle: Handle) -> bool:
        """Drop the committables of an epoch that is retried: the committer never sees them."""
        return handle.id not in self._begun

    def size(self, handle: Handle) -> int:
        return len(handle.payload)

    def metrics(self) -> dict[Path, Value]:
        return self._metrics.values()

    def close(self) -> None:
        if self._committer is not None:
            committer, self._committer = self._committer, None
            committer.close()
