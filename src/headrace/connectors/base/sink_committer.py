"""SinkCommitter: makes staged output visible, in the driver, when the checkpoint that names it is complete."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
