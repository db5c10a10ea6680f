"""SinkWriter: writes the records of one subtask.

1. `write` is called for each run of records, and `end_epoch` once per epoch. `end_epoch` returns *payloads*: each describes
   output that is staged and not visible yet.
2. An epoch may be retried by another process: what its first attempt staged is in no manifest and is aborted. So staged
   names must contain `EpochEnd.handle`, which is unique to an attempt.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace.common.watermark_strategy import MIN_TIMESTAMP


@dataclass(frozen=True)
class WriterContext:
    """What a writer may know of the subtask that it runs in."""

    sink_id: str
    job_id: str
    subtask: int = 0
    parallelism: int = 1
    attempt: int = 0
    runtime: Any = None
    """The RuntimeContext that functions inside the sink get in `open`."""
    directory: str = ""
    """A local working directory that the subtask's successor sees too, unless the job restarts on another machine."""
    restored_checkpoint: int | None = None
    """The checkpoint that the subtask was restored from; None at a first start."""
    current_watermark: Callable[[], int] = lambda: MIN_TIMESTAMP
    current_processing_time: Callable[[], int] = lambda: int(time.time() * 1000)
    staging: str = ""
    """The folder or URL for staged output, as durable as the checkpoints: see `headrace.connectors.base.staging`."""


@dataclass(frozen=True)
class EpochEnd:
    """The end of an epoch, for the writers of its output.

    >>> EpochEnd("sink-0-e0000000003-g0000000001-17.4", 3, 1).checkpointing
    False
    """

    handle: str
    """Unique to this attempt of this epoch of this subtask, across drivers; fit for file names."""
    checkpoint: int
    """The number of the checkpoint that will commit what is staged now."""
    generation: int
    checkpointing: bool = False
    """Whether that checkpoint is made at the end of this epoch; otherwise more epochs precede it."""
    last: bool = False
    """Whether all input of this subtask has been seen."""
    now: int = 0
    """The processing time in milliseconds."""


class RecordError(Exception):
    """Raised `from` the error of user code, to name the record at which it happened.

    >>> RecordError((1, "a")).value
    (1, 'a')
    """

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.value = value


class SinkWriter(ABC):
    """Writes the records of one subtask."""

    @abstractmethod
    def write(self, values: list[Any], timestamps: list[int | None] | None) -> None:
        """Write a run of records in order. Raise a failure at one of them as a `RecordError`."""

    def write_watermark(self, timestamp: int) -> None:
        """Note that event time has reached `timestamp`."""

    @abstractmethod
    def end_epoch(self, end: EpochEnd) -> list[Any]:
        """Make complete output of the epoch durable and return its payloads."""

    def state(self) -> Any:
        """Return what a successor needs to continue after this epoch: something small that pickles, or None."""
        return None

    def close(self) -> None:
        """Release files and connections. Staged output stays."""


class ElementContext:
    """The `context` that functions in sinks get with each element; one object serves all elements of a subtask.

    >>> context = ElementContext(lambda: 40, lambda: 99)
    >>> context.record_timestamp = 41
    >>> context.timestamp(), context.current_watermark(), context.current_processing_time()
    (41, 40, 99)
    """

    def __init__(self, watermark: Callable[[], int], now: Callable[[], int]) -> None:
        self._watermark, self._now = watermark, now
        self.record_timestamp: int | None = None

    def timestamp(self) -> int | None:
        """Return the record's timestamp, None without one."""
        return self.record_timestamp

    def current_watermark(self) -> int:
        """Return the operator's event time."""
        return self._watermark()

    def current_processing_time(self) -> int:
        """Return the clock, in milliseconds."""
        return self._now()
