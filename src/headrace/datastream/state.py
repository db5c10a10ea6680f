"""State of functions, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from headrace.state.function_contexts import FunctionInitializationContext, FunctionSnapshotContext
from headrace.state.interfaces import (
    AggregatingState,
    AppendingState,
    BroadcastState,
    KeyedStateStore,
    ListState,
    MapState,
    MergingState,
    OperatorStateStore,
    ReadOnlyBroadcastState,
    ReducingState,
    State,
    ValueState,
)
from headrace.state.raw_state import (
    KeyedStateCheckpointOutputStream,
    KeyGroupStatePartitionStreamProvider,
    OperatorStateCheckpointOutputStream,
    StatePartitionStreamProvider,
)
from headrace.state.ttl import StateTtlConfig

__all__ = [
    "AggregatingState",
    "AggregatingStateDescriptor",
    "AppendingState",
    "BroadcastState",
    "FunctionInitializationContext",
    "FunctionSnapshotContext",
    "KeyGroupStatePartitionStreamProvider",
    "KeyedStateCheckpointOutputStream",
    "KeyedStateStore",
    "ListState",
    "ListStateDescriptor",
    "MapState",
    "MapStateDescriptor",
    "MergingState",
    "OperatorStateCheckpointOutputStream",
    "OperatorStateStore",
    "ReadOnlyBroadcastState",
    "ReducingState",
    "ReducingStateDescriptor",
    "State",
    "StateDescriptor",
    "StatePartitionStreamProvider",
    "StateTtlConfig",
    "ValueState",
    "ValueStateDescriptor",
]

offer_pyflink_names(__name__)
