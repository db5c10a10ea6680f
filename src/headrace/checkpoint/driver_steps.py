"""The driver's side of a job's checkpoints, as instructions: what the loop of epochs needs of the protocol.

1. `recover` takes the job over and returns the checkpoint that it continues from. Once per start, restarts included.
2. `trigger` begins a checkpoint before an epoch, if one is due, and writes its plan.
3. `complete` makes the checkpoint of an epoch whose acknowledgements have arrived: manifest, commits, marker, garbage.
4. `finish` does the same without tasks when all input has ended.
5. `drop` aborts output that no manifest lists; `tidy` or `remove` end the job.

Performs no effect itself. `headrace.checkpoint.driver` runs the instructions on storage and sinks; the crash model
(tests/protocol) runs the same code and stops it between any two of them. A failed checkpoint loses no data: what was
staged and written for it belongs to the next one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headrace.checkpoint import instructions as do
from headrace.checkpoint import manifests
from headrace.checkpoint.errors import CheckpointError, CommitRefusedError, StoreError
from headrace.checkpoint.errors import CheckpointFailureReason as Reason
from headrace.checkpoint.model import Committable, Manifest, Plan
from headrace.checkpoint.outcomes import CheckpointOutcomes
from headrace.checkpoint.ports import Committer, JobProgress
from headrace.checkpoint.resolve import Verdict
from headrace.checkpoint.steps import Steps
from headrace.checkpoint.workflow import Workflow
from headrace.connectors.base.commit_requests import CommitFailedError
from headrace.errors import HeadraceError
from headrace.worker.messages import TaskAck

FINISHED = "finished"
"""The fact in the last manifest of a job whose input has ended."""
COMMIT_PAUSES = (0.05, 0.2, 0.8)
"""Seconds between the attempts to commit. After the last attempt the job restarts."""
_COLLECT_PAUSE = 500
"""Milliseconds between garbage collections: not at each of many checkpoints a second."""
PERMANENT = (CheckpointError, CommitRefusedError, CommitFailedError, manifests.IncompatibleStateError)
"""Errors of a commit that no retry fixes."""
_log = logging.getLogger("headrace")


@dataclass(frozen=True)
class Layout:
    """How a job is cut into tasks, as its manifests record it."""

    parallelism: Mapping[str, int] = field(default_factory=dict)
    tasks: Mapping[str, Any] = field(default_factory=dict)
    """See `manifests.layout_of`."""


class DriverSteps:
    """All checkpoints of one job in one driver.

    `new_workflow` returns a workflow with a new attempt id for each start of the job; `monotonic` is a clock in
    milliseconds.
    """

    def __init__(
        self,
        new_workflow: Callable[[], Workflow],
        committer: Committer,
        outcomes: CheckpointOutcomes,
        layout: Layout,
        monotonic: Callable[[], int],
    ) -> None:
        self.outcomes = outcomes
        self.layout = layout
        self.workflow = new_workflow()
        self._new_workflow = new_workflow
        self._committer = committer
        self._monotonic = monotonic
        self._plan: Plan | None = None
        self._states: dict[str, dict[str, str]] = {}
        self._collect_after = 0
        self._started = False

    def recover(self) -> Steps[Manifest | None]:
        """Take the job over and start it; return the checkpoint that it continues from, None if it begins."""
        base = yield from self.take_over()
        yield from self.start()
        return base

    def take_over(self) -> Steps[Manifest | None]:
        """Claim the job and finish the commits of its last checkpoint; return that checkpoint, None if the job begins.

        A driver that had the job, failed, and finds that another one has claimed it since does not take it back.
        """
        if self.workflow.generation:
            yield from self.workflow.fence()
        self.outcomes.suspend()
        self._plan, self._started = None, False
        workflow = self._new_workflow()
        try:
            decision = yield from workflow.take_over()
        finally:
            if workflow.generation:  # before its claim, the generation that this driver had is what it must not lose
                self.workflow = workflow
        self._committer.generation = self.workflow.generation
        if decision.verdict is Verdict.REPLAY:
            yield from self._commit()
        base = self.workflow.base
        if base is not None:
            self._states = dict(base.facts.get("states", {}))
        return base

    def start(self) -> Steps[None]:
        """Discard output that nobody will ever commit. From now on checkpoints may be triggered."""
        yield from self.workflow.discard()
        self._started = True
        self.outcomes.resume()

    def trigger(self, progress: JobProgress, forced: bool = False) -> Steps[bool]:
        """Begin a checkpoint if one is due; return whether it has begun.

        `forced`: begin it now, for a savepoint or another request.
        """
        if not forced and not self.outcomes.due:
            return False
        return (yield from self._begin(progress.tasks, forced))

    def _begin(self, tasks: Iterable[tuple[str, int]], forced: bool) -> Steps[bool]:
        number = self.workflow.epoch
        self.outcomes.begun(number, tasks, forced)
        try:
            self._plan = yield from self.workflow.plan(self.layout.parallelism)
        except StoreError as error:
            self.outcomes.failed(number, Reason.IO_EXCEPTION, error.message)
            return False
        return True

    def complete(self, progress: JobProgress, acks: list[TaskAck]) -> Steps[Manifest | None]:
        """Perform steps 4 to 9 of the protocol for the epoch that has just ended; return None if the checkpoint fails."""
        yield do.Reach("acks.full")
        self._states |= manifests.states_of(acks)
        return (yield from self._conclude(progress, acks))

    def finish(self, progress: JobProgress) -> Steps[None]:
        """Commit what is staged after all input has ended, and record that there is nothing more to do.

        Raise if that fails, so that the job restarts from its last checkpoint.
        """
        self._collect_after = 0
        if not (yield from self._begin([], forced=True)) or not (
            yield from self._conclude(progress, [], finished=True)
        ):
            raise CheckpointError(Reason.FINALIZE_CHECKPOINT_FAILURE, remedy="check the checkpoint storage.")

    def _conclude(self, progress: JobProgress, acks: list[TaskAck], finished: bool = False) -> Steps[Manifest | None]:
        plan = self._plan
        assert plan is not None, "a checkpoint was begun"
        if not self.outcomes.acknowledged(plan.epoch, acks):
            return None
        handles = progress.take_handles()
        facts: dict[str, Any] = {"layout": self.layout.tasks, "states": self._states}
        manifest = self.workflow.manifest(
            plan,
            [] if finished else manifests.file_entries(progress),
            self._committer.combined(handles),
            manifests.packed_positions(progress),
            {"job": progress.watermark()},
            facts | ({FINISHED: True} if finished else {}),
        )
        try:
            yield from self.workflow.decide_epoch(manifest)
        except StoreError as error:
            progress.give_back(handles)
            self.outcomes.failed(plan.epoch, Reason.IO_EXCEPTION, error.message)
            return None
        yield from self._commit()
        self.outcomes.completed(manifest, acks)
        if self._monotonic() >= self._collect_after:
            yield from self._collect()
        return manifest

    def _commit(self) -> Steps[None]:
        """Perform steps 6 to 8; retry for a while if a sink or the store fails."""
        for pause in (*COMMIT_PAUSES, None):
            try:
                yield from self.workflow.finish()
                return
            except PERMANENT:
                raise
            except Exception as error:
                if pause is None or self.workflow.unfinished is None:
                    raise
                _log.warning("headrace: a commit is retried in %.2f s: %s", pause, error)
            yield do.Pause(pause)

    def _collect(self) -> Steps[None]:
        """Perform step 9. The next checkpoint collects what remains after an error."""
        self._collect_after = self._monotonic() + _COLLECT_PAUSE
        try:
            yield from self.workflow.collect()
        except CheckpointError:
            raise
        except HeadraceError as error:
            self.outcomes.harmless(f"garbage stays for now: {error.message}")

    def drop(self, staged: Iterable[Committable]) -> Steps[None]:
        """Abort staged output that no manifest lists. Never fail: what a sink cannot drop now never becomes visible."""
        for committable in staged:
            try:
                yield do.Abort(committable)
            except Exception as error:
                self.outcomes.harmless(f"staged output {committable.handle.id} could not be dropped: {error}")

    def tidy(self) -> Steps[None]:
        """Remove everything but the retained checkpoints.

        A driver whose recovery was refused has no base: to it all files would look dead, and all staged output left over.
        """
        if self._started and self.workflow.unfinished is None:
            yield from self._collect()

    def remove(self, named: bool) -> Steps[None]:
        """Remove all checkpoints of the job, unless another driver has claimed it.

        `named`: other drivers may run the job, so one that never claimed it must not touch it.
        """
        if self.workflow.generation:
            yield from self.workflow.fence()
        elif named:
            return
        yield do.RemoveAll()
