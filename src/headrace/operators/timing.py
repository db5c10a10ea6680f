"""Timers of an operator and the timer service that user functions see.

Event-time timers fire when the watermark passes them, before the watermark goes on; processing-time timers when the task
says that the clock has moved. Both in time order; a timer that a callback registers for a time already passed fires in
the same sweep.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from headrace.common.time_domain import TimeDomain
from headrace.errors import InvalidProgramError
from headrace.operators.base import Operator, Place
from headrace.operators.emission import emit_tagged
from headrace.operators.output import Values
from headrace.state.opaque_key import unwrap_key


class FunctionTimerService:
    """What `ctx.timer_service()` gives: times, and timers of the current key."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        context = operator.context
        self._backend = context.keyed_state
        self._clock = context.clock
        self._event = context.event_timers
        self._processing = context.processing_timers

    def current_processing_time(self) -> int:
        """The clock, in milliseconds."""
        return self._clock.now()

    def current_watermark(self) -> int:
        """The operator's event time."""
        return self._operator.watermark

    def register_event_time_timer(self, timestamp: int) -> None:
        """Calls `on_timer` for the current key when the watermark reaches `timestamp`."""
        self._event.register(timestamp, self._backend.key)

    def register_processing_time_timer(self, timestamp: int) -> None:
        """Calls `on_timer` for the current key when the clock reaches `timestamp`."""
        self._processing.register(timestamp, self._backend.key)

    def delete_event_time_timer(self, timestamp: int) -> None:
        """Takes a timer of the current key back; no timer, no effect."""
        self._event.delete(timestamp, self._backend.key)

    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Takes a timer of the current key back; no timer, no effect."""
        self._processing.delete(timestamp, self._backend.key)


class KeylessTimerService(FunctionTimerService):
    """Times only: where there is no key, there are no timers."""

    def register_event_time_timer(self, timestamp: int) -> None:
        """Refused."""
        self._refuse()

    def register_processing_time_timer(self, timestamp: int) -> None:
        """Refused."""
        self._refuse()

    def delete_event_time_timer(self, timestamp: int) -> None:
        """Refused."""
        self._refuse()

    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Refused."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise InvalidProgramError(
            "Timers can only be registered and deleted on a keyed stream, while an element or timer of a key is processed",
            remedy="put key_by(...) before process(...) and derive the function from KeyedProcessFunction.",
        )


class OnTimerContextMixin:
    """The time facts that an `on_timer` context has beside those of an element."""

    def __init__(self) -> None:
        self._domain: TimeDomain | None = None

    def time_domain(self) -> TimeDomain | None:
        """Which kind of timer fires."""
        return self._domain


def fire_timers(
    operator: Operator,
    domain: TimeDomain,
    limit: int,
    prepare: Callable[[int, TimeDomain], Any],
    on_timer: Callable[[int, Any], Any],
) -> None:
    """Fires all timers of `domain` up to `limit`; `prepare` gives the context of one firing.

    Results have the time of their timer as timestamp, in both domains, as in PyFlink.
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
