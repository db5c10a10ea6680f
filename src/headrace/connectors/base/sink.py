"""Sink: a definition that is pickled into the job. Tasks open a `SinkWriter`, the driver opens a `SinkCommitter`.

A completed checkpoint commits everything staged since the one before it, as `Handle`s. A sink without a committer makes its
output visible in `write` or `end_epoch`: at least once, or exactly once if that is idempotent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base.sink_writer import SinkWriter, WriterContext
from headrace.errors import HeadraceError
from headrace.metrics.values import Path, Value


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


class StagedOutputLostError(HeadraceError):
    """The output of a handle is neither staged nor committed: it was aborted or removed. It can never be committed.

    >>> StagedOutputLostError("Nothing is staged").code
    'STAGED_OUTPUT_LOST'
    """

    code = "STAGED_OUTPUT_LOST"


class SinkCommitter(ABC):
    """The driver's side of one sink.

    Commits are idempotent: a handle that is committed again stays one commit, always and for every driver. An aborted
    handle never commits. `abort` of a committed handle changes nothing and returns False.
    """

    @abstractmethod
    def commit(self, handle: Handle) -> None:
        """Make what was staged visible. Raise if that fails now; it is retried.

        Raise `StagedOutputLostError` if it can never succeed.
        """

    @abstractmethod
    def abort(self, handle: Handle) -> bool:
        """Drop what was staged; return True if it is not visible and never will be."""

    def combined(self, handles: list[Handle]) -> list[Handle]:
        """Merge the handles of a checkpoint before it names them: a sink that commits everything at once returns one."""
        return handles

    def staged(self) -> Sequence[Handle]:
        """Return the staged handles of this job that are neither committed nor aborted, as far as the sink can list them."""
        return ()

    def untouched(self, checkpoint: int) -> bool:
        """Say whether certainly nothing of this checkpoint has been committed; False if the sink cannot know."""
        return False

    def size(self, handle: Handle) -> int:
        """Return how many committables of the program a handle holds."""
        return 1

    def metrics(self) -> dict[Path, Value]:
        """Return the metrics that the committer keeps; those that every sink has are counted for it."""
        return {}

    def close(self) -> None:
        """Release connections."""


class Sink(ABC):
    """A sink's definition: picklable."""

    @property
    def takes_columns(self) -> bool:
        """Whether its writers also take a `ColumnRun` for the list of records."""
        return False

    @abstractmethod
    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        """Return a writer for one subtask.

        `states` is empty at first; later it holds the writer's own state or, after a change of parallelism, the states of
        several subtasks, each of which goes to exactly one writer.
        """

    def functions(self) -> Sequence[Any]:
        """Return the program's functions inside the sink, which may have state of their own and listen to checkpoints."""
        return ()

    def commits(self) -> bool:
        """Say whether there is a committer, for plans."""
        return type(self).open_committer is not Sink.open_committer

    def open_committer(self, job_id: str, sink_id: str) -> SinkCommitter | None:
        """Return the committer, for the driver; None if the sink stages nothing."""
        return None
