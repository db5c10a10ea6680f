"""What a sink is. A definition is pickled into the job; tasks ask it for writers, the driver asks it for a committer.

1. Task: `open_writer(context, states)` once; then per epoch `write` for each run of records and one `end_epoch`. What
   `end_epoch` gives are *payloads*: each describes output that is staged and not visible yet.
2. Driver: a completed checkpoint commits all payloads since the one before it, as `Handle`s, with the sink's committer.
3. An epoch may be run again, by another process: what its first try staged is in no manifest and is aborted. So staged
   names must hold `EpochEnd.handle`, which no other try has.

A sink without committer makes its output visible in `write` or `end_epoch`: it is at-least-once unless that is idempotent.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.errors import HeadraceError
from headrace.metrics.values import Path, Value

__all__ = [
    "EpochEnd",
    "Handle",
    "RecordError",
    "Sink",
    "SinkCommitter",
    "SinkWriter",
    "StagedOutputLostError",
    "WriterContext",
]


@dataclass(frozen=True)
class WriterContext:
    """What a writer may know of the subtask that it runs in."""

    sink_id: str
    job_id: str
    subtask: int = 0
    parallelism: int = 1
    attempt: int = 0
    runtime: Any = None
    """The RuntimeContext that functions inside of the sink are given by `open`."""
    directory: str = ""
    """A local working directory that the subtask's successor sees too, unless the job starts again on another machine."""
    restored_checkpoint: int | None = None
    """The checkpoint that the subtask was restored from; None at a first start."""
    current_watermark: Callable[[], int] = lambda: MIN_TIMESTAMP
    current_processing_time: Callable[[], int] = lambda: int(time.time() * 1000)
    staging: str = ""
    """The folder or URL for staged output, as durable as the checkpoints: see `headrace.connectors.base.staging`."""


@dataclass(frozen=True)
class EpochEnd:
    """Who asks for the output of an epoch.

    >>> EpochEnd("sink-0-e0000000003-g0000000001-17.4", 3, 1).checkpointing
    False
    """

    handle: str
    """No other try of any epoch of any subtask of any driver has this; it is fit for file names."""
    checkpoint: int
    """The number of the checkpoint that will commit what is staged now."""
    generation: int
    checkpointing: bool = False
    """Whether that checkpoint is made at this epoch's end; else there will be more epochs before it."""
    last: bool = False
    """Whether all input of this subtask has been seen."""
    now: int = 0
    """The processing time in milliseconds."""


@dataclass(frozen=True)
class Handle:
    """Staged output of one subtask: `payload` is JSON data, all that a commit needs."""

    id: str
    subtask: int
    checkpoint: int
    generation: int
    payload: Any = None
    recovered: bool = False
    """Whether a driver before this one, or a start of the job before this one, staged it."""


class RecordError(Exception):
    """Raised `from` the error of user code: says at which record it happened.

    >>> RecordError((1, "a")).value
    (1, 'a')
    """

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.value = value


class StagedOutputLostError(HeadraceError):
    """What a handle speaks of is neither staged nor committed: it was aborted or removed. It can never be committed.

    >>> StagedOutputLostError("Nothing is staged").code
    'STAGED_OUTPUT_LOST'
    """

    code = "STAGED_OUTPUT_LOST"


class SinkWriter(ABC):
    """Writes the records of one subtask."""

    @abstractmethod
    def write(self, values: list[Any], timestamps: list[int | None] | None) -> None:
        """A run of records in order. A failure at one of them is best raised as a `RecordError`."""

    def write_watermark(self, timestamp: int) -> None:
        """Event time has reached `timestamp`."""
        del timestamp

    @abstractmethod
    def end_epoch(self, end: EpochEnd) -> list[Any]:
        """All records of the epoch have been written: give the payloads of what is complete; their data is durable."""

    def state(self) -> Any:
        """What a successor needs to go on after this epoch: something small that pickles; None: nothing."""
        return None

    def close(self) -> None:
        """Releases files and connections. Staged output stays."""


class SinkCommitter(ABC):
    """The driver's side of one sink.

    Promises: a handle that is committed and committed again stays one commit, for ever, whoever asks. An aborted handle
    never commits. `abort` of a committed handle changes nothing and gives False.
    """

    @abstractmethod
    def commit(self, handle: Handle) -> None:
        """Make what was staged visible. Raises if it cannot now: it is tried again.

        Raises `StagedOutputLostError` if it never can.
        """

    @abstractmethod
    def abort(self, handle: Handle) -> bool:
        """Drop what was staged. True: it is not visible and never will be."""

    def combined(self, handles: list[Handle]) -> list[Handle]:
        """Put the handles of a checkpoint together, before it names them: a sink that commits all at once gives one."""
        return handles

    def staged(self) -> Sequence[Handle]:
        """Give the staged handles of this job that are neither committed nor aborted, as far as the sink can list them."""
        return ()

    def untouched(self, checkpoint: int) -> bool:
        """Say whether surely nothing of this checkpoint has been committed. A sink that cannot know says False."""
        del checkpoint
        return False

    def size(self, handle: Handle) -> int:
        """Give how many committables of the program a handle holds."""
        del handle
        return 1

    def metrics(self) -> dict[Path, Value]:
        """Give the metrics that the committer keeps; those that every sink has are counted for it."""
        return {}

    def close(self) -> None:
        """Releases connections."""


class Sink(ABC):
    """A sink's definition: picklable."""

    @property
    def takes_columns(self) -> bool:
        """Whether its writers also take a `ColumnRun` for the list of records."""
        return False

    @abstractmethod
    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        """A writer for one subtask. `states`: empty at first; its own state; or, after a change of parallelism, the
        states of several subtasks, each handed to exactly one.
        """

    def functions(self) -> Sequence[Any]:
        """Functions of the program inside of this sink: they may have state of their own and listen to checkpoints."""
        return ()

    def commits(self) -> bool:
        """Whether there is a committer, for plans."""
        return type(self).open_committer is not Sink.open_committer

    def open_committer(self, job_id: str, sink_id: str) -> SinkCommitter | None:
        """The committer, for the driver; None if the sink stages nothing."""
        del job_id, sink_id
        return None
