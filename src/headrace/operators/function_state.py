"""Initialize and save the state of functions that are a CheckpointedFunction or ListCheckpointed. Called by `Operator`.

They are recognized by their methods: `initialize_state` and `snapshot_state`, or `restore_state` and `snapshot_state`. The
list of a ListCheckpointed function is an operator state that is split evenly when the parallelism changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from headrace.errors import InvalidProgramError
from headrace.operators.context import OperatorContext, TaskRuntimeContext
from headrace.state.descriptors import ListStateDescriptor
from headrace.state.function_contexts import FunctionInitializationContext, FunctionSnapshotContext
from headrace.state.operator_state import HeapOperatorListState, OperatorStateBackend
from headrace.state.raw_state import (
    KeyedStateCheckpointOutputStream,
    KeyGroupStatePartitionStreamProvider,
    OperatorStateCheckpointOutputStream,
    StatePartitionStreamProvider,
)

LIST_STATE = "_list_checkpointed"
RAW_STATE = "_raw_operator_state"


class InitializationContext(FunctionInitializationContext):
    """The argument of `initialize_state`."""

    def __init__(self, context: OperatorContext, number: int) -> None:
        self._context, self._number = context, number

    def is_restored(self) -> bool:
        return self._context.restored_checkpoint is not None

    def get_restored_checkpoint_id(self) -> int | None:
        return self._context.restored_checkpoint

    def get_operator_state_store(self) -> OperatorStateBackend:
        return self._context.operator_state

    def get_keyed_state_store(self) -> Any:
        return TaskRuntimeContext(self._context) if self._context.keyed else None

    def get_raw_operator_state_inputs(self) -> list[StatePartitionStreamProvider]:
        store, name = self._context.operator_state, _numbered(RAW_STATE, self._number)
        found = store.get_list_state(ListStateDescriptor(name, None)).get() if store.has_list_state(name) else []
        return [StatePartitionStreamProvider(data) for data in found]

    def get_raw_keyed_state_inputs(self) -> list[KeyGroupStatePartitionStreamProvider]:
        _require_keyed(self._context)
        found = self._context.keyed_state.raw.get(str(self._number))
        return [KeyGroupStatePartitionStreamProvider(data, group) for group, data in found.items()]


class SnapshotContext(FunctionSnapshotContext):
    """The argument of `snapshot_state`."""

    def __init__(self, context: OperatorContext, number: int, checkpoint_id: int, timestamp: int) -> None:
        self._context, self._number = context, number
        self._checkpoint_id, self._timestamp = checkpoint_id, timestamp
        self._of_subtask: OperatorStateCheckpointOutputStream | None = None
        self._of_keys: KeyedStateCheckpointOutputStream | None = None

    def get_checkpoint_id(self) -> int:
        return self._checkpoint_id

    def get_checkpoint_timestamp(self) -> int:
        return self._timestamp

    def get_raw_operator_state_output(self) -> OperatorStateCheckpointOutputStream:
        self._of_subtask = self._of_subtask or OperatorStateCheckpointOutputStream()
        return self._of_subtask

    def get_raw_keyed_operator_state_output(self) -> KeyedStateCheckpointOutputStream:
        _require_keyed(self._context)
        self._of_keys = self._of_keys or KeyedStateCheckpointOutputStream(self._context.keyed_state.key_groups)
        return self._of_keys

    def keep_raw_state(self) -> None:
        """Replace the function's earlier raw state with what it wrote now."""
        partitions = [] if self._of_subtask is None else self._of_subtask.partitions()
        store, name = self._context.operator_state, _numbered(RAW_STATE, self._number)
        if partitions or store.has_list_state(name):
            state = store.get_list_state(ListStateDescriptor(name, None))
            if partitions != state.get():
                state.update(partitions)
        if self._context.keyed:
            by_group = {} if self._of_keys is None else self._of_keys.by_group()
            self._context.keyed_state.raw.replace(str(self._number), by_group)


def _require_keyed(context: OperatorContext) -> None:
    if not context.keyed:
        raise InvalidProgramError(
            "Raw keyed state needs a keyed stream",
            remedy="put key_by(...) before the operator, or use raw operator state",
        )


def _has(function: Any, *methods: str) -> bool:
    return all(callable(getattr(function, method, None)) for method in methods)


def is_checkpointed(function: Any) -> bool:
    """Return whether a function has state to save.

    >>> is_checkpointed(len)
    False
    """
    return _has(function, "snapshot_state") and (_has(function, "initialize_state") or _has(function, "restore_state"))


def initialize(functions: Iterable[Any], context: OperatorContext) -> Iterator[tuple[Any, Any]]:
    """Yield the calls `(method, argument)` that initialize the functions, to be made in this order before `open`."""
    for number, function in enumerate(functions):
        if not is_checkpointed(function):
            continue
        if _has(function, "initialize_state", "restore_state"):
            raise InvalidProgramError(
                "A function cannot be both a CheckpointedFunction and a ListCheckpointed",
                operator_name=context.name,
                uid=context.uid,
                seen=type(function).__name__,
                remedy="keep the list in an operator list state from initialize_state",
            )
        if _has(function, "initialize_state"):
            yield function.initialize_state, InitializationContext(context, number)
        elif context.restored_checkpoint is not None:
            yield function.restore_state, _list_state(context, number).get()


def snapshot(functions: Iterable[Any], context: OperatorContext, checkpoint_id: int, timestamp: int) -> None:
    """Let functions bring their state up to date."""
    for number, function in enumerate(functions):
        if not is_checkpointed(function):
            continue
        if _has(function, "initialize_state"):
            surroundings = SnapshotContext(context, number, checkpoint_id, timestamp)
            function.snapshot_state(surroundings)
            surroundings.keep_raw_state()
        else:
            elements = function.snapshot_state(checkpoint_id, timestamp)
            _list_state(context, number).update(elements or ())


def _list_state(context: OperatorContext, number: int) -> HeapOperatorListState:
    return context.operator_state.get_list_state(ListStateDescriptor(_numbered(LIST_STATE, number), None))


def _numbered(name: str, number: int) -> str:
    """Return the name of a state of the operator's function with this number."""
    return name if number == 0 else f"{name}_{number}"
