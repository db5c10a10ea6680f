"""The contexts of functions that manage their own state, when it is initialized and when it is saved.

Decides the shapes only; the names are those of Flink's Java API. The operators implement them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from headrace.state.interfaces import KeyedStateStore, OperatorStateStore
from headrace.state.raw_state import (
    KeyedStateCheckpointOutputStream,
    KeyGroupStatePartitionStreamProvider,
    OperatorStateCheckpointOutputStream,
    StatePartitionStreamProvider,
)


class ManagedInitializationContext(ABC):
    """Tells whether there is state to restore, and provides access to state.

    >>> sorted(ManagedInitializationContext.__abstractmethods__)[:2]
    ['get_keyed_state_store', 'get_operator_state_store']
    """

    @abstractmethod
    def is_restored(self) -> bool:
        """Return whether the subtask continues from saved state."""

    @abstractmethod
    def get_restored_checkpoint_id(self) -> int | None:
        """Return the id of the checkpoint that was restored, ``None`` at a first start."""

    @abstractmethod
    def get_operator_state_store(self) -> OperatorStateStore:
        """Return access to the state of the subtask."""

    @abstractmethod
    def get_keyed_state_store(self) -> KeyedStateStore | None:
        """Return access to the state of keys, ``None`` if the stream is not keyed."""


class FunctionInitializationContext(ManagedInitializationContext):
    """The ``context`` of ``CheckpointedFunction.initialize_state``.

    >>> hasattr(FunctionInitializationContext, "get_operator_state_store")
    True
    """

    @abstractmethod
    def get_raw_operator_state_inputs(self) -> list[StatePartitionStreamProvider]:
        """Return the partitions of raw operator state of this subtask; none at a first start."""

    @abstractmethod
    def get_raw_keyed_state_inputs(self) -> list[KeyGroupStatePartitionStreamProvider]:
        """Return the raw state of this subtask's key groups, in their order; none at a first start."""


class FunctionSnapshotContext(ABC):
    """The ``context`` of ``CheckpointedFunction.snapshot_state``.

    >>> sorted(FunctionSnapshotContext.__abstractmethods__)
    ['get_checkpoint_id', 'get_checkpoint_timestamp', 'get_raw_keyed_operator_state_output', 'get_raw_operator_state_output']
    """

    @abstractmethod
    def get_checkpoint_id(self) -> int:
        """Return the id of the checkpoint that is being taken."""

    @abstractmethod
    def get_checkpoint_timestamp(self) -> int:
        """Return when the checkpoint was triggered, in milliseconds."""

    @abstractmethod
    def get_raw_operator_state_output(self) -> OperatorStateCheckpointOutputStream:
        """Return the stream for raw state of the subtask; it replaces the data of the last checkpoint."""

    @abstractmethod
    def get_raw_keyed_operator_state_output(self) -> KeyedStateCheckpointOutputStream:
        """Return the stream for raw state by key group; it replaces the data of the last checkpoint."""
