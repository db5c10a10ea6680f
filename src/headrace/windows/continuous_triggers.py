"""Triggers that fire again and again while the window is open, for early results."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from headrace.state.descriptors import ReducingStateDescriptor
from headrace.types.typeinfo import Types
from headrace.windows.assigner import check_parameters, milliseconds
from headrace.windows.trigger import QuietTrigger, TriggerResult
from headrace.windows.window_types import TimeWindow

if TYPE_CHECKING:
    from typing_extensions import Self


class Min:
    """Keeps the smaller of two values.

    >>> Min().reduce(3, 2)
    2
    """

    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return the smaller one."""
        return min(value1, value2)


class _Continuous(QuietTrigger[Any, TimeWindow]):
    """The base of both: the next firing is state of the window, the earliest one after a merge."""

    def __init__(self, interval: int) -> None:
        """Take the interval in milliseconds."""
        check_parameters(self, interval > 0, "interval > 0", f"interval {interval}")
        self.interval = interval
        self.state_desc = ReducingStateDescriptor("fire-time", Min(), Types.LONG())

    @classmethod
    def of(cls, interval: Any) -> Self:
        """Make a trigger with an interval."""
        return cls(milliseconds(interval, "interval"))

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: TimeWindow, ctx: Any) -> None:
        ctx.merge_partitioned_state(self.state_desc)
        time = ctx.get_partitioned_state(self.state_desc).get()
        if time is not None:
            self._register(ctx, time)

    def clear(self, window: TimeWindow, ctx: Any) -> None:
        fire_time = ctx.get_partitioned_state(self.state_desc)
        time = fire_time.get()
        if time is not None:
            self._delete(ctx, time)
            fire_time.clear()

    def register_next_fire_timestamp(self, time: int, window: TimeWindow, ctx: Any, fire_timestamp_state: Any) -> None:
        """Note the next time to fire after ``time``."""
        following = min(time + self.interval, window.max_timestamp())
        fire_timestamp_state.add(following)
        self._register(ctx, following)

    def _on_time(self, time: int, window: TimeWindow, ctx: Any) -> TriggerResult:
        """Fire at the end, and at the noted time, after which the next one is noted."""
        if time == window.max_timestamp():
            return TriggerResult.FIRE
        fire_time = ctx.get_partitioned_state(self.state_desc)
        if fire_time.get() != time:
            return TriggerResult.CONTINUE
        fire_time.clear()
        self.register_next_fire_timestamp(time, window, ctx, fire_time)
        return TriggerResult.FIRE

    def _begin_of(self, time: int) -> int:
        """Return the interval's begin, rounded towards zero like in Flink."""
        return time - time % self.interval if time >= 0 else time + -time % self.interval

    @abstractmethod
    def _register(self, ctx: Any, time: int) -> None:
        """Register a timer."""

    @abstractmethod
    def _delete(self, ctx: Any, time: int) -> None:
        """Delete a timer."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.interval})"


class ContinuousEventTimeTrigger(_Continuous):
    """Fires at every multiple of the interval that the watermark passes, and at the end of the window.

    >>> from headrace.common import Time
    >>> ContinuousEventTimeTrigger.of(Time.seconds(5))
    ContinuousEventTimeTrigger(5000)
    """

    def on_element(self, element: Any, timestamp: int, window: TimeWindow, ctx: Any) -> TriggerResult:
        """Fire if the window has ended already, else wait for the next multiple and the end."""
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        fire_time = ctx.get_partitioned_state(self.state_desc)
        if fire_time.get() is None:
            self.register_next_fire_timestamp(self._begin_of(timestamp), window, ctx, fire_time)
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Any) -> TriggerResult:
        return self._on_time(time, window, ctx)

    def _register(self, ctx: Any, time: int) -> None:
        ctx.register_event_time_timer(time)

    def _delete(self, ctx: Any, time: int) -> None:
        ctx.delete_event_time_timer(time)


class ContinuousProcessingTimeTrigger(_Continuous):
    """Fires at every multiple of the interval that the clock passes.

    >>> from headrace.common import Time
    >>> ContinuousProcessingTimeTrigger.of(Time.seconds(5))
    ContinuousProcessingTimeTrigger(5000)
    """

    def on_element(self, element: Any, timestamp: int, window: TimeWindow, ctx: Any) -> TriggerResult:
        fire_time = ctx.get_partitioned_state(self.state_desc)
        if fire_time.get() is None:
            begin = self._begin_of(ctx.get_current_processing_time())
            self.register_next_fire_timestamp(begin, window, ctx, fire_time)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Any) -> TriggerResult:
        return self._on_time(time, window, ctx)

    def _register(self, ctx: Any, time: int) -> None:
        ctx.register_processing_time_timer(time)

    def _delete(self, ctx: Any, time: int) -> None:
        ctx.delete_processing_time_timer(time)
