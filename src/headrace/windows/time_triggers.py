"""Triggers that fire once, when time passes the end of the window."""

from __future__ import annotations

from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.windows.trigger import QuietTrigger, TriggerResult
from headrace.windows.window_types import GlobalWindow, TimeWindow


class EventTimeTrigger(QuietTrigger[Any, TimeWindow]):
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
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Any) -> TriggerResult:
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: TimeWindow, ctx: Any) -> None:
        """Wait for the end of the new window, unless it has ended: then the element that caused the merge fires it."""
        if window.max_timestamp() > ctx.get_current_watermark():
            ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window: TimeWindow, ctx: Any) -> None:
        ctx.delete_event_time_timer(window.max_timestamp())


class ProcessingTimeTrigger(QuietTrigger[Any, TimeWindow]):
    """Fires when the clock passes the end of the window.

    >>> ProcessingTimeTrigger.create().can_merge()
    True
    """

    @staticmethod
    def create() -> ProcessingTimeTrigger:
        """Make a trigger."""
        return ProcessingTimeTrigger()

    def on_element(self, element: Any, timestamp: int, window: TimeWindow, ctx: Any) -> TriggerResult:
        ctx.register_processing_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Any) -> TriggerResult:
        return TriggerResult.FIRE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: TimeWindow, ctx: Any) -> None:
        if window.max_timestamp() > ctx.get_current_processing_time():
            ctx.register_processing_time_timer(window.max_timestamp())

    def clear(self, window: TimeWindow, ctx: Any) -> None:
        ctx.delete_processing_time_timer(window.max_timestamp())


class EndOfStreamTrigger(QuietTrigger[Any, GlobalWindow]):
    """Fires when the input ends.

    >>> EndOfStreamTrigger().can_merge()
    True
    """

    def on_element(self, element: Any, timestamp: int, window: GlobalWindow, ctx: Any) -> TriggerResult:
        ctx.register_event_time_timer(MAX_WATERMARK)
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: GlobalWindow, ctx: Any) -> TriggerResult:
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        return True
