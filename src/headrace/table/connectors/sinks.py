"""Sinks of tables that are made of a function on rows and a sink of streams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.table.changelog_mode import ChangelogMode
from headrace.table.connectors.base import TableSink

if TYPE_CHECKING:
    from headrace.datastream import DataStream

Write = Callable[["DataStream", bool, str], Any]


@dataclass
class AnyChangesSink(TableSink):
    """A sink that takes all kinds of changes. `write(stream, kinds, name)` adds it to the job."""

    write: Write
    _kinds: bool = False

    def changelog_mode(self, requested: ChangelogMode) -> ChangelogMode:
        """Return what the query makes."""
        self._kinds = not requested.is_insert_only
        return requested

    def consume(self, stream: DataStream, name: str) -> Any:
        """Add the sink."""
        return self.write(stream, self._kinds, name)


@dataclass
class InsertOnlySink(TableSink):
    """A sink that only appends rows. `write(stream, kinds, name)` adds it to the job."""

    write: Write
    overwrites: bool = False

    def changelog_mode(self, requested: ChangelogMode) -> ChangelogMode:
        """Return that rows are only added."""
        del requested
        return ChangelogMode.insert_only()

    def consume(self, stream: DataStream, name: str) -> Any:
        """Add the sink."""
        return self.write(stream, False, name)
