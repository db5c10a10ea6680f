"""Two sinks: one that prepares and commits by handle, one that writes by record id at once."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from headrace.connectors.base.sink_committer import Handle, SinkCommitter, StagedOutputLostError
from headrace.graph.specs import StagedSink

Row = tuple[int, int, int, int]
"""(partition, offset, key, running count of the key)."""
SINK = "sink"
"""The id of the operator of the two-phase sink."""


class TwoPhaseSink(SinkCommitter):
    """Handles by id. `on_commit` hears of each handle that becomes visible."""

    def __init__(self, on_commit: Callable[[Handle, tuple[Row, ...]], None]) -> None:
        self._staged: dict[str, tuple[Handle, tuple[Row, ...]]] = {}
        self.visible: dict[str, tuple[Handle, tuple[Row, ...]]] = {}
        self.aborted: set[str] = set()
        self._on_commit = on_commit

    def stage(self, handle: Handle, rows: tuple[Row, ...]) -> None:
        self._staged[handle.id] = (handle, rows)

    def commit(self, handle: Handle) -> None:
        if handle.id in self.visible:
            return
        entry = self._staged.pop(handle.id, None)
        if entry is None:
            raise StagedOutputLostError("aborted", seen=handle.id)
        self.visible[handle.id] = entry
        self._on_commit(*entry)

    def abort(self, handle: Handle) -> bool:
        if handle.id in self.visible:
            return False
        self._staged.pop(handle.id, None)
        self.aborted.add(handle.id)
        return True

    def staged(self) -> list[Handle]:
        return [handle for handle, _ in self._staged.values()]

    def untouched(self, checkpoint: int) -> bool:
        return all(handle.checkpoint != checkpoint for handle, _ in self.visible.values())

    def graph(self) -> Any:
        """A job graph with this sink, as far as the job's committer looks at it."""
        spec = StagedSink(SimpleNamespace(open_committer=lambda job_id, sink_id: self))
        node = SimpleNamespace(spec=spec, operator_id=SINK, name=SINK, uid=SINK)
        return SimpleNamespace(vertices={SINK: SimpleNamespace(id=SINK, nodes=[node], head=node)})


class ForgetfulSink(TwoPhaseSink):
    """Breaks the committer's first promise: a handle that is committed again appears again."""

    def commit(self, handle: Handle) -> None:
        if handle.id in self.visible:
            self._on_commit(*self.visible[handle.id])
            return
        super().commit(handle)


class IdempotentSink:
    """Writes by record id when the task runs; a second write of a record must say the same."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int, int], Row] = {}
        self.contradictions: list[Any] = []

    def write(self, rows: tuple[Row, ...]) -> None:
        for row in rows:
            before = self.rows.setdefault(row[:2], row)
            if before != row:
                self.contradictions.append((before, row))
