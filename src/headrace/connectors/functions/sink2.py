"""User-defined sinks with writers and committers: Flink's Sink V2. PyFlink has no such classes; these follow Java's.

Defines the interfaces; `headrace.connectors.functions.user_sink` calls them. `DataStream.sink_to` takes a sink. It may be

- a `Sink` alone: its output is visible at once, at least once (exactly once if writes are idempotent);
- also `SupportsCommitter`: writers stage output, and a committer in the driver makes it visible with the checkpoint;
- also `SupportsWriterState`: writers keep state from epoch to epoch and after a restore.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from headrace.connectors.base import definitions
from headrace.connectors.base.commit_requests import CommitRequest
from headrace.connectors.base.sink import Sink as SinkDefinition
from headrace.connectors.functions.user_sink import CommitterInitContext, UserSink, WriterInitContext

__all__ = [
    "CommitRequest",
    "Committer",
    "CommitterInitContext",
    "CommittingSinkWriter",
    "Sink",
    "SinkWriter",
    "StatefulSinkWriter",
    "SupportsCommitter",
    "SupportsWriterState",
    "WriterInitContext",
]


class SinkWriter(ABC):
    """Writes the elements of one subtask.

    >>> sorted(SinkWriter.__abstractmethods__)
    ['flush', 'write']
    """

    class Context(ABC):
        """What `write` may know of the current element."""

        @abstractmethod
        def timestamp(self) -> int | None:
            """Return the event time of the element in milliseconds, None if it has none."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Return the current watermark in milliseconds."""

    @abstractmethod
    def write(self, element: Any, context: SinkWriter.Context) -> None:
        """Write one element; it may be buffered until `flush`."""

    @abstractmethod
    def flush(self, end_of_input: bool) -> None:
        """Write everything that is buffered: called at the end of each epoch, and with True after the last element."""

    def write_watermark(self, watermark: int) -> None:
        """Note that event time has reached this watermark, in milliseconds."""

    def close(self) -> None:
        """Release files and connections."""


class CommittingSinkWriter(SinkWriter):
    """A writer whose output becomes visible only when a `Committer` commits it.

    >>> sorted(CommittingSinkWriter.__abstractmethods__)
    ['flush', 'prepare_commit', 'write']
    """

    @abstractmethod
    def prepare_commit(self) -> Iterable[Any]:
        """Return committables for the output since the last call: anything that pickles.

        Called after `flush`. The output itself must be durable now. If the epoch is retried by another process, what the
        first one prepared is never committed: use unique names for it.
        """


class StatefulSinkWriter(SinkWriter):
    """A writer with state.

    >>> sorted(StatefulSinkWriter.__abstractmethods__)
    ['flush', 'snapshot_state', 'write']
    """

    @abstractmethod
    def snapshot_state(self, checkpoint_id: int) -> Sequence[Any]:
        """Return what a successor needs to continue after this epoch: objects that pickle."""


class Committer(ABC):
    """Makes prepared output visible. There is one for the sink, in the driver.

    >>> sorted(Committer.__abstractmethods__)
    ['commit']
    """

    @abstractmethod
    def commit(self, requests: list[CommitRequest]) -> None:
        """Commit each request's committable, unless that was done: after a failure the same ones may arrive again.

        Requests of one subtask's epoch arrive together. A committed request needs no answer; see `CommitRequest` for
        other outcomes.
        """

    def close(self) -> None:
        """Release connections."""


class Sink(definitions.Sink):
    """A user-defined sink, for `sink_to`.

    >>> import json, sqlite3, tempfile
    >>> class Upsert(Sink):
    ...     def __init__(self, path):
    ...         self.path = path
    ...
    ...     def create_writer(self, context):
    ...         return UpsertWriter(self.path)
    >>> class UpsertWriter(SinkWriter):
    ...     def __init__(self, path):
    ...         self.connection, self.rows = sqlite3.connect(path), []
    ...
    ...     def write(self, element, context):
    ...         self.rows.append(element)
    ...
    ...     def flush(self, end_of_input):
    ...         with self.connection:
    ...             self.connection.executemany("INSERT OR REPLACE INTO totals VALUES (?, ?)", self.rows)
    ...         self.rows.clear()
    ...
    ...     def close(self):
    ...         self.connection.close()
    >>> from headrace.common import Configuration
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment(
    ...     Configuration.from_dict({"headrace.executor": "local", "parallelism.default": "1"})
    ... )
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     connection = sqlite3.connect(directory + "/db")
    ...     created = connection.execute("CREATE TABLE totals (name PRIMARY KEY, total)")
    ...     sink = env.from_collection([("a", 1), ("b", 1), ("a", 2)]).sink_to(Upsert(directory + "/db"))
    ...     result = env.execute()
    ...     connection.execute("SELECT * FROM totals ORDER BY name").fetchall()
    [('a', 2), ('b', 1)]
    """

    def __init__(self) -> None:
        """Subclasses may have any parameters."""
        super().__init__(None)

    def create_writer(self, context: WriterInitContext) -> SinkWriter:
        """Return the writer of one subtask; called in the subtask."""
        raise NotImplementedError(f"{type(self).__name__} has no create_writer")

    def get_definition(self) -> SinkDefinition:
        """Return the definition that the runtime writes with."""
        return UserSink(self)


class SupportsCommitter(ABC):
    """A sink whose writers are `CommittingSinkWriter`.

    >>> sorted(SupportsCommitter.__abstractmethods__)
    ['create_committer']
    """

    @abstractmethod
    def create_committer(self, context: CommitterInitContext) -> Committer:
        """Return the committer; called in the driver."""


class SupportsWriterState(ABC):
    """A sink whose writers are `StatefulSinkWriter`.

    >>> sorted(SupportsWriterState.__abstractmethods__)
    ['restore_writer']
    """

    @abstractmethod
    def restore_writer(self, context: WriterInitContext, recovered_state: list[Any]) -> StatefulSinkWriter:
        """Return a writer that continues from saved state; after a change of parallelism, that of several subtasks."""
