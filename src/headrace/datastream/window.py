"""The names of windows, so that programs import; the windows themselves come with a later version.

Decides nothing: an assigner or trigger can be made and shown, and `KeyedStream.window` refuses it.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Generic, TypeVar

__all__ = [
    "ContinuousEventTimeTrigger",
    "ContinuousProcessingTimeTrigger",
    "CountSlidingWindowAssigner",
    "CountTrigger",
    "CountTumblingWindowAssigner",
    "CountWindow",
    "DynamicEventTimeSessionWindows",
    "DynamicProcessingTimeSessionWindows",
    "EventTimeSessionWindows",
    "EventTimeTrigger",
    "GlobalWindow",
    "GlobalWindows",
    "MergingWindowAssigner",
    "NeverTrigger",
    "ProcessingTimeSessionWindows",
    "ProcessingTimeTrigger",
    "PurgingTrigger",
    "SessionWindowTimeGapExtractor",
    "SlidingEventTimeWindows",
    "SlidingProcessingTimeWindows",
    "TimeWindow",
    "Trigger",
    "TriggerResult",
    "TumblingEventTimeWindows",
    "TumblingProcessingTimeWindows",
    "Window",
    "WindowAssigner",
]

T = TypeVar("T")
W = TypeVar("W")


class Window:
    """Base of windows."""


class TimeWindow(Window):
    """A window from ``start`` (included) to ``end`` (not included), in milliseconds.

    >>> TimeWindow(0, 10).max_timestamp()
    9
    """

    def __init__(self, start: int, end: int) -> None:
        """Take both ends."""
        self.start = start
        self.end = end

    def max_timestamp(self) -> int:
        """Give the last millisecond of the window."""
        return self.end - 1


class CountWindow(Window):
    """A window of a number of elements."""


class GlobalWindow(Window):
    """The window of all elements."""


class TriggerResult(Enum):
    """What a trigger decides: whether the window fires, and whether its contents are dropped.

    >>> TriggerResult.FIRE_AND_PURGE.value
    (True, True)
    """

    CONTINUE = (False, False)
    FIRE_AND_PURGE = (True, True)
    FIRE = (True, False)
    PURGE = (False, True)


class _Declared:
    """Keeps the arguments it is made with, and shows them."""

    def __init__(self, *arguments: Any) -> None:
        self._arguments = arguments

    @classmethod
    def of(cls, *arguments: Any) -> Any:
        """Make one."""
        return cls(*arguments)

    @classmethod
    def create(cls, *arguments: Any) -> Any:
        """Make one."""
        return cls(*arguments)

    @classmethod
    def with_gap(cls, *arguments: Any) -> Any:
        """Make one."""
        return cls(*arguments)

    @classmethod
    def with_dynamic_gap(cls, *arguments: Any) -> Any:
        """Make one."""
        return cls(*arguments)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self._arguments))})"


class WindowAssigner(_Declared, Generic[T, W]):
    """Base of assigners, which say to which windows an element belongs."""


class MergingWindowAssigner(WindowAssigner[T, W]):
    """Base of assigners whose windows may be merged."""


class Trigger(_Declared, Generic[T, W]):
    """Base of triggers, which say when a window fires."""


class SessionWindowTimeGapExtractor(_Declared):
    """Gives the gap of the session that an element opens."""


class TumblingEventTimeWindows(WindowAssigner[Any, TimeWindow]):
    """Windows of equal size one after the other, by event time.

    >>> from headrace.common import Time
    >>> TumblingEventTimeWindows.of(Time.seconds(10))
    TumblingEventTimeWindows(10000 ms)
    """


class TumblingProcessingTimeWindows(WindowAssigner[Any, TimeWindow]):
    """Windows of equal size one after the other, by processing time."""


class SlidingEventTimeWindows(WindowAssigner[Any, TimeWindow]):
    """Windows of equal size that overlap, by event time."""


class SlidingProcessingTimeWindows(WindowAssigner[Any, TimeWindow]):
    """Windows of equal size that overlap, by processing time."""


class EventTimeSessionWindows(MergingWindowAssigner[Any, TimeWindow]):
    """Windows that end with a gap, by event time."""


class ProcessingTimeSessionWindows(MergingWindowAssigner[Any, TimeWindow]):
    """Windows that end with a gap, by processing time."""


class DynamicEventTimeSessionWindows(MergingWindowAssigner[Any, TimeWindow]):
    """Windows that end with a gap that the elements tell, by event time."""


class DynamicProcessingTimeSessionWindows(MergingWindowAssigner[Any, TimeWindow]):
    """Windows that end with a gap that the elements tell, by processing time."""


class GlobalWindows(WindowAssigner[Any, GlobalWindow]):
    """All elements of a key in one window."""


class CountTumblingWindowAssigner(WindowAssigner[Any, CountWindow]):
    """Windows of a number of elements."""


class CountSlidingWindowAssigner(WindowAssigner[Any, CountWindow]):
    """Windows of a number of elements that overlap."""


class EventTimeTrigger(Trigger[Any, TimeWindow]):
    """Fires when the watermark passes the end of the window."""


class ProcessingTimeTrigger(Trigger[Any, TimeWindow]):
    """Fires when the clock passes the end of the window."""


class ContinuousEventTimeTrigger(Trigger[Any, TimeWindow]):
    """Fires again and again, by event time."""


class ContinuousProcessingTimeTrigger(Trigger[Any, TimeWindow]):
    """Fires again and again, by processing time."""


class CountTrigger(Trigger[Any, CountWindow]):
    """Fires when the window has a number of elements."""


class PurgingTrigger(Trigger[Any, Window]):
    """Drops the contents of the window whenever another trigger fires."""


class NeverTrigger(Trigger[Any, GlobalWindow]):
    """Never fires."""
