"""State of user functions: initialises and saves functions that are a CheckpointedFunction or ListCheckpointed.

Recognised by their methods: `initialize_state` and `snapshot_state`, or `restore_state` and `snapshot_state`. The list of
a ListCheckpointed function is an operator state that is split evenly when the parallelism changes. Called by `Operator`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from headrace.common.errors import InvalidProgramError
from headrace.operators.context import OperatorContext
from headrace.operators.runtime_context import TaskRuntimeContext
from headrace.state.descriptors import ListStateDescriptor
from headrace.state.function_contexts import FunctionInitializationContext, FunctionSnapshotContext
from headrace.state.operator_state import HeapOperatorListState, OperatorStateBackend

LIST_STATE = "_list_checkpointed"


class InitializationContext(FunctionInitializationContext):
    """What `initialize_state` is given."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def is_restored(self) -> bool:
        """Whether the task was built from state files."""
        return self._context.restored_checkpoint is not None

    def get_restored_checkpoint_id(self) -> int | None:
        """Which checkpoint these belong to."""
        return self._context.restored_checkpoint

    def get_operator_state_store(self) -> OperatorStateBackend:
        """The subtask's state."""
        return self._context.operator_state

    def get_keyed_state_store(self) -> Any:
        """The runtime context gives keyed state too."""
        return TaskRuntimeContext(self._context) if self._context.keyed else None


class SnapshotContext(FunctionSnapshotContext):
    """What `snapshot_state` is given."""

    def __init__(self, checkpoint_id: int, timestamp: int) -> None:
        self._checkpoint_id, self._timestamp = checkpoint_id, timestamp

    def get_checkpoint_id(self) -> int:
        """The id."""
        return self._checkpoint_id

    def get_checkpoint_timestamp(self) -> int:
        """When it was triggered."""
        return self._timestamp


def _has(function: Any, *methods: str) -> bool:
    return all(callable(getattr(function, method, None)) for method in methods)


def is_checkpointed(function: Any) -> bool:
    """Whether a function has state of its own to be saved.

    >>> is_checkpointed(len)
    False
    """
    return _has(function, "snapshot_state") and (_has(function, "initialize_state") or _has(function, "restore_state"))


def initialize(functions: Iterable[Any], context: OperatorContext) -> Iterator[tuple[Any, Any]]:
    """The calls `(method, argument)` that give functions their state, to be made in this order before `open`."""
    for number, function in enumerate(functions):
        if not is_checkpointed(function):
            continue
        if _has(function, "initialize_state", "restore_state"):
            raise InvalidProgramError(
                "A function cannot be both a CheckpointedFunction and a ListCheckpointed",
                operator_name=context.name,
                uid=context.uid,
                seen=type(function).__name__,
                remedy="keep the list in an operator list state that initialize_state gets",
            )
        if _has(function, "initialize_state"):
            yield function.initialize_state, InitializationContext(context)
        elif context.restored_checkpoint is not None:
            yield function.restore_state, _list_state(context, number).get()


def snapshot(functions: Iterable[Any], context: OperatorContext, checkpoint_id: int, timestamp: int) -> None:
    """Lets functions bring their state up to date."""
    for number, function in enumerate(functions):
        if not is_checkpointed(function):
            continue
        if _has(function, "initialize_state"):
            function.snapshot_state(SnapshotContext(checkpoint_id, timestamp))
        else:
            elements = function.snapshot_state(checkpoint_id, timestamp)
            _list_state(context, number).update(elements or ())


def _list_state(context: OperatorContext, number: int) -> HeapOperatorListState:
    name = LIST_STATE if number == 0 else f"{LIST_STATE}_{number}"
    return context.operator_state.get_list_state(ListStateDescriptor(name, None))
