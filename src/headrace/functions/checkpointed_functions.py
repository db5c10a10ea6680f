"""Interfaces of functions with operator state, or that are notified of checkpoints.

They are not in PyFlink; the names are those of Flink's Java API. Any map, flat map, process, window, sink or source
function may have one of them as a second base class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from headrace.state.function_contexts import FunctionInitializationContext, FunctionSnapshotContext


class CheckpointedFunction(ABC):
    """A function that gets its state in `initialize_state` and updates it in `snapshot_state`.

    >>> from headrace.common import Types
    >>> from headrace.datastream.functions import MapFunction
    >>> from headrace.datastream.state import ListStateDescriptor
    >>> class Numbering(MapFunction, CheckpointedFunction):
    ...     def initialize_state(self, context):
    ...         self.state = context.get_operator_state_store().get_list_state(
    ...             ListStateDescriptor("count", Types.LONG())
    ...         )
    ...         self.count = sum(self.state.get())
    ...
    ...     def snapshot_state(self, context):
    ...         self.state.update([self.count])
    ...
    ...     def map(self, value):
    ...         self.count += 1
    ...         return self.count, value
    """

    @abstractmethod
    def initialize_state(self, context: FunctionInitializationContext) -> None:
        """Get the state: called once per subtask, before `open`, at the first start and after a restore."""

    @abstractmethod
    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        """Update the state, which is saved when this returns."""


class ListCheckpointed(ABC):
    """A function whose state is a list that can be split between subtasks.

    >>> class Buffer(ListCheckpointed):
    ...     def __init__(self):
    ...         self.waiting = []
    ...
    ...     def snapshot_state(self, checkpoint_id, timestamp):
    ...         return self.waiting
    ...
    ...     def restore_state(self, state):
    ...         self.waiting = state
    """

    @abstractmethod
    def snapshot_state(self, checkpoint_id: int, timestamp: int) -> list[Any]:
        """Return the elements to save; ``None`` saves nothing."""

    @abstractmethod
    def restore_state(self, state: list[Any]) -> None:
        """Restore saved elements: called before `open`, only after a restore. Other subtasks may have saved them."""


class CheckpointListener(ABC):
    """Is notified when checkpoints complete. A failure may lose a notification; a later one covers it.

    >>> CheckpointListener().notify_checkpoint_complete(1)
    """

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Handle the completion of this checkpoint and all before it."""

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Handle an aborted checkpoint; its state is part of a later one."""
