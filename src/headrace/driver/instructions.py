"""The instructions that the job machine gives: what has to be done next, as plain data. The loop performs them in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headrace.checkpoint.model import Manifest
from headrace.common.job_status import JobStatus
from headrace.driver.events import printed
from headrace.driver.requests import Request
from headrace.errors import HeadraceError
from headrace.worker.messages import CheckpointOrder


@dataclass(frozen=True)
class Instruction:
    """Base of all instructions."""

    def __str__(self) -> str:
        return printed(self)


@dataclass(frozen=True)
class Begin(Instruction):
    """Recover the last checkpoint, if there is one, and prepare the ledger. Report `Begun`."""

    attempt: int


@dataclass(frozen=True)
class PlanEpoch(Instruction):
    """Decide whether the next epoch makes a checkpoint; it has to if `forced`. Report `EpochPlanned`."""

    forced: bool


@dataclass(frozen=True)
class RunEpoch(Instruction):
    """Order an epoch. Report `EpochAcknowledged` (and `CheckpointAcknowledged`), or `EpochAccepted` and these later."""

    epoch: int
    attempt: int
    order: CheckpointOrder = field(repr=False)
    drain: bool = False


@dataclass(frozen=True)
class TakeEpoch(Instruction):
    """Enter the epoch's acknowledgements into the ledger and hand out its output."""

    epoch: int
    result: Any = field(repr=False)


@dataclass(frozen=True)
class ConcludeCheckpoint(Instruction):
    """Make the checkpoint durable and commit. Report `CheckpointCompleted` or `CheckpointFailed`."""

    epoch: int
    order: CheckpointOrder = field(repr=False)
    result: Any = field(repr=False)


@dataclass(frozen=True)
class WriteSavepoint(Instruction):
    """Write a savepoint from the checkpoint. Report `SavepointWritten` or `SavepointFailed`."""

    directory: str
    manifest: Manifest = field(repr=False)


@dataclass(frozen=True)
class SettleEpoch(Instruction):
    """Delete obsolete files, wait for readers, update metrics and rate. Report `EpochSettled`."""

    epoch: int
    result: Any = field(repr=False)


@dataclass(frozen=True)
class Rescale(Instruction):
    """Change the parallelism. Report `Rescaled`, `RescaleRefused` or `CheckpointNeeded`."""

    request: Request


@dataclass(frozen=True)
class Answer(Instruction):
    """Answer the request: it was carried out."""

    request: Request
    value: Any


@dataclass(frozen=True)
class Refuse(Instruction):
    """Answer the request: it failed."""

    request: Request
    error: Exception


@dataclass(frozen=True)
class Wait(Instruction):
    """Wait for the given time, or until the job is cancelled. Report `WaitOver`."""

    seconds: float


@dataclass(frozen=True)
class ReportFailure(Instruction):
    """Add the error to the job's exceptions."""

    error: HeadraceError


@dataclass(frozen=True)
class GiveUpProgress(Instruction):
    """Abort what was staged since the last checkpoint: it will be computed again after `delay` seconds."""

    error: HeadraceError
    delay: float


@dataclass(frozen=True)
class Finish(Instruction):
    """Commit what is staged if all input has `ended`. Release the output. Report `Finished`."""

    ended: bool


@dataclass(frozen=True)
class Interrupt(Instruction):
    """Make a running epoch end soon. The thread that cancels performs it, not the loop."""


@dataclass(frozen=True)
class CloseExecutor(Instruction):
    """Close all functions and end all processes. Report `ExecutorClosed` or `CloseFailed`."""


@dataclass(frozen=True)
class ClearUp(Instruction):
    """Keep or remove the checkpoints, as the settings say for a job that ends like this."""

    outcome: JobStatus
    error: HeadraceError | None
    interrupted: bool


@dataclass(frozen=True)
class Dispose(Instruction):
    """Close everything that runs beside the job and remove its working folder. Report `Disposed`."""


@dataclass(frozen=True)
class End(Instruction):
    """Release everyone who waits for the end of the job."""
