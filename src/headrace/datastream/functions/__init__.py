"""The functions that programs write; the module has the names of `pyflink.datastream.functions`.

Decides nothing: each family of functions has its own file here.
"""

from headrace.common.pyflink_names import offer_pyflink_names
from headrace.datastream.functions.aggregation_functions import AggregateFunction, ReduceFunction, ReduceFunctionWrapper
from headrace.datastream.functions.async_functions import (
    AsyncFunction,
    AsyncFunctionDescriptor,
    AsyncRetryPredicate,
    AsyncRetryStrategy,
)
from headrace.datastream.functions.broadcast_process_functions import (
    BaseBroadcastProcessFunction,
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
)
from headrace.datastream.functions.checkpointed_functions import (
    CheckpointedFunction,
    CheckpointListener,
    ListCheckpointed,
)
from headrace.datastream.functions.co_functions import CoFlatMapFunction, CoMapFunction
from headrace.datastream.functions.co_process_functions import CoProcessFunction, KeyedCoProcessFunction
from headrace.datastream.functions.element_functions import FilterFunction, FlatMapFunction, MapFunction
from headrace.datastream.functions.function import Function, FunctionWrapper
from headrace.datastream.functions.java_function_wrapper import JavaFunctionWrapper
from headrace.datastream.functions.join_functions import (
    CoGroupFunction,
    FlatJoinFunction,
    JoinFunction,
    ProcessJoinFunction,
)
from headrace.datastream.functions.process_functions import KeyedProcessFunction, ProcessFunction
from headrace.datastream.functions.runtime_context import KeyedStateStore, RuntimeContext
from headrace.datastream.functions.selection_functions import KeySelector, NullByteKeySelector, Partitioner
from headrace.datastream.functions.sink_function import SinkFunction
from headrace.datastream.functions.source_function import ParallelSourceFunction, SourceFunction
from headrace.datastream.functions.two_phase_commit_sink_function import TwoPhaseCommitSinkFunction
from headrace.datastream.functions.window_functions import (
    AllWindowFunction,
    PassThroughAllWindowFunction,
    PassThroughWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from headrace.datastream.functions.write_ahead_sink import CheckpointCommitter, GenericWriteAheadSink
from headrace.datastream.timerservice import TimerService

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

offer_pyflink_names(__name__)
