"""Concludes checkpoints: completes them, writes savepoints, commits the last output of a job.

The order, in which a failure at any point loses and doubles nothing:

1. Mark the collected output that the checkpoint covers.
2. Make the checkpoint durable and commit. If the job fails from here on, it recovers from this checkpoint.
3. Release the marked output. If the job failed before this, recovery releases it.
4. Give up what the job was restored from.
5. Settle the ledger on the checkpoint.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from headrace.checkpoint import manifests
from headrace.checkpoint.disposal import discard_claimed
from headrace.checkpoint.driver import Checkpoints
from headrace.checkpoint.in_use import Use
from headrace.checkpoint.model import Origin
from headrace.checkpoint.savepoints import write_savepoint
from headrace.config.checkpoint_settings import DurabilitySettings
from headrace.driver.collected_output import CollectedOutput
from headrace.driver.current_job import CurrentJob
from headrace.driver.events import (
    CheckpointCompleted,
    CheckpointFailed,
    Event,
    Finished,
    SavepointFailed,
    SavepointWritten,
)
from headrace.driver.instructions import ConcludeCheckpoint, Finish, WriteSavepoint
from headrace.errors import HeadraceError

_log = logging.getLogger("headrace")


class Conclusion:
    """Performs `ConcludeCheckpoint`, `WriteSavepoint` and `Finish`."""

    def __init__(
        self,
        job: CurrentJob,
        checkpoints: Checkpoints,
        results: CollectedOutput,
        durability: DurabilitySettings,
        origin_use: Use,
    ) -> None:
        """`origin_use` marks what the job was restored from as being in use."""
        self._job = job
        self._checkpoints = checkpoints
        self._results = results
        self._durability = durability
        self._origin_use = origin_use
        self._claims = durability.claim and durability.periodic

    def conclude(self, instruction: ConcludeCheckpoint) -> Iterable[Event]:
        """Complete the checkpoint of an epoch."""
        job, checkpoints = self._job, self._checkpoints
        self._results.seal()  # 1
        manifest = checkpoints.complete(job.ledger, instruction.result.acks)  # 2
        if manifest is None:
            yield CheckpointFailed(instruction.epoch, checkpoints.problem)
            return
        self._results.completed(manifest.epoch)  # 3
        self._let_go_of_origin()  # 4
        origin = Origin(manifest, job.checkpoint_files)
        job.ledger.settle(origin)  # 5
        if not checkpoints.periodic:  # it has committed output: there is nothing else to restart from
            self._restart_from(origin)
        yield CheckpointCompleted(instruction.epoch, manifest)

    def write_savepoint(self, instruction: WriteSavepoint) -> Iterable[Event]:
        """Write the savepoint that was asked for."""
        try:
            folder = write_savepoint(instruction.manifest, self._job.checkpoint_files, instruction.directory)
        except Exception as error:
            _log.warning("headrace: %r could not write a savepoint: %s", self._job.name, error)
            yield SavepointFailed(error)
        else:
            yield SavepointWritten(folder)

    def finish(self, instruction: Finish) -> Iterable[Event]:
        """Commit what is left when all input has ended. A job that was stopped has committed with its savepoint."""
        if instruction.ended:
            self._results.seal()
            self._checkpoints.finish(self._job.ledger)
            self._let_go_of_origin()
        self._results.release()
        yield Finished()

    def _let_go_of_origin(self) -> None:
        """Give up what the job was restored from: it has a checkpoint of its own, or has finished."""
        if not self._durability.periodic:
            return
        self._origin_use.close()
        if self._claims and self._durability.restore_path is not None:
            self._claims = False
            try:
                discard_claimed(self._durability.restore_path)
            except (HeadraceError, OSError) as error:
                _log.warning("headrace: %r could not remove the savepoint it has claimed: %s", self._job.name, error)

    def _restart_from(self, origin: Origin) -> None:
        """Let a failure bring the job back to this checkpoint; files of the one before become obsolete."""
        job = self._job
        before, kept = job.program.origin, {file.name for file in origin.manifest.files}
        if before is not None and before.directory == job.state_directory:
            job.ledger.obsolete += [f for f in manifests.files_of(before.manifest) if f.name not in kept]
        job.restart_from(origin)
        self._origin_use.close()  # what it was restored from
