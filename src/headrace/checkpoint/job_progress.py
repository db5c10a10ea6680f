"""What a checkpoint needs to know of a running job. The ledger of the driver is one; the crash model has another."""

from __future__ import annotations

from typing import Protocol

from headrace.connectors.base.sink_committer import Handle
from headrace.operators.source import SplitPosition
from headrace.state.files import StateFile
from headrace.worker.messages import TaskOwner

__all__ = ["JobProgress"]


class JobProgress(Protocol):
    """How far a job is: its state files, the positions of its sources, and what its sinks have staged."""

    @property
    def files(self) -> dict[TaskOwner, tuple[StateFile, ...]]:
        """The state files of each task, each chain in order."""

    @property
    def positions(self) -> dict[str, list[SplitPosition]]:
        """Where each source stands, by vertex."""

    def watermark(self) -> int:
        """The lowest watermark at the end of the job's pipelines."""

    def take_handles(self) -> list[tuple[str, Handle]]:
        """What sinks have staged since the last call, with the ids of their operators."""

    def give_back(self, handles: list[tuple[str, Handle]]) -> None:
        """Undo `take_handles`: the checkpoint that should have committed them failed."""
