"""Timers of an operator and the timer service of user functions.

Event-time timers fire when the watermark passes them, before the watermark is forwarded; processing-time timers when the
task reports that the clock moved. Both fire in time order. A timer that a callback registers for a time in the past fires
in the same sweep.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.common.time_domain import TimeDomain
from headrace.errors import InvalidProgramError
from headrace.operators.base import Operator, Place
from headrace.operators.emission import emit_tagged
from headrace.operators.output import Values
from headrace.state.opaque_key import unwrap_key


class FunctionTimerService:
    """Implements `headrace.functions.timer_service.TimerService`: times, and timers of the current key."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        context = operator.context
        self._backend = context.keyed_state
        self._clock = context.clock
        self._event = context.event_timers
        self._processing = context.processing_timers

    def current_processing_time(self) -> int:
        return self._clock.now()

    def current_watermark(self) -> int:
        return self._operator.watermark

    def register_event_time_timer(self, timestamp: int) -> None:
        self._event.register(timestamp, self._backend.key)

    def register_processing_time_timer(self, timestamp: int) -> None:
        self._processing.register(timestamp, self._backend.key)

    def delete_event_time_timer(self, timestamp: int) -> None:
        self._event.delete(timestamp, self._backend.key)

    def delete_processing_time_timer(self, timestamp: int) -> None:
        self._processing.delete(timestamp, self._backend.key)


class KeylessTimerService(FunctionTimerService):
    """Times only: without a key there are no timers."""

    def register_event_time_timer(self, timestamp: int) -> None:
        """Raise an error, like the other methods for timers."""
        raise InvalidProgramError(
            "Timers can only be registered and deleted on a keyed stream, while an element or timer of a key is processed",
            remedy="put key_by(...) before process(...) and derive the function from KeyedProcessFunction.",
        )

    register_processing_time_timer = register_event_time_timer
    delete_event_time_timer = delete_processing_time_timer = register_event_time_timer


def fire_timers(
    operator: Operator,
    domain: TimeDomain,
    limit: int,
    prepare: Callable[[int, TimeDomain], Any],
    on_timer: Callable[[int, Any], Any],
) -> None:
    """Fire all timers of `domain` up to `limit`. `prepare` returns the context of one firing.

    The timestamp of a result is the time of its timer, in both domains, like in PyFlink.
    """
    context = operator.context
    queue = context.event_timers if domain is TimeDomain.EVENT_TIME else context.processing_timers
    backend = context.keyed_state
    results: Values = []
    times: list[int | None] = []
    due = queue.pop_due(limit)
    while due is not None:
        timestamp, backend.key, _ = due
        try:
            r = on_timer(timestamp, prepare(timestamp, domain))
            if r:
                results.extend(r)
                times.extend([timestamp] * (len(results) - len(times)))
        except Exception as error:
            where = Place(f"timer at {timestamp} of key {unwrap_key(backend.key)!r}")
            raise operator.failure_for(error, where) from error
        due = queue.pop_due(limit)
    emit_tagged(operator.output, results, times)
