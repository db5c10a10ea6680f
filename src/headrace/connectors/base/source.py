"""What a source is. A definition is pickled into the job; the driver asks it for splits, tasks ask it for readers.

1. Driver: `splits(parallelism)` says which splits every subtask starts with; `discover(known)` adds splits later.
2. Task: `open_reader(split, position, context)` for each of its splits; `read(limit)` gives batches of at most `limit` records.
3. Task: `position()` after the epoch goes with the acknowledgement to the driver, which hands it back to whichever process
   reads the split next. A reader opened at a position goes on exactly there.

Readers never sleep longer than a few milliseconds: "nothing now" is an empty batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.types.typeinfo import TypeInformation


@dataclass(frozen=True)
class Split:
    """A part of a source that one subtask reads. `payload` is the source's own description of it."""

    id: str
    payload: Any = None


@dataclass
class Batch:
    """Records in order. `timestamps` is None where the source has none.

    `watermark` and `idle` are for sources that know their own event time: they follow the records. `clock` moves an
    injected clock (tests).
    """

    values: list[Any]
    timestamps: list[int | None] | None = None
    watermark: int | None = None
    idle: bool | None = None
    clock: int | None = None
    more: bool = False
    """Read on at once although there are no records in this batch."""
    pause: bool = False
    """Read nothing more of this split in this epoch."""
    dead_letters: Sequence[Any] = ()
    """Records that could not be read, for the side output that the source names."""


EMPTY = Batch([])


@dataclass(frozen=True)
class ReaderContext:
    """What a reader may know of the subtask that it runs in."""

    subtask: int = 0
    parallelism: int = 1
    attempt: int = 0
    checkpoints: bool = False
    """Whether the job makes checkpoints: a reader that acknowledges waits for them."""
    runtime: Any = None
    """The RuntimeContext that functions inside of the source are given by `open`; None where there is no task."""


class SplitReader(ABC):
    """Reads one split, in order."""

    finished: bool = False
    """Set by the reader when a bounded split has no more records."""

    @abstractmethod
    def read(self, limit: int, now: int) -> Batch:
        """At most `limit` records that are there now; `now` is the processing time in milliseconds."""

    @abstractmethod
    def position(self) -> Any:
        """Where to go on: something small that pickles (None for sources that cannot be replayed)."""

    def settle(self) -> Iterator[Batch]:
        """At the end of an epoch: what was taken from outside and must not wait for the next one. Mostly nothing.

        From now on until the next `read` the reader's state stands still, so that it can be saved.
        """
        return iter(())

    def close(self) -> None:
        """Releases files, sockets, threads."""

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """The positions up to `checkpoint_id` are durable."""


class Source(ABC):
    """A source's definition: frozen, picklable."""

    bounded: bool = True
    may_finish: bool = False
    """Whether an unbounded source can come to its end all the same (a socket is closed, `run` returns): when all its
    readers are finished there is nothing more to wait for."""
    non_parallel: bool = False
    """Whether the source can only run with parallelism 1."""
    produced_type: TypeInformation | None = None
    """The type that the records already have: they need not be brought to it."""

    dead_letters: str | None = None
    """The tag of the side output that records go to which cannot be read; None: such a record fails the job."""

    @property
    def more_splits(self) -> bool:
        """Whether the driver will hand out more splits, so that a subtask without any must not end yet."""
        return False

    @abstractmethod
    def splits(self, parallelism: int) -> list[list[Split]]:
        """For each subtask the splits it starts with; the list has `parallelism` entries."""

    def note_finished(self, finished: frozenset[str]) -> None:
        """Tells which splits have been read to their end. Called by the driver before each `discover`."""

    def discover(self, known: frozenset[str]) -> list[Split]:
        """Splits that appeared since; they go round robin to the subtasks. Called by the driver before each epoch."""
        del known
        return []

    def publish_positions(self, positions: dict[str, Any]) -> None:
        """Tells the outer system how far the job has durably come: positions by split id.

        Called by the driver after each completed checkpoint. It informs others only, so it must not fail the job.
        """

    def job_ended(self, kept: bool) -> None:
        """The job has ended in this driver: releases what the driver's side holds.

        `kept`: checkpoints stay, another driver may go on from them. Called once for each start of the job.
        """

    def functions(self) -> Sequence[Any]:
        """Functions of the program inside of the source, which may have state of their own."""
        return ()

    @abstractmethod
    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        """A reader of `split` that starts at `position` (None: at the beginning)."""
