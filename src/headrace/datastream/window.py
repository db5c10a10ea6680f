"""Windows for programs: windows, assigners, triggers and evictors, under the names of `pyflink.datastream.window`.

Decides nothing: each family has its own file in `headrace.operators.windows`. Evictors, `DeltaTrigger`,
`ProcessingTimeoutTrigger` and `NoOpTrigger` are Flink's, which PyFlink does not have.
"""

from headrace.common.pyflink_names import offer_pyflink_names
from headrace.operators.windows.assigner import MergingWindowAssigner, SessionWindowTimeGapExtractor, WindowAssigner
from headrace.operators.windows.continuous_triggers import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    Min,
)
from headrace.operators.windows.count_triggers import CountTrigger, DeltaTrigger
from headrace.operators.windows.count_windows import CountSlidingWindowAssigner, CountTumblingWindowAssigner
from headrace.operators.windows.evictors import CountEvictor, DeltaEvictor, Evictor, TimeEvictor, TimestampedValue
from headrace.operators.windows.global_windows import GlobalWindows
from headrace.operators.windows.serializers import CountWindowSerializer, GlobalWindowSerializer, TimeWindowSerializer
from headrace.operators.windows.sessions import (
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    ProcessingTimeSessionWindows,
)
from headrace.operators.windows.sliding import SlidingEventTimeWindows, SlidingProcessingTimeWindows
from headrace.operators.windows.time_triggers import EndOfStreamTrigger, EventTimeTrigger, ProcessingTimeTrigger
from headrace.operators.windows.trigger import Trigger, TriggerResult
from headrace.operators.windows.tumbling import TumblingEventTimeWindows, TumblingProcessingTimeWindows
from headrace.operators.windows.window_types import (
    CountWindow,
    GlobalWindow,
    TimeWindow,
    Window,
    long_to_int_with_bit_mixing,
    mod_inverse,
)
from headrace.operators.windows.wrapping_triggers import (
    NeverTrigger,
    NoOpTrigger,
    ProcessingTimeoutTrigger,
    PurgingTrigger,
)

__all__ = [
    "ContinuousEventTimeTrigger",
    "ContinuousProcessingTimeTrigger",
    "CountEvictor",
    "CountSlidingWindowAssigner",
    "CountTrigger",
    "CountTumblingWindowAssigner",
    "CountWindow",
    "CountWindowSerializer",
    "DeltaEvictor",
    "DeltaTrigger",
    "DynamicEventTimeSessionWindows",
    "DynamicProcessingTimeSessionWindows",
    "EndOfStreamTrigger",
    "EventTimeSessionWindows",
    "EventTimeTrigger",
    "Evictor",
    "GlobalWindow",
    "GlobalWindowSerializer",
    "GlobalWindows",
    "MergingWindowAssigner",
    "Min",
    "NeverTrigger",
    "NoOpTrigger",
    "ProcessingTimeSessionWindows",
    "ProcessingTimeTrigger",
    "ProcessingTimeoutTrigger",
    "PurgingTrigger",
    "SessionWindowTimeGapExtractor",
    "SlidingEventTimeWindows",
    "SlidingProcessingTimeWindows",
    "TimeEvictor",
    "TimeWindow",
    "TimeWindowSerializer",
    "TimestampedValue",
    "Trigger",
    "TriggerResult",
    "TumblingEventTimeWindows",
    "TumblingProcessingTimeWindows",
    "Window",
    "WindowAssigner",
    "long_to_int_with_bit_mixing",
    "mod_inverse",
]

offer_pyflink_names(__name__)
