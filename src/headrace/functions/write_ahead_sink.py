"""GenericWriteAheadSink and CheckpointCommitter: into systems without transactions. PyFlink has neither: they are Java's.

Decides the shapes; `headrace.connectors.functions.write_ahead` calls them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from headrace.connectors.base.sink import Sink as SinkDefinition
from headrace.connectors.functions.write_ahead import WriteAheadSink
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.functions.sink_function import SinkFunction

__all__ = ["CheckpointCommitter", "GenericWriteAheadSink"]


class CheckpointCommitter(ABC):
    """Remembers, best in the outer system itself, what has been sent: pairs of subtask and number.

    Numbers of one subtask rise, so it is enough to keep the last one of each. Called in the driver.

    >>> sorted(CheckpointCommitter.__abstractmethods__)
    ['commit_checkpoint', 'is_checkpoint_committed']
    """

    job_id: str
    """Set before the first call."""
    operator_id: str
    """Set before the first call: together with the job's it says who asks."""

    def set_job_id(self, job_id: str) -> None:
        """Take the id of the job, which it keeps if it has a name (headrace.job.id)."""
        self.job_id = job_id

    def set_operator_id(self, operator_id: str) -> None:
        """Take the id of the sink in the job."""
        self.operator_id = operator_id

    def create_resource(self) -> None:
        """Make the table or file to remember in, unless it is there; called before `open`."""

    def open(self) -> None:
        """Connect."""

    @abstractmethod
    def is_checkpoint_committed(self, subtask_idx: int, checkpoint_id: int) -> bool:
        """Return whether the values of this number, or of a later one, have been sent."""

    @abstractmethod
    def commit_checkpoint(self, subtask_idx: int, checkpoint_id: int) -> None:
        """Remember that the values of this number have been sent."""

    def close(self) -> None:
        """Disconnect."""


class GenericWriteAheadSink(SinkFunction):
    r"""Keeps elements in the checkpoint and sends them when it is complete.

    `send_values` is called in the driver, in a copy of this object that was opened there; subtasks do not open it. If the
    process dies after the values were sent and before that was remembered, they are sent again: exactly once needs that
    sending twice is the same as once, else it is at least once. The elements travel in the checkpoint's manifest, so
    this is for results, not for the bulk of a stream.

    >>> import json, os, tempfile
    >>> class Remembered(CheckpointCommitter):
    ...     def __init__(self, path):
    ...         self.path = path
    ...
    ...     def sent(self):
    ...         return json.load(open(self.path)) if os.path.exists(self.path) else {}
    ...
    ...     def is_checkpoint_committed(self, subtask_idx, checkpoint_id):
    ...         return checkpoint_id <= self.sent().get(str(subtask_idx), 0)
    ...
    ...     def commit_checkpoint(self, subtask_idx, checkpoint_id):
    ...         sent = {**self.sent(), str(subtask_idx): checkpoint_id}
    ...         with open(self.path, "w") as file:
    ...             json.dump(sent, file)
    >>> class Append(GenericWriteAheadSink):
    ...     def __init__(self, path):
    ...         super().__init__(Remembered(path + ".sent"))
    ...         self.path = path
    ...
    ...     def send_values(self, values, checkpoint_id, timestamp):
    ...         with open(self.path, "a") as file:
    ...             file.writelines(f"{value}\n" for value in values)
    ...         return True
    >>> from headrace.common import Configuration
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment(
    ...     Configuration.from_dict({"headrace.executor": "local", "parallelism.default": "1"})
    ... )
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     sink = env.from_collection(["a", "b"]).add_sink(Append(directory + "/out"))
    ...     result = env.execute()
    ...     open(directory + "/out").read()
    'a\nb\n'
    """

    def __init__(self, committer: CheckpointCommitter) -> None:
        """Take what remembers how far sending has come."""
        if not isinstance(committer, CheckpointCommitter):
            raise TypeMismatchError("A write-ahead sink needs a CheckpointCommitter", seen=committer)
        self.committer = committer

    @abstractmethod
    def send_values(self, values: list[Any], checkpoint_id: int, timestamp: int) -> bool:
        """Send the values of one subtask, in order; give True if all have arrived, False to be called again.

        ``checkpoint_id`` is the number that the committer remembers, ``timestamp`` when the values were kept.
        """

    def invoke(self, value: Any, context: SinkFunction.Context) -> None:
        """Not called: elements go to the checkpoint."""
        raise InvalidProgramError(
            "Elements of a write-ahead sink go to send_values", seen=type(self).__name__, remedy="use add_sink()"
        )

    def get_definition(self) -> SinkDefinition:
        """Return the definition that the runtime writes with."""
        if not hasattr(self, "committer"):
            raise InvalidProgramError(
                f"{type(self).__name__} has no committer", remedy="call super().__init__(committer) in its __init__"
            )
        return WriteAheadSink(self)
