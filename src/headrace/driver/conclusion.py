"""Concludes checkpoints: completes them, writes savepoints, commits the last output of a job. Ends jobs.

The order of a checkpoint, in which a failure at any point loses and doubles nothing:

1. Mark the collected output that the checkpoint covers.
2. Make the checkpoint durable and commit. If the job fails from here on, it recovers from this checkpoint.
3. Release the marked output. If the job failed before this, recovery releases it.
4. Give up what the job was restored from.
5. Settle the ledger on the checkpoint.

Nothing may keep a job from its end: whatever fails is logged, and the next step follows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from headrace.checkpoint import manifests
from headrace.checkpoint.disposal import discard_claimed
from headrace.checkpoint.driver import Checkpoints
from headrace.checkpoint.errors import FencedError
from headrace.checkpoint.in_use import Use
from headrace.checkpoint.model import Origin
from headrace.checkpoint.savepoints import write_savepoint
from headrace.common.job_status import JobStatus
from headrace.config.checkpoint_settings import DurabilitySettings
from headrace.driver import events as on
from headrace.driver.collected_output import CollectedOutput
from headrace.driver.current_job import CurrentJob
from headrace.driver.enumerators import Enumerators
from headrace.driver.executor import Executor
from headrace.driver.instructions import ClearUp, CloseExecutor, ConcludeCheckpoint, Dispose, Finish, WriteSavepoint
from headrace.errors import HeadraceError
from headrace.worker.failures import as_headrace_error

_log = logging.getLogger("headrace")


@dataclass(eq=False, repr=False)
class Conclusion:
    """Performs `ConcludeCheckpoint`, `WriteSavepoint` and `Finish`."""

    job: CurrentJob
    checkpoints: Checkpoints
    results: CollectedOutput
    durability: DurabilitySettings
    origin_use: Use
    """Marks what the job was restored from as being in use."""

    def __post_init__(self) -> None:
        self._claims = self.durability.claim and self.durability.periodic

    def conclude(self, instruction: ConcludeCheckpoint) -> Iterable[on.Event]:
        """Complete the checkpoint of an epoch."""
        job, checkpoints = self.job, self.checkpoints
        self.results.seal()  # 1
        manifest = checkpoints.complete(job.ledger, instruction.result.acks)  # 2
        if manifest is None:
            yield on.CheckpointFailed(instruction.epoch, checkpoints.problem)
            return
        self.results.completed(manifest.epoch)  # 3
        self._let_go_of_origin()  # 4
        origin = Origin(manifest, job.checkpoint_files)
        job.ledger.settle(origin)  # 5
        if not checkpoints.periodic:  # it has committed output: there is nothing else to restart from
            self._restart_from(origin)
        yield on.CheckpointCompleted(instruction.epoch, manifest)

    def write_savepoint(self, instruction: WriteSavepoint) -> Iterable[on.Event]:
        """Write the savepoint that was asked for."""
        try:
            folder = write_savepoint(instruction.manifest, self.job.checkpoint_files, instruction.directory)
        except Exception as error:
            _log.warning("headrace: %r could not write a savepoint: %s", self.job.name, error)
            yield on.SavepointFailed(error)
        else:
            yield on.SavepointWritten(folder)

    def finish(self, instruction: Finish) -> Iterable[on.Event]:
        """Commit what is left when all input has ended. A job that was stopped has committed with its savepoint."""
        if instruction.ended:
            self.results.seal()
            self.checkpoints.finish(self.job.ledger)
            self._let_go_of_origin()
        self.results.release()
        yield on.Finished()

    def _let_go_of_origin(self) -> None:
        """Give up what the job was restored from: it has a checkpoint of its own, or has finished."""
        if not self.durability.periodic:
            return
        self.origin_use.close()
        if self._claims and self.durability.restore_path is not None:
            self._claims = False
            try:
                discard_claimed(self.durability.restore_path)
            except (HeadraceError, OSError) as error:
                _log.warning("headrace: %r could not remove the savepoint it has claimed: %s", self.job.name, error)

    def _restart_from(self, origin: Origin) -> None:
        """Let a failure bring the job back to this checkpoint; files of the one before become obsolete."""
        job = self.job
        before, kept = job.program.origin, {file.name for file in origin.manifest.files}
        if before is not None and before.directory == job.state_directory:
            job.ledger.obsolete += [f for f in manifests.files_of(before.manifest) if f.name not in kept]
        job.restart_from(origin)
        self.origin_use.close()  # what it was restored from


@dataclass(eq=False, repr=False)
class Ending:
    """Performs `CloseExecutor`, `ClearUp` and `Dispose`."""

    job: CurrentJob
    executor: Executor
    enumerators: Enumerators
    checkpoints: Checkpoints
    durability: DurabilitySettings
    beside: dict[str, Callable[[], None]]
    """What runs beside the job, by name, and how to end it."""

    def close_executor(self, instruction: CloseExecutor) -> Iterable[on.Event]:
        """Close all functions and end all processes."""
        try:
            self.executor.close()
        except Exception as error:
            _log.warning("headrace: %r could not close its executor: %s", self.job.name, error)
            yield on.CloseFailed(as_headrace_error(error))
        else:
            yield on.ExecutorClosed()

    def clear_up(self, instruction: ClearUp) -> Iterable[on.Event]:
        """Keep or remove the checkpoints. A driver that was fenced off touches nothing: the job is another one's."""
        kept = self._keeps(instruction)
        if not isinstance(instruction.error, FencedError):
            self._try("abort staged output", lambda: self.checkpoints.abandon(self.job.ledger))
            clear = self.checkpoints.tidy if kept else self.checkpoints.remove
            self._try("clear up its checkpoints", clear)
        self._try("close its checkpoint storage", self.checkpoints.close)
        self.enumerators.close(kept)
        return ()

    def dispose(self, instruction: Dispose) -> Iterable[on.Event]:
        """Release what ran beside the job."""
        for name, end in self.beside.items():
            self._try(f"end its {name}", end)
        yield on.Disposed()

    def _keeps(self, instruction: ClearUp) -> bool:
        """Say whether the checkpoints stay. A job with a name that was interrupted continues from them."""
        durability, named = self.durability, self.durability.job_id is not None
        keep = {JobStatus.CANCELED: durability.keep_on_cancel, JobStatus.FAILED: durability.keep_on_failure}
        return keep.get(instruction.outcome, named) or (named and instruction.interrupted)

    def _try(self, what: str, step: Callable[[], object]) -> None:
        try:
            step()
        except Exception as error:
            _log.warning("headrace: %r could not %s: %s", self.job.name, what, error)
