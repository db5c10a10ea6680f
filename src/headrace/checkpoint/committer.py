"""The ports to the world outside: sinks that commit, and those who want to know how far the job is.

What a committer must promise; the protocol's promise of no loss and no duplicates rests on it:

1. `commit` of a handle that is committed already does nothing, however long ago that was, and whoever asks: a driver
   that was replaced may ask late. A sink that overwrites by key refuses or ignores epochs older than the one it has.
2. A handle that was aborted never commits: `commit` raises `CommitRefusedError`.
3. `abort` of a handle that is committed changes nothing and returns False.
4. A handle that was prepared stays so until it is committed or aborted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from headrace.checkpoint.model import Committable, Manifest

__all__ = ["Committer", "Publisher"]


class Committer(Protocol):
    """All two-phase sinks of a job."""

    def commit(self, committable: Committable) -> None:
        """Make what was prepared visible; see 1 and 2 above."""

    def abort(self, committable: Committable) -> bool:
        """Drop what was prepared. True: it is not visible and never will be."""

    def staged(self) -> Sequence[Committable]:
        """Give all handles of this job that are prepared and neither committed nor aborted."""

    def untouched(self, epoch: int) -> bool:
        """Say whether surely nothing of this epoch has been committed. A sink that cannot know says False."""


class Publisher(Protocol):
    """Who is told that a checkpoint is complete: offsets committed back to a source, functions, metrics."""

    def publish(self, manifest: Manifest) -> None:
        """Tell. May come more than once, and late from a driver that was replaced: lower epochs are to be ignored."""
