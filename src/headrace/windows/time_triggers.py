"""Triggers that fire once, when time passes the end of the window."""

from __future__ import annotations

from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.windows.trigger import Trigger, TriggerResult
from headrace.windows.window_types import GlobalWindow, TimeWindow

__all__ = ["EndOfStreamTrigger", "EventTimeTrigger", "ProcessingTimeTrigger"]


class EventTimeTrigger(Trigger[Any, TimeWindow]):
    """Fires when the watermark passes the end of the window, and again for each later element within the allowed lateness.

    >>> EventTimeTrigger.create().can_merge()
    True
    """

    @staticmethod
    def create() -> EventTimeTrigger:
        """Make a trigger."""
        return EventTimeTrigger()

    def on_element(self, element: Any, timestamp: int, window: TimeWindow, ctx: Any) -> TriggerResult:
        """Fire if the window has ended already, else wait for its end."""
        del element, timestamp
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Any) -> TriggerResult:
        """Do nothing."""
        del time, window, ctx
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Any) -> TriggerResult:
        """Fire at the end of the window."""
        del ctx
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Any) -> None:
        """Wait for the end of the new window, unless it has ended: then the element that caused the merge fires it."""
        if window.max_timestamp() > ctx.get_current_watermark():
            ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window: TimeWindow, ctx: Any) -> None:
        """Delete the timer."""
        ctx.delete_event_time_timer(window.max_timestamp())


class ProcessingTimeTrigger(Trigger[Any, TimeWindow]):
    """Fires when the clock passes the end of the window.

    >>> ProcessingTimeTrigger.create().can_merge()
    True
    """

    @staticmethod
    def create() -> ProcessingTimeTrigger:
        """Make a trigger."""
        return ProcessingTimeTrigger()

    def on_element(self, element: Any, timestamp: int, window: TimeWindow, ctx: Any) -> TriggerResult:
        """Wait for the end of the window."""
        del element, timestamp
        ctx.register_processing_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Any) -> TriggerResult:
        """Fire."""
        del time, window, ctx
        return TriggerResult.FIRE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Any) -> TriggerResult:
        """Do nothing."""
        del time, window, ctx
        return TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Any) -> None:
        """Wait for the end of the new window."""
        if window.max_timestamp() > ctx.get_current_processing_time():
            ctx.register_processing_time_timer(window.max_timestamp())

    def clear(self, window: TimeWindow, ctx: Any) -> None:
        """Delete the timer."""
        ctx.delete_processing_time_timer(window.max_timestamp())


class EndOfStreamTrigger(Trigger[Any, GlobalWindow]):
    """Fires when the input ends.

    >>> EndOfStreamTrigger().can_merge()
    True
    """

    def on_element(self, element: Any, timestamp: int, window: GlobalWindow, ctx: Any) -> TriggerResult:
        """Wait for the end of event time."""
        del element, timestamp, window
        ctx.register_event_time_timer(MAX_WATERMARK)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: GlobalWindow, ctx: Any) -> TriggerResult:
        """Do nothing."""
        del time, window, ctx
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: GlobalWindow, ctx: Any) -> TriggerResult:
        """Fire at the end of event time."""
        del ctx
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: GlobalWindow, ctx: Any) -> None:
        """Do nothing: there is only one global window."""

    def clear(self, window: GlobalWindow, ctx: Any) -> None:
        """Do nothing."""
