"""SplitReader: reads one split in a task, batch by batch, and says where the next reader has to continue.

1. The task opens a reader for each of its splits; `read(limit)` returns batches of at most `limit` records.
2. `position()` at the end of the epoch goes to the driver with the acknowledgement. The driver hands it to the process that
   reads the split next. A reader that is opened at a position continues exactly there.

Readers never sleep longer than a few milliseconds: an empty batch means that there is nothing to read now.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Batch:
    """Records in order. `timestamps` is None if the source has none.

    `watermark` and `idle` are for sources that know their own event time; they follow the records. `clock` moves an
    injected clock (tests).
    """

    values: list[Any]
    timestamps: list[int | None] | None = None
    watermark: int | None = None
    idle: bool | None = None
    clock: int | None = None
    more: bool = False
    """Read again at once, although this batch has no records."""
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
    """The RuntimeContext that functions inside the source get in `open`; None outside of a task."""
    shared: dict[Any, Any] = field(default_factory=dict)
    """Objects that all readers of the subtask share, such as a rate limit."""


class SplitReader(ABC):
    """Reads one split, in order."""

    finished: bool = False
    """Set by the reader when a bounded split has no more records."""

    @abstractmethod
    def read(self, limit: int, now: int) -> Batch:
        """Return at most `limit` records that are available now; `now` is the processing time in milliseconds."""

    @abstractmethod
    def position(self) -> Any:
        """Return where to continue: something small that pickles (None for sources that cannot be replayed)."""

    def settle(self) -> Iterator[Batch]:
        """Return, at the end of an epoch, what was taken from outside and must not wait for the next one. Mostly nothing.

        From now until the next `read` the reader's state does not change, so that it can be saved.
        """
        return iter(())

    def close(self) -> None:
        """Release files, sockets and threads."""

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Note that the positions up to `checkpoint_id` are durable."""


class SubtaskContext:
    """A RuntimeContext without a task: only which subtask it is.

    >>> SubtaskContext(ReaderContext(1, 4)).get_index_of_this_subtask()
    1
    """

    def __init__(self, context: ReaderContext) -> None:
        self._context = context

    def get_index_of_this_subtask(self) -> int:
        """Return the index of the subtask, from 0."""
        return self._context.subtask

    def get_number_of_parallel_subtasks(self) -> int:
        """Return the parallelism of the source."""
        return self._context.parallelism

    def get_attempt_number(self) -> int:
        """Return the number of the attempt, from 0."""
        return self._context.attempt


def runtime_context(context: ReaderContext) -> Any:
    """Return the RuntimeContext for a function of a source.

    >>> runtime_context(ReaderContext(1, 4)).get_number_of_parallel_subtasks()
    4
    """
    return SubtaskContext(context) if context.runtime is None else context.runtime
