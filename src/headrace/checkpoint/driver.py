"""The checkpoints of a job on real storage and sinks: what the job's loop calls.

Decides which store has the checkpoints, where files are, and when the job is taken over; the order of everything else is that of
`headrace.checkpoint.driver_steps`, which this module runs. Never runs tasks.
"""

from __future__ import annotations

import os
import secrets
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from headrace.checkpoint import manifests
from headrace.checkpoint.driver_steps import FINISHED, DriverSteps, Layout
from headrace.checkpoint.errors import StoreError
from headrace.checkpoint.file_store import FileStore
from headrace.checkpoint.in_use import Use, use_of_checkpoints
from headrace.checkpoint.interpreter import Interpreter
from headrace.checkpoint.job_committer import JobCommitter, JobPublisher
from headrace.checkpoint.model import Committable, FileEntry, Manifest, Origin
from headrace.checkpoint.origin_commits import finish_commits
from headrace.checkpoint.outcomes import CheckpointOutcomes, CheckpointStatistics
from headrace.checkpoint.ports import JobProgress, Store
from headrace.checkpoint.remote_store import RemoteStore
from headrace.checkpoint.signatures import SignedRecords
from headrace.checkpoint.steps import Steps
from headrace.checkpoint.workflow import Workflow
from headrace.config.checkpoint_settings import DurabilitySettings
from headrace.graph.epoch_plan import EpochPlan
from headrace.graph.job_graph import JobGraph
from headrace.metrics.values import Path as MetricPath
from headrace.metrics.values import Value
from headrace.state import storage
from headrace.state.files import StateFile, problem_of
from headrace.worker.messages import CheckpointOrder, TaskAck

__all__ = ["FINISHED", "Checkpoints"]

T = TypeVar("T")


class Checkpoints:
    """All checkpoints of one job in this driver."""

    def __init__(
        self,
        job_id: str,
        root: str,
        options: DurabilitySettings,
        graph: JobGraph,
        plan: EpochPlan,
        now: Callable[[], int],
        working_folder: str | None = None,
        publish: Callable[[dict[str, dict[str, Any]]], None] = lambda positions: None,
        monotonic: Callable[[], int] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`root` is a folder (or URL) of this job alone; `now` returns the wall clock in milliseconds.

        `working_folder` holds the files of the tasks of a job without periodic checkpoints. `publish` tells the sources
        how far a completed checkpoint has read: positions by vertex and split. `monotonic` is a clock in milliseconds
        that never jumps.
        """
        monotonic = monotonic or _monotonic
        self._root = root
        self._options = options
        self._now = now
        self._sleep = sleep
        self._job_id = job_id
        self._graph = graph
        self._working_folder = working_folder
        self._store: Store | None = None
        self._use = Use()
        self._outcomes = CheckpointOutcomes(options.settings, now, monotonic)
        self._committer = JobCommitter(job_id, graph)
        self._publisher = JobPublisher(publish, self._outcomes.published)
        self._steps = DriverSteps(
            lambda: Workflow(job_id, uuid.uuid4().hex, options.settings.retained),
            self._committer,
            self._outcomes,
            _layout(graph, plan),
            monotonic,
        )

    # -- facts ----------------------------------------------------------------------------------------------------

    @property
    def statistics(self) -> CheckpointStatistics:
        """What became of the job's checkpoints, for clients."""
        return self._outcomes.statistics

    @property
    def problem(self) -> str:
        """Why the last checkpoint that failed did."""
        return self._outcomes.problem

    @property
    def periodic(self) -> bool:
        """Whether checkpoints are taken periodically."""
        return self._options.periodic

    @property
    def commits(self) -> bool:
        """Whether the job has sinks that commit."""
        return bool(self._committer)

    def commit_metrics(self) -> dict[str, dict[MetricPath, Value]]:
        """Return the metrics of the sinks' committers, by the ids of the operators."""
        return self._committer.metrics()

    @property
    def files(self) -> str:
        """The folder (or URL) of the state files that manifests list."""
        return storage.join(self._root, "state")

    @property
    def working_directory(self) -> str | None:
        """The folder that tasks write their files in, if manifests list them there too."""
        path = storage.local_path(self._root)
        return None if path is None or not self.periodic else os.path.join(path, "state")

    # -- the steps ------------------------------------------------------------------------------------------------

    def recover(self, origin: Origin | None = None) -> Manifest | None:
        """Take the job over; return the checkpoint that it continues from, None if it begins.

        `origin` is where a job without checkpoints of its own starts. Its commits are finished before anything is
        discarded: if it has this job's id, some of what is staged under that id is its output.
        """
        if self._store is None:
            self._store = open_store(self._job_id, self._root, self._options, self._working_folder)
            path = storage.local_path(self._root)
            self._use = Use() if path is None else use_of_checkpoints(path)
        base = self._run(self._steps.take_over())
        if origin is not None and (base is None or not self.periodic):
            finish_commits(origin, self._graph, self._sleep)
        self._run(self._steps.start())
        return base

    def order(self, progress: JobProgress, forced: bool = False) -> CheckpointOrder:
        """Return what the next epoch has to do for checkpoints. `forced`: make one now, as for a savepoint."""
        completed, aborted = self._outcomes.take_notices()
        durable = self._store is not None and self.periodic
        begun = (durable or (forced and self._taken_over())) and self._run(self._steps.trigger(progress, forced))
        workflow = self._steps.workflow
        return CheckpointOrder(
            generation=workflow.generation,
            number=workflow.epoch,
            now=begun,
            timestamp=self._now(),
            completed=completed,
            aborted=aborted,
            store=None if storage.local_path(self._root) is not None else self.files,
            staging=storage.local_path(self.files) or self.files,
            durable=durable or begun,
            restored=workflow.base.epoch if workflow.base is not None else 0,
        )

    def _taken_over(self) -> bool:
        """Take over a job without periodic checkpoints when the first one is requested."""
        if self._store is None:
            try:
                self.recover()
            except StoreError as error:
                self._store = None
                self._outcomes.problem = error.message
                self._outcomes.harmless(f"no checkpoint can be made: {error.message}")
                return False
        return True

    def complete(self, progress: JobProgress, acks: list[TaskAck]) -> Manifest | None:
        """Complete the checkpoint of the epoch that has just ended; return None if it fails."""
        return self._run(self._steps.complete(progress, acks))

    def finish(self, progress: JobProgress) -> None:
        """Commit what is staged when all input has ended. Raise if that fails."""
        if self._store is not None:
            self._run(self._steps.finish(progress))

    # -- the end --------------------------------------------------------------------------------------------------

    def rescaled(self, graph: JobGraph, plan: EpochPlan) -> None:
        """Continue with another parallelism."""
        self._graph = graph
        self._steps.layout = _layout(graph, plan)

    def abort(self, acks: list[TaskAck]) -> None:
        """Drop what sinks have staged in an epoch that is run again."""
        reports = [report for ack in acks for report in ack.vertices]
        self._drop(
            [Committable(sink, handle) for r in reports for sink, handles in r.handles.items() for handle in handles]
        )

    def abandon(self, progress: JobProgress) -> None:
        """Drop what was staged since the last checkpoint: the job ends or restarts without another one."""
        self._drop(progress.take_handles())

    def _drop(self, staged: list[Committable]) -> None:
        if self._store is not None:
            self._run(self._steps.drop(staged))

    def tidy(self) -> None:
        """Remove everything but the retained checkpoints."""
        if self._store is not None:
            self._run(self._steps.tidy())

    def remove(self) -> None:
        """Remove all checkpoints of the job, unless another driver has claimed it."""
        if self._store is not None:
            self._run(self._steps.remove(named=self._options.job_id is not None))

    def close(self) -> None:
        self._use.close()
        self._committer.close()

    def _run(self, steps: Steps[T]) -> T:
        assert self._store is not None, "the job has been taken over"
        return Interpreter(self._store, self._committer, self._publisher, self._sleep).run(steps)


def _layout(graph: JobGraph, plan: EpochPlan) -> Layout:
    return Layout({v.id: v.parallelism for v in graph.vertices.values()}, manifests.layout_of(graph, plan))


def _monotonic() -> int:
    return int(time.monotonic() * 1000)


def open_store(job_id: str, root: str, options: DurabilitySettings, working_folder: str | None) -> Store:
    """Open the store below `root`, a folder or URL.

    `working_folder` holds the state files of a job without periodic checkpoints.
    """
    # Without a directory they are in this driver's own folder and end with it: a key of its own is enough.
    key = secrets.token_bytes(32) if options.directory is None else None
    records = SignedRecords(key, options.trust)
    path = storage.local_path(root)
    if path is None:
        return RemoteStore(root, job_id, records)

    def check_file(path: Path, entry: FileEntry) -> str | None:
        if not options.periodic and working_folder is not None:
            path = Path(working_folder, entry.name)
        return problem_of(path, StateFile(entry.name, entry.size, entry.checksum), job_id)

    return FileStore(path, job_id, check_file, records)
