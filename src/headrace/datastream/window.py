"""Windows, assigners, triggers and evictors, with the names of `pyflink.datastream.window`.

Evictors, `DeltaTrigger`, `ProcessingTimeoutTrigger` and `NoOpTrigger` are in Flink's Java API, but not in PyFlink.
"""

from headrace.compatibility.names import offer_pyflink_names
from headrace.windows.assigner import MergingWindowAssigner, SessionWindowTimeGapExtractor, WindowAssigner
from headrace.windows.continuous_triggers import ContinuousEventTimeTrigger, ContinuousProcessingTimeTrigger, Min
from headrace.windows.count_windows import (
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    DeltaTrigger,
    GlobalWindows,
)
from headrace.windows.evictors import CountEvictor, DeltaEvictor, Evictor, TimeEvictor, TimestampedValue
from headrace.windows.session_windows import (
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    ProcessingTimeSessionWindows,
)
from headrace.windows.time_triggers import EndOfStreamTrigger, EventTimeTrigger, ProcessingTimeTrigger
from headrace.windows.time_windows import (
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from headrace.windows.trigger import Trigger, TriggerResult
from headrace.windows.window_types import (
    CountWindow,
    CountWindowSerializer,
    GlobalWindow,
    GlobalWindowSerializer,
    TimeWindow,
    TimeWindowSerializer,
    Window,
    long_to_int_with_bit_mixing,
    mod_inverse,
)
from headrace.windows.wrapping_triggers import NeverTrigger, NoOpTrigger, ProcessingTimeoutTrigger, PurgingTrigger

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
