"""Sink: a definition that is pickled into the job. Tasks open a `SinkWriter`, the driver opens a `SinkCommitter`.

A completed checkpoint commits everything staged since the one before it, as `Handle`s. A sink without a committer makes its
output visible in `write` or `end_epoch`: at least once, or exactly once if that is idempotent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from headrace.connectors.base.sink_committer import SinkCommitter
from headrace.connectors.base.sink_writer import SinkWriter, WriterContext

__all__ = ["Sink"]


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
