"""Functions that keep state of the subtask, or want to know about checkpoints. PyFlink has no such classes: these are Java's.

Decides the shapes only; the operators call them. Any function may have one of them as a second base class: map and flat
map, process, window, sink and source functions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from headrace.state.function_contexts import FunctionInitializationContext, FunctionSnapshotContext

__all__ = ["CheckpointListener", "CheckpointedFunction", "ListCheckpointed"]


class CheckpointedFunction(ABC):
    """A function that gets its state in `initialize_state` and brings it up to date in `snapshot_state`.

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
        """Get the state: called once per subtask, before `open`, at a first start and after a restore."""

    @abstractmethod
    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        """Bring the state up to date: it is saved when this returns."""


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
        """Return the elements to be saved; ``None`` saves nothing."""

    @abstractmethod
    def restore_state(self, state: list[Any]) -> None:
        """Take saved elements: called before `open`, only after a restore; other subtasks may have saved them."""


class CheckpointListener(ABC):
    """Is told when checkpoints are complete. A notification may be lost with a failure: a later one stands for it too.

    >>> CheckpointListener().notify_checkpoint_complete(1)
    """

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """The checkpoint and all before it are durable."""

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """The checkpoint was given up; its state goes into a later one."""
