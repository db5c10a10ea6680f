"""The events that move a job: what the job machine is told.

Events are plain data. What they carry along without the machine looking into it (acknowledgements, manifests) is not
part of their printed form, so that the story of a job stays short.

An acknowledgement names its epoch and the attempt of the job it belongs to. Nothing here says that a Spark job has
ended: an executor may acknowledge an epoch, and later its checkpoint, while the next epoch already runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headrace.checkpoint.model import Manifest
from headrace.driver.requests import Request
from headrace.errors import HeadraceError
from headrace.worker.messages import CheckpointOrder


@dataclass(frozen=True)
class Event:
    """Base of all events. `attempt` is None for what the loop itself reports: it is never out of date."""

    attempt: int | None = field(default=None, kw_only=True)

    def __str__(self) -> str:
        return printed(self)


def printed(part: Any) -> str:
    """Return an event or instruction in short form: its name and what is set.

    >>> printed(EpochSettled(3, ended=False, pause=0.5)), printed(Started())
    ('EpochSettled(epoch=3, ended=False, pause=0.5)', 'Started')
    """
    shown = []
    for name, spec in type(part).__dataclass_fields__.items():
        value = getattr(part, name)
        if spec.repr and value is not None:
            shown.append(f"{name}={value.what if isinstance(value, Request) else _short(value)}")
    return f"{type(part).__name__}({', '.join(shown)})" if shown else type(part).__name__


def _short(value: Any) -> str:
    if isinstance(value, HeadraceError):
        return f"{type(value).__name__}: {value.message.splitlines()[0] if value.message else ''}"
    return repr(value)


# -- the life of the job --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Started(Event):
    """The program has started the job."""


@dataclass(frozen=True)
class Begun(Event):
    """The ledger is where the job starts from. `finished`: a checkpoint says that the job has nothing left to do."""

    finished: bool = False


@dataclass(frozen=True)
class WaitOver(Event):
    """The time of a `Wait` has passed, or somebody has cut it short."""


@dataclass(frozen=True)
class Failed(Event):
    """Something has failed. `final`: the job must not restart, whatever its restart strategy says."""

    error: HeadraceError
    final: bool = False


@dataclass(frozen=True)
class CancelAsked(Event):
    """The job is to end now. `interrupted`: because its program ends, so a job with a name keeps its checkpoints."""

    interrupted: bool = False


@dataclass(frozen=True)
class Finished(Event):
    """Everything that the job has to leave behind is committed."""


@dataclass(frozen=True)
class ExecutorClosed(Event):
    """All functions are closed, all processes of the job have ended."""


@dataclass(frozen=True)
class CloseFailed(Event):
    """The executor has ended, but closing it failed."""

    error: HeadraceError


@dataclass(frozen=True)
class Disposed(Event):
    """Files and threads of the job are gone. Nothing is left to do."""


# -- epochs and checkpoints -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EpochPlanned(Event):
    """It is decided whether the next epoch makes a checkpoint. `problem`: why one that was asked for cannot be made."""

    order: CheckpointOrder = field(repr=False)
    problem: str = field(default="", repr=False)


@dataclass(frozen=True)
class EpochAccepted(Event):
    """The executor works on the epoch and will acknowledge it later."""

    epoch: int


@dataclass(frozen=True)
class EpochAcknowledged(Event):
    """All tasks have acknowledged the epoch, consistently."""

    epoch: int
    result: Any = field(repr=False)


@dataclass(frozen=True)
class EpochAbandoned(Event):
    """The epoch was given up because the job is cancelled."""

    epoch: int


@dataclass(frozen=True)
class CheckpointAcknowledged(Event):
    """All tasks have written what the checkpoint of the epoch needs."""

    epoch: int


@dataclass(frozen=True)
class CheckpointCompleted(Event):
    """The checkpoint is durable and its output committed."""

    epoch: int
    manifest: Manifest = field(repr=False)


@dataclass(frozen=True)
class CheckpointFailed(Event):
    """The checkpoint could not be made; the job tolerates that."""

    epoch: int
    problem: str


@dataclass(frozen=True)
class EpochSettled(Event):
    """Nothing more is to be done for the epoch.

    `ended`: all input has ended. `pause`: seconds to wait, because there was nothing to read. `not_closed`: a function
    that had seen all its input could not be closed.
    """

    epoch: int
    ended: bool
    pause: float | None = None
    not_closed: HeadraceError | None = None


# -- requests -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RequestArrived(Event):
    """Somebody asks for a checkpoint, a savepoint, a stop or another parallelism."""

    request: Request


@dataclass(frozen=True)
class SavepointWritten(Event):
    """The savepoint of the request in work is complete."""

    folder: str


@dataclass(frozen=True)
class SavepointFailed(Event):
    """The savepoint of the request in work could not be written."""

    error: Exception


@dataclass(frozen=True)
class Rescaled(Event):
    """The job has the parallelism that the request in work asks for."""


@dataclass(frozen=True)
class RescaleRefused(Event):
    """The job keeps its parallelism."""

    error: Exception


@dataclass(frozen=True)
class CheckpointNeeded(Event):
    """The parallelism can change only at a checkpoint, and an epoch has run since the last one."""
