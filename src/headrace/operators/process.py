"""Operators of process functions with one or two inputs, keyed or not, and the base of all process operators.

Event-time timers fire when the watermark passes them, before the watermark is forwarded; processing-time timers when the
task reports that the clock moved. Both fire in time order. A timer that a callback registers for a time in the past fires
in the same sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

from headrace.common.time_domain import TimeDomain
from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.errors import InvalidProgramError
from headrace.operators.base import FunctionOperator, Operator, Place
from headrace.operators.output import Timestamps, Values, emit_tagged
from headrace.state.keyed_backend import KeyedBackend
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


class ElementContext:
    """The `ctx` of `process_element`: timestamp, timer service, and on keyed streams the current key."""

    def __init__(self, timers: FunctionTimerService, backend: KeyedBackend) -> None:
        self.record_timestamp: int | None = None
        self._timers = timers
        self._backend = backend

    def timestamp(self) -> int:
        """Return the timestamp of the element or firing timer; the lowest possible one if there is none, like PyFlink."""
        timestamp = self.record_timestamp
        return MIN_TIMESTAMP if timestamp is None else timestamp

    def timer_service(self) -> FunctionTimerService:
        return self._timers

    def get_current_key(self) -> Any:
        return unwrap_key(self._backend.key)


class TimerContext(ElementContext):
    """The `ctx` of `on_timer`."""

    _domain: TimeDomain | None = None

    def time_domain(self) -> TimeDomain | None:
        return self._domain

    def at(self, timestamp: int, domain: TimeDomain) -> TimerContext:
        """Return this context, set up for one firing."""
        self.record_timestamp = timestamp
        self._domain = domain
        return self


class TimedFunctionOperator(FunctionOperator):
    """A user function with contexts and, on keyed input, timers. The base of all process operators."""

    def __init__(self, func: Any, keyed: bool) -> None:
        super().__init__(func)
        self.keyed = keyed

    def open(self) -> None:
        timers = FunctionTimerService(self) if self.keyed else KeylessTimerService(self)
        self.element_context = self.make_element_context(timers)
        self.timer_context = TimerContext(timers, self.context.keyed_state)
        self._on_timer = getattr(self.func, "on_timer", None)
        super().open()

    def make_element_context(self, timers: FunctionTimerService) -> ElementContext:
        """Return the context for elements. Subclasses override it to provide more."""
        return ElementContext(timers, self.context.keyed_state)

    def process_watermark(self, timestamp: int) -> None:
        """Fire event-time timers, then forward the watermark."""
        self.watermark = timestamp
        if self._on_timer is not None and len(self.context.event_timers):
            fire_timers(self, TimeDomain.EVENT_TIME, timestamp, self.timer_context.at, self._on_timer)
        self.output.emit_watermark(timestamp)

    def advance_processing_time(self, now: int) -> None:
        if self._on_timer is not None and len(self.context.processing_timers):
            fire_timers(self, TimeDomain.PROCESSING_TIME, now, self.timer_context.at, self._on_timer)

    def next_processing_timer(self) -> int | None:
        return self.context.processing_timers.next_timestamp()

    def run_elements(
        self, call: Any, context: ElementContext, values: Values, timestamps: Timestamps, keys: Iterable[Any] | None
    ) -> None:
        """Call `call(value, context)` for a run of records and emit the results; skip falsy ones."""
        records = iter(values)
        results: Values = []
        extend = results.extend
        times: list[int | None] | None = None
        backend = self.context.keyed_state
        keys = repeat(backend.key) if keys is None else backend.in_turn(keys)
        try:
            if timestamps is None:
                context.record_timestamp = None
                for backend.key, v in zip(keys, records):
                    r = call(v, context)
                    if r:
                        extend(r)
            else:
                times = []
                for backend.key, t, v in zip(keys, timestamps, records):
                    context.record_timestamp = t
                    r = call(v, context)
                    if r:
                        extend(r)
                        if len(results) != len(times):
                            times.extend([t] * (len(results) - len(times)))
        except Exception as error:
            raise self.failure(error, values, records) from error
        emit_tagged(self.output, results, times)


class ProcessOperator(TimedFunctionOperator):
    """`process_element(value, ctx)` of a ProcessFunction or KeyedProcessFunction."""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self.run_elements(self.func.process_element, self.element_context, values, timestamps, keys)


class CoProcessOperator(TimedFunctionOperator):
    """`process_element1` and `process_element2`; keyed inputs share state and timers."""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self.run_elements(self.func.process_element1, self.element_context, values, timestamps, keys)

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self.run_elements(self.func.process_element2, self.element_context, values, timestamps, keys)
