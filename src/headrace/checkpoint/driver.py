"""The driver's side of a job's checkpoints: joins the loop of epochs with the protocol of `headrace.checkpoint`.

1. `recover` takes the job over and says what it starts from. Once for each start of the job, restarts included.
2. `order` says, before each epoch, whether a checkpoint is made at its end; then its plan is written.
3. `complete` makes the checkpoint of an epoch whose acknowledgements are there: manifest, commits, marker, garbage.
4. `finish` does the same without tasks when all input has ended.

The numbers of checkpoints are those of the protocol's slots. A checkpoint that comes to nothing costs no data: what was
staged and written for it belongs to the next one.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from headrace.checkpoint import manifests
from headrace.checkpoint.coordinator import CheckpointCoordinator, Failed
from headrace.checkpoint.errors import CheckpointError, CommitRefusedError, StoreError
from headrace.checkpoint.failure_reasons import CheckpointFailureReason as Reason
from headrace.checkpoint.file_store import FileStore
from headrace.checkpoint.in_use import Use, use_of_checkpoints
from headrace.checkpoint.interpreter import Interpreter
from headrace.checkpoint.job_committer import JobCommitter, JobPublisher
from headrace.checkpoint.job_progress import JobProgress
from headrace.checkpoint.model import FileEntry, Manifest, Plan
from headrace.checkpoint.origin import Origin
from headrace.checkpoint.origin_commits import finish_commits
from headrace.checkpoint.resolve import Verdict
from headrace.checkpoint.signed_records import SignedRecords
from headrace.checkpoint.statistics import CheckpointStatistics
from headrace.checkpoint.steps import Steps
from headrace.checkpoint.store import Store
from headrace.checkpoint.workflow import Workflow
from headrace.config.checkpoint_settings import DurabilitySettings
from headrace.connectors.base.commit_requests import CommitFailedError
from headrace.connectors.base.sink import Handle
from headrace.connectors.jdbc.database import DatabaseError
from headrace.errors import HeadraceError, StateError, UserCodeError
from headrace.foundation.faultpoints import reach
from headrace.graph.epoch_plan import EpochPlan
from headrace.graph.job_graph import JobGraph
from headrace.metrics.values import Path as MetricPath
from headrace.metrics.values import Value
from headrace.state import storage
from headrace.state.files import StateFile, problem_of
from headrace.worker.messages import CheckpointOrder, TaskAck

__all__ = ["Checkpoints"]

T = TypeVar("T")
_COMMIT_TRIES = 4
_FIRST_PAUSE = 0.05
_COLLECT_PAUSE = 0.5
FINISHED = "finished"
"""The fact in the last manifest of a job that has come to its end."""


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
    ) -> None:
        """`root` is a folder (or URL) of this job alone; `now` gives the wall clock in milliseconds.

        `working_folder` is where the tasks of a job without periodic checkpoints have their files. `publish` tells the
        sources how far a completed checkpoint has read: positions by vertex and split.
        """
        self.statistics = CheckpointStatistics()
        self._job_id = job_id
        self._root = root
        self._options = options
        self._graph, self._plan = graph, plan
        self._now = now
        self._working_folder = working_folder
        self._committer = JobCommitter(job_id, graph)
        self._publisher = JobPublisher(publish, self._completed)
        self._store: Store | None = None
        self._use = Use()
        self._workflow = Workflow(job_id, uuid.uuid4().hex, options.settings.retained)
        self._coordinator = CheckpointCoordinator(options.settings, _monotonic())
        self._planned: Plan | None = None
        self._collect_after = 0.0
        self._notices: tuple[list[int], list[int]] = ([], [])
        self._states: dict[str, dict[str, str]] = {}
        self.problem = ""
        """Why the last checkpoint that failed did."""

    # -- facts ----------------------------------------------------------------------------------------------------

    @property
    def periodic(self) -> bool:
        """Whether checkpoints are made by themselves."""
        return self._options.periodic

    @property
    def commits(self) -> bool:
        """Whether the job has sinks that commit."""
        return bool(self._committer)

    def commit_metrics(self) -> dict[str, dict[MetricPath, Value]]:
        """Metrics of the sinks' committers, by the ids of the operators."""
        return self._committer.metrics()

    @property
    def started(self) -> bool:
        """Whether the job has been taken over."""
        return self._store is not None

    @property
    def generation(self) -> int:
        """The number of this driver's claim, 0 before it."""
        return self._workflow.generation

    @property
    def files(self) -> str:
        """The folder (or URL) of the state files that checkpoints count on."""
        return storage.join(self._root, "state")

    @property
    def working_directory(self) -> str | None:
        """Where tasks write their files, if that is where checkpoints count on them too."""
        path = storage.local_path(self._root)
        return None if path is None or not self.periodic else os.path.join(path, "state")

    @property
    def base(self) -> Manifest | None:
        """The last completed checkpoint."""
        return self._workflow.base

    # -- the steps ------------------------------------------------------------------------------------------------

    def recover(self, origin: Origin | None = None) -> Manifest | None:
        """Takes the job over; gives the checkpoint that it goes on from, None if it begins.

        `origin` is where a job without checkpoints of its own starts. Its commits are finished before anything is
        discarded: if it has this job's id, some of what is staged under that id is its output.

        A driver that had the job, failed, and finds that another one has claimed it meanwhile does not take it back.
        """
        if self._store is None:
            self._store = self._open_store()
        elif self._workflow.generation:
            self._run(self._workflow.fence())
        self._workflow = Workflow(self._job_id, uuid.uuid4().hex, self._options.settings.retained)
        self._coordinator.suspend()
        self._planned = None
        decision = self._run(self._workflow.take_over())
        self._committer.generation = self._workflow.generation
        if decision.verdict is Verdict.REPLAY:
            self._commit()
        if origin is not None and (decision.base is None or not self.periodic):
            finish_commits(origin, self._graph)
        self._run(self._workflow.discard())
        self._coordinator.resume(_monotonic())
        base = self._workflow.base
        if base is not None:
            self._states = dict(base.facts.get("states", {}))
        return base

    def order(self, forced: bool = False) -> CheckpointOrder:
        """What the next epoch has to do for checkpoints. `forced`: one must be made, as for a savepoint."""
        completed, aborted = self._notices
        self._notices = ([], [])
        durable = self.started and self.periodic
        due = forced or (durable and self._coordinator.due(_monotonic()) is None)
        if due:
            due = self._taken_over() and self._begin(forced)
        return CheckpointOrder(
            generation=self._workflow.generation,
            number=self._workflow.epoch,
            now=due,
            timestamp=self._now(),
            completed=tuple(completed),
            aborted=tuple(aborted),
            store=None if storage.local_path(self._root) is not None else self.files,
            staging=storage.local_path(self.files) or self.files,
            durable=durable or due,
            restored=self._workflow.base.epoch if self._workflow.base is not None else 0,
        )

    def _taken_over(self) -> bool:
        """A job without periodic checkpoints is taken over when the first one is asked for."""
        if not self.started:
            try:
                self.recover()
            except StoreError as error:
                self._store, self.problem = None, error.message
                return False
        return True

    def _begin(self, forced: bool) -> bool:
        number = self._workflow.epoch
        self._coordinator.trigger(number, ["epoch"], _monotonic(), forced)
        self.statistics.begun(number, self._now(), savepoint=forced)
        try:
            self._planned = self._run(self._workflow.plan(parallelism=self._parallelism()))
        except StoreError as error:
            self._failed(number, Reason.IO_EXCEPTION, error)
            return False
        return True

    def complete(self, progress: JobProgress, acks: list[TaskAck]) -> Manifest | None:
        """Steps 4 to 9 of the protocol for the epoch that has just ended; None: the checkpoint came to nothing."""
        reach("acks.full")
        self._states |= manifests.states_of(acks)
        declined = next((ack.declined for ack in acks if ack.declined is not None), None)
        if declined is not None:
            assert self._planned is not None, "a checkpoint was begun"
            self._failed(self._planned.epoch, Reason.CHECKPOINT_ASYNC_EXCEPTION, StateError(declined))
            return None
        return self._conclude(progress, acks, {})

    def finish(self, progress: JobProgress) -> None:
        """All input has ended: commits what is staged, and remembers that there is nothing more to do.

        Raises if that cannot be done now, so that the job is started again from its last checkpoint.
        """
        if not self.started:
            return
        self._collect_after = 0.0
        if not self._begin(forced=True) or self._conclude(progress, [], {FINISHED: True}) is None:
            raise CheckpointError(Reason.FINALIZE_CHECKPOINT_FAILURE, remedy="see to the checkpoint storage.")

    def _conclude(self, progress: JobProgress, acks: list[TaskAck], facts: dict[str, bool]) -> Manifest | None:
        plan = self._planned
        assert plan is not None, "a checkpoint was begun"
        number = plan.epoch
        handles = progress.take_handles()
        manifest = self._workflow.manifest(
            plan,
            [] if facts else manifests.file_entries(progress),
            [manifests.as_committable(sink, handle) for sink, handle in self._committer.combined(handles)],
            manifests.packed_positions(progress),
            {"job": progress.watermark()},
            {"layout": manifests.layout_of(self._graph, self._plan), "states": self._states, **facts},
        )
        if self._expired(number):
            progress.give_back(handles)
            return None
        self._coordinator.acknowledge(number, "epoch")
        try:
            self._run(self._workflow.decide_epoch(manifest))
        except StoreError as error:
            progress.give_back(handles)
            self._failed(number, Reason.IO_EXCEPTION, error)
            return None
        self._commit()
        self._coordinator.completed(number, _monotonic())
        self.statistics.completed(manifest, acks, self._now())
        self._collect()
        return manifest

    def _expired(self, number: int) -> bool:
        late = [failed for failed in self._coordinator.expire(_monotonic()) if failed.number == number]
        for failed in late:
            self._note_failure(failed, Reason.CHECKPOINT_EXPIRED.text)
        return bool(late)

    def _commit(self) -> None:
        """Steps 6 to 8, again and again for a while if a sink or the store refuses."""
        pause = _FIRST_PAUSE
        for left in reversed(range(_COMMIT_TRIES)):
            try:
                self._run(self._workflow.finish())
                return
            except (CheckpointError, CommitRefusedError, CommitFailedError, manifests.IncompatibleStateError):
                raise
            except Exception:
                if not left or self._workflow.unfinished is None:
                    raise
            time.sleep(pause)
            pause *= 4

    def _collect(self) -> None:
        """Step 9, not at each of many checkpoints a second."""
        if time.monotonic() < self._collect_after:
            return
        self._collect_after = time.monotonic() + _COLLECT_PAUSE
        try:
            self._run(self._workflow.collect())
        except (StoreError, UserCodeError, DatabaseError) as error:  # the next checkpoint collects again
            self.statistics.note(f"garbage stays for now: {error.message}")

    def _failed(self, number: int, reason: Reason, error: HeadraceError) -> None:
        self._note_failure(self._coordinator.failed(number, reason), error.message)

    def _note_failure(self, failed: Failed, why: str) -> None:
        self.problem = why
        self._notices[1].append(failed.number)
        self.statistics.failed(failed.number, f"{failed.reason.name}: {why}", self._now())
        if failed.fails_job:
            raise CheckpointError(
                failed.reason,
                f"Checkpoint {failed.number} failed, which is one more than is tolerated: {why}",
                remedy="see to the storage, or raise execution.checkpointing.tolerable-failed-checkpoints.",
            )

    def _completed(self, manifest: Manifest) -> None:
        self._notices[0].append(manifest.epoch)

    # -- the end --------------------------------------------------------------------------------------------------

    def rescaled(self, graph: JobGraph, plan: EpochPlan) -> None:
        """The job goes on with another parallelism."""
        self._graph, self._plan = graph, plan

    def abort(self, acks: list[TaskAck]) -> None:
        """An epoch is run again: drops what sinks have staged in it."""
        reports = [report for ack in acks for report in ack.vertices]
        self._drop([(sink, handle) for r in reports for sink, handles in r.handles.items() for handle in handles])

    def abandon(self, progress: JobProgress) -> None:
        """The job ends without a last checkpoint: what was staged since the one before is dropped."""
        self._drop(progress.take_handles())

    def _drop(self, handles: list[tuple[str, Handle]]) -> None:
        """Never fails: what a sink cannot drop now is in no manifest, so it is not going to be seen."""
        for sink, handle in handles:
            try:
                self._committer.abort(manifests.as_committable(sink, handle))
            except Exception as error:
                self.statistics.note(f"staged output {handle.id} could not be dropped: {error}")

    def tidy(self) -> None:
        """Removes all but the checkpoints that are retained.

        A driver that was refused stands on nothing: to it all files would look dead.
        """
        if self._workflow.epoch and self._workflow.unfinished is None:
            self._collect_after = 0.0
            self._collect()

    def remove(self) -> None:
        """Removes all checkpoints of the job, if it is still this driver's."""
        if self._workflow.generation:
            self._run(self._workflow.fence())
        elif self._options.job_id is not None:
            return  # it never was: another driver may have it
        path = storage.local_path(self._root)
        if path is not None:
            shutil.rmtree(path, ignore_errors=True)
        else:
            system, place = storage.file_system(self._root)
            if system.exists(place):
                system.rm(place, recursive=True)

    def close(self) -> None:
        """Releases connections."""
        self._use.close()
        self._committer.close()

    def _parallelism(self) -> dict[str, int]:
        return {vertex.id: vertex.parallelism for vertex in self._graph.vertices.values()}

    def _open_store(self) -> Store:
        path = storage.local_path(self._root)
        # Without a directory they are in this driver's own folder and end with it: a key of its own is enough.
        key = secrets.token_bytes(32) if self._options.directory is None else None
        records = SignedRecords(key, self._options.trust)
        if path is not None:
            store = FileStore(path, self._job_id, self._file_problem, records)
            self._use = use_of_checkpoints(path)
            return store
        from headrace.checkpoint.remote_store import RemoteStore

        return RemoteStore(self._root, self._job_id, records)

    def _file_problem(self, path: Path, entry: FileEntry) -> str | None:
        if not self.periodic and self._working_folder is not None:
            path = Path(self._working_folder, entry.name)
        return problem_of(path, StateFile(entry.name, entry.size, entry.checksum), self._job_id)

    def _run(self, steps: Steps[T]) -> T:
        assert self._store is not None, "the job has been taken over"
        return Interpreter(self._store, self._committer, self._publisher).run(steps)


def _monotonic() -> int:
    return int(time.monotonic() * 1000)
