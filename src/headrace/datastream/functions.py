"""Re-export of `headrace.functions`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.functions import (
    AggregateFunction as AggregateFunction,
)
from headrace.functions import (
    AllWindowFunction as AllWindowFunction,
)
from headrace.functions import (
    AsyncFunction as AsyncFunction,
)
from headrace.functions import (
    AsyncFunctionDescriptor as AsyncFunctionDescriptor,
)
from headrace.functions import (
    AsyncRetryPredicate as AsyncRetryPredicate,
)
from headrace.functions import (
    AsyncRetryStrategy as AsyncRetryStrategy,
)
from headrace.functions import (
    BaseBroadcastProcessFunction as BaseBroadcastProcessFunction,
)
from headrace.functions import (
    BroadcastProcessFunction as BroadcastProcessFunction,
)
from headrace.functions import (
    CheckpointCommitter as CheckpointCommitter,
)
from headrace.functions import (
    CheckpointedFunction as CheckpointedFunction,
)
from headrace.functions import (
    CheckpointListener as CheckpointListener,
)
from headrace.functions import (
    CoFlatMapFunction as CoFlatMapFunction,
)
from headrace.functions import (
    CoGroupFunction as CoGroupFunction,
)
from headrace.functions import (
    CoMapFunction as CoMapFunction,
)
from headrace.functions import (
    CoProcessFunction as CoProcessFunction,
)
from headrace.functions import (
    FilterFunction as FilterFunction,
)
from headrace.functions import (
    FlatJoinFunction as FlatJoinFunction,
)
from headrace.functions import (
    FlatMapFunction as FlatMapFunction,
)
from headrace.functions import (
    Function as Function,
)
from headrace.functions import (
    FunctionWrapper as FunctionWrapper,
)
from headrace.functions import (
    GenericWriteAheadSink as GenericWriteAheadSink,
)
from headrace.functions import (
    JavaFunctionWrapper as JavaFunctionWrapper,
)
from headrace.functions import (
    JoinFunction as JoinFunction,
)
from headrace.functions import (
    KeyedBroadcastProcessFunction as KeyedBroadcastProcessFunction,
)
from headrace.functions import (
    KeyedCoProcessFunction as KeyedCoProcessFunction,
)
from headrace.functions import (
    KeyedProcessFunction as KeyedProcessFunction,
)
from headrace.functions import (
    KeyedStateStore as KeyedStateStore,
)
from headrace.functions import (
    KeySelector as KeySelector,
)
from headrace.functions import (
    ListCheckpointed as ListCheckpointed,
)
from headrace.functions import (
    MapFunction as MapFunction,
)
from headrace.functions import (
    NullByteKeySelector as NullByteKeySelector,
)
from headrace.functions import (
    ParallelSourceFunction as ParallelSourceFunction,
)
from headrace.functions import (
    Partitioner as Partitioner,
)
from headrace.functions import (
    PassThroughAllWindowFunction as PassThroughAllWindowFunction,
)
from headrace.functions import (
    PassThroughWindowFunction as PassThroughWindowFunction,
)
from headrace.functions import (
    ProcessAllWindowFunction as ProcessAllWindowFunction,
)
from headrace.functions import (
    ProcessFunction as ProcessFunction,
)
from headrace.functions import (
    ProcessJoinFunction as ProcessJoinFunction,
)
from headrace.functions import (
    ProcessWindowFunction as ProcessWindowFunction,
)
from headrace.functions import (
    ReduceFunction as ReduceFunction,
)
from headrace.functions import (
    ReduceFunctionWrapper as ReduceFunctionWrapper,
)
from headrace.functions import (
    RuntimeContext as RuntimeContext,
)
from headrace.functions import (
    SinkFunction as SinkFunction,
)
from headrace.functions import (
    SourceFunction as SourceFunction,
)
from headrace.functions import (
    TimerService as TimerService,
)
from headrace.functions import (
    TwoPhaseCommitSinkFunction as TwoPhaseCommitSinkFunction,
)
from headrace.functions import (
    WindowFunction as WindowFunction,
)

offer_pyflink_names(__name__)
