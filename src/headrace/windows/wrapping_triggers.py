"""Triggers that wrap another trigger, and the one that never fires."""

from __future__ import annotations

from typing import Any

from headrace.errors import TypeMismatchError
from headrace.state.descriptors import ValueStateDescriptor
from headrace.types.typeinfo import Types
from headrace.windows.assigner import check_parameters, milliseconds
from headrace.windows.trigger import QuietTrigger, Trigger, TriggerResult


def _trigger(given: Any, owner: str) -> Trigger[Any, Any]:
    if not isinstance(given, Trigger):
        remedy = f"pass an object: {given.__name__}(...)" if isinstance(given, type) else None
        raise TypeMismatchError(f"{owner} takes a trigger", seen=given, expected="a Trigger", remedy=remedy)
    return given


class NeverTrigger(QuietTrigger[Any, Any]):
    """Never fires.

    >>> NeverTrigger().on_element("a", 0, None, None)
    <TriggerResult.CONTINUE: (False, False)>
    """


NoOpTrigger = NeverTrigger
"""Another name of the class."""


class PurgingTrigger(Trigger[Any, Any]):
    """Drops the contents of the window whenever another trigger fires.

    >>> from headrace.windows.count_windows import CountTrigger
    >>> PurgingTrigger.of(CountTrigger.of(2))
    PurgingTrigger(CountTrigger(2))
    """

    def __init__(self, nested_trigger: Trigger[Any, Any]) -> None:
        self.nested_trigger = _trigger(nested_trigger, "PurgingTrigger")

    @staticmethod
    def of(nested_trigger: Trigger[Any, Any]) -> PurgingTrigger:
        """Make a trigger."""
        return PurgingTrigger(nested_trigger)

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        return _purging(self.nested_trigger.on_element(element, timestamp, window, ctx))

    def on_processing_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return _purging(self.nested_trigger.on_processing_time(time, window, ctx))

    def on_event_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return _purging(self.nested_trigger.on_event_time(time, window, ctx))

    def can_merge(self) -> bool:
        return self.nested_trigger.can_merge()

    def on_merge(self, window: Any, ctx: Any) -> None:
        self.nested_trigger.on_merge(window, ctx)

    def clear(self, window: Any, ctx: Any) -> None:
        self.nested_trigger.clear(window, ctx)

    def __repr__(self) -> str:
        return f"PurgingTrigger({self.nested_trigger})"


def _purging(result: TriggerResult) -> TriggerResult:
    return TriggerResult.FIRE_AND_PURGE if result.is_fire() else result


class ProcessingTimeoutTrigger(QuietTrigger[Any, Any]):
    """Fires when another trigger does, and a time after the first (or last) element by the clock.

    >>> from headrace.common import Duration
    >>> from headrace.windows.count_windows import CountTrigger
    >>> ProcessingTimeoutTrigger.of(CountTrigger.of(100), Duration.of_millis(500))
    ProcessingTimeoutTrigger(CountTrigger(100), 500)
    """

    def __init__(
        self,
        nested_trigger: Trigger[Any, Any],
        interval: int,
        reset_timer_on_new_record: bool = False,
        should_clear_on_timeout: bool = True,
    ) -> None:
        """Take the other trigger, the time-out in milliseconds, and whether each element restarts it."""
        check_parameters(self, interval > 0, "timeout > 0", f"timeout {interval}")
        self.nested_trigger = _trigger(nested_trigger, "ProcessingTimeoutTrigger")
        self._interval = interval
        self._reset = reset_timer_on_new_record
        self._clear_on_timeout = should_clear_on_timeout
        self._timeout = ValueStateDescriptor("timeout", Types.LONG())

    @staticmethod
    def of(
        nested_trigger: Trigger[Any, Any],
        timeout: Any,
        reset_timer_on_new_record: bool = False,
        should_clear_on_timeout: bool = True,
    ) -> ProcessingTimeoutTrigger:
        """Make a trigger with a time-out."""
        interval = milliseconds(timeout, "timeout")
        return ProcessingTimeoutTrigger(nested_trigger, interval, reset_timer_on_new_record, should_clear_on_timeout)

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        """Ask the other trigger; start the time-out if it does not fire."""
        result = self.nested_trigger.on_element(element, timestamp, window, ctx)
        if result.is_fire():
            self.clear(window, ctx)
            return result
        timeout = ctx.get_partitioned_state(self._timeout)
        noted = timeout.value()
        if noted is not None and self._reset:
            ctx.delete_processing_time_timer(noted)
            timeout.clear()
            noted = None
        if noted is None:
            due = ctx.get_current_processing_time() + self._interval
            timeout.update(due)
            ctx.register_processing_time_timer(due)
        return result

    def on_processing_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return self._fire(self.nested_trigger.on_processing_time(time, window, ctx), window, ctx)

    def on_event_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return self._fire(self.nested_trigger.on_event_time(time, window, ctx), window, ctx)

    def clear(self, window: Any, ctx: Any) -> None:
        """Forget the time-out; the other trigger clears too."""
        timeout = ctx.get_partitioned_state(self._timeout)
        noted = timeout.value()
        if noted is not None:
            ctx.delete_processing_time_timer(noted)
            timeout.clear()
        self.nested_trigger.clear(window, ctx)

    def _fire(self, result: TriggerResult, window: Any, ctx: Any) -> TriggerResult:
        if self._clear_on_timeout:
            self.clear(window, ctx)
        return TriggerResult.FIRE_AND_PURGE if result.is_purge() else TriggerResult.FIRE

    def __repr__(self) -> str:
        return f"ProcessingTimeoutTrigger({self.nested_trigger}, {self._interval})"
