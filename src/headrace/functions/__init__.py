"""Base classes of the functions that programs write, with the names of `pyflink.datastream.functions`."""

from headrace.functions.aggregation_functions import AggregateFunction, ReduceFunction, ReduceFunctionWrapper
from headrace.functions.async_functions import (
    AsyncFunction,
    AsyncFunctionDescriptor,
    AsyncRetryPredicate,
    AsyncRetryStrategy,
)
from headrace.functions.element_functions import (
    CoFlatMapFunction,
    CoMapFunction,
    FilterFunction,
    FlatMapFunction,
    KeySelector,
    MapFunction,
    NullByteKeySelector,
    Partitioner,
)
from headrace.functions.function import (
    CheckpointedFunction,
    CheckpointListener,
    Function,
    FunctionWrapper,
    JavaFunctionWrapper,
    ListCheckpointed,
)
from headrace.functions.join_functions import CoGroupFunction, FlatJoinFunction, JoinFunction, ProcessJoinFunction
from headrace.functions.process_functions import (
    BaseBroadcastProcessFunction,
    BroadcastProcessFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ProcessFunction,
)
from headrace.functions.runtime_context import KeyedStateStore, RuntimeContext
from headrace.functions.sink_function import SinkFunction
from headrace.functions.source_function import ParallelSourceFunction, SourceFunction
from headrace.functions.timer_service import TimerService
from headrace.functions.two_phase_commit_sink_function import TwoPhaseCommitSinkFunction
from headrace.functions.window_functions import (
    AllWindowFunction,
    PassThroughAllWindowFunction,
    PassThroughWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from headrace.functions.write_ahead_sink import CheckpointCommitter, GenericWriteAheadSink

__all__ = [
    "AggregateFunction",
    "AllWindowFunction",
    "AsyncFunction",
    "AsyncFunctionDescriptor",
    "AsyncRetryPredicate",
    "AsyncRetryStrategy",
    "BaseBroadcastProcessFunction",
    "BroadcastProcessFunction",
    "CheckpointCommitter",
    "CheckpointListener",
    "CheckpointedFunction",
    "CoFlatMapFunction",
    "CoGroupFunction",
    "CoMapFunction",
    "CoProcessFunction",
    "FilterFunction",
    "FlatJoinFunction",
    "FlatMapFunction",
    "Function",
    "FunctionWrapper",
    "GenericWriteAheadSink",
    "JavaFunctionWrapper",
    "JoinFunction",
    "KeySelector",
    "KeyedBroadcastProcessFunction",
    "KeyedCoProcessFunction",
    "KeyedProcessFunction",
    "KeyedStateStore",
    "ListCheckpointed",
    "MapFunction",
    "NullByteKeySelector",
    "ParallelSourceFunction",
    "Partitioner",
    "PassThroughAllWindowFunction",
    "PassThroughWindowFunction",
    "ProcessAllWindowFunction",
    "ProcessFunction",
    "ProcessJoinFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "ReduceFunctionWrapper",
    "RuntimeContext",
    "SinkFunction",
    "SourceFunction",
    "TimerService",
    "TwoPhaseCommitSinkFunction",
    "WindowFunction",
]
