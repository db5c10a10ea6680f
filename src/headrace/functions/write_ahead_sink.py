"""GenericWriteAheadSink and CheckpointCommitter: for systems without transactions.

They are not in PyFlink; the names are those of Flink's Java API. `headrace.connectors.functions.write_ahead` calls them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from headrace.connectors.base.sink import Sink as SinkDefinition
from headrace.connectors.functions.write_ahead import WriteAheadSink
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.functions.sink_function import SinkFunction


class CheckpointCommitter(ABC):
    """Records what has been sent, ideally in the external system itself: pairs of subtask and number.

    The numbers of a subtask increase, so the last one of each subtask is enough. Called in the driver.

    >>> sorted(CheckpointCommitter.__abstractmethods__)
    ['commit_checkpoint', 'is_checkpoint_committed']
    """

    job_id: str
    """Set before the first call."""
    operator_id: str
    """Set before the first call; identifies the sink together with the job's id."""

    def set_job_id(self, job_id: str) -> None:
        """Set the id of the job, which is permanent if the job has a name (headrace.job.id)."""
        self.job_id = job_id

    def set_operator_id(self, operator_id: str) -> None:
        """Set the id of the sink in the job."""
        self.operator_id = operator_id

    def create_resource(self) -> None:
        """Create the table or file for the records unless it exists; called before `open`."""

    def open(self) -> None:
        """Connect."""

    @abstractmethod
    def is_checkpoint_committed(self, subtask_idx: int, checkpoint_id: int) -> bool:
        """Return whether the values of this number, or of a later one, have been sent."""

    @abstractmethod
    def commit_checkpoint(self, subtask_idx: int, checkpoint_id: int) -> None:
        """Record that the values of this number have been sent."""

    def close(self) -> None:
        """Disconnect."""


class GenericWriteAheadSink(SinkFunction):
    r"""Stores elements in the checkpoint and sends them when it completes.

    `send_values` is called in the driver, in a copy of this object that was opened there; subtasks do not open it. If the
    process dies after the values were sent and before that was recorded, they are sent again. So the sink is exactly
    once if sending is idempotent, else at least once. The elements are part of the checkpoint's manifest, so use this
    for results, not for the bulk of a stream.

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
        """Set the committer that records what has been sent."""
        if not isinstance(committer, CheckpointCommitter):
            raise TypeMismatchError("A write-ahead sink needs a CheckpointCommitter", seen=committer)
        self.committer = committer

    @abstractmethod
    def send_values(self, values: list[Any], checkpoint_id: int, timestamp: int) -> bool:
        """Send the values of one subtask, in order. Return True if all have arrived, False to be called again.

        ``checkpoint_id`` is the number that the committer records, ``timestamp`` the time at which the values were stored.
        """

    def invoke(self, value: Any, context: SinkFunction.Context) -> None:
        """Not called: elements go to the checkpoint."""
        raise InvalidProgramError(
            "Elements of a write-ahead sink go to send_values", seen=type(self).__name__, remedy="use add_sink()"
        )

    def get_definition(self) -> SinkDefinition:
        """Return the definition that the runtime uses."""
        if not hasattr(self, "committer"):
            raise InvalidProgramError(
                f"{type(self).__name__} has no committer", remedy="call super().__init__(committer) in its __init__"
            )
        return WriteAheadSink(self)
