"""The ports of the protocol: where records are kept, sinks that commit, who hears of a checkpoint, and the job itself.

Production and the crash model (tests/protocol) each implement them. The protocol relies on these promises and no others.

A store:

1. `create` makes a record appear whole or not at all, under a name that was free. Of several that try, one gets True.
2. When `create` has returned True, the record survives a crash of the machine.
3. What one process has created, every other sees at once (`read`, `list`).
4. `settle` makes everything visible durable: a record may be seen before its writer made it durable.
5. A read returns what was written or raises `DamagedRecordError`, never something else.

A committer, for no loss and no duplicates:

1. Committing a committed handle again has no effect, however long ago that was and whichever driver asks: one that was
   replaced may ask late. A sink that overwrites by key rejects or ignores epochs older than the one it has.
2. An aborted handle never commits: `commit` raises `CommitRefusedError`.
3. `abort` of a committed handle changes nothing and returns False.
4. A prepared handle stays prepared until it is committed or aborted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from headrace.checkpoint.model import Committable, FileEntry, Manifest, Record
from headrace.operators.source import SplitPosition
from headrace.state.files import StateFile
from headrace.worker.messages import TaskOwner


class Store(Protocol):
    """Records by name, and state files that tasks write."""

    def settle(self) -> None:
        """Make everything visible durable."""

    def create(self, name: str, record: Record, inside: Callable[[], None] | None = None) -> bool:
        """Create a record if there is none of this name; return False if there is one.

        `inside` is called when a part has been written. Raise `StoreError` if nothing was written, else
        `OutcomeUnknownError`.
        """

    def read(self, name: str) -> Record:
        """Return a record. Raise `RecordMissingError`, `DamagedRecordError`, or `StoreError` if it cannot tell."""

    def list(self, folder: str) -> list[str]:
        """Return all names in a folder (such as ``markers/``), sorted."""

    def delete(self, name: str) -> None:
        """Delete a record or state file; a missing one is not an error."""

    def remove_all(self) -> None:
        """Delete the whole store."""

    def problem_of(self, file: FileEntry) -> str | None:
        """Return what is wrong with a state file; None if it is the one that was recorded."""


class Committer(Protocol):
    """All two-phase sinks of a job."""

    generation: int
    """The driver's own generation, to tell apart what an earlier one has staged."""

    def combined(self, staged: list[Committable]) -> list[Committable]:
        """Return what a checkpoint commits, combined by the sinks that commit everything at once."""

    def commit(self, committable: Committable) -> None:
        """Make prepared output visible; see 1 and 2 above."""

    def abort(self, committable: Committable) -> bool:
        """Drop prepared output. Return True if it is not visible and never will be."""

    def staged(self) -> Sequence[Committable]:
        """Return all handles of this job that are prepared and neither committed nor aborted."""

    def untouched(self, epoch: int) -> bool:
        """Return whether certainly nothing of this epoch has been committed. A sink that cannot know returns False."""


class Publisher(Protocol):
    """Who hears that a checkpoint is complete: offsets committed back to a source, functions, metrics."""

    def publish(self, manifest: Manifest) -> None:
        """Announce a checkpoint. May be called repeatedly, and late by a replaced driver: ignore lower epochs."""


class JobProgress(Protocol):
    """How far a job is: its tasks, its state files, the positions of its sources, and the staged output of its sinks."""

    @property
    def tasks(self) -> Collection[TaskOwner]:
        """The tasks that take part in the next checkpoint: those that have not ended."""

    @property
    def files(self) -> dict[TaskOwner, tuple[StateFile, ...]]:
        """The state files of each task, each chain in order."""

    @property
    def positions(self) -> dict[str, list[SplitPosition]]:
        """The position of each source, by vertex."""

    def watermark(self) -> int:
        """Return the lowest watermark at the end of the job's pipelines."""

    def take_handles(self) -> list[Committable]:
        """Return what sinks have staged since the last call."""

    def give_back(self, handles: list[Committable]) -> None:
        """Undo `take_handles`: the checkpoint that should have committed them failed."""
