"""The low-level functions for one input: they see timestamps, timers, keys and side outputs.

Decides the shapes of the functions and of the contexts they are given; `headrace.operators` implements the contexts.
A function emits by yielding or by returning an iterable; ``yield tag, value`` goes to a side output.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from headrace.common.time_domain import TimeDomain
from headrace.functions.function import Function
from headrace.functions.timer_service import TimerService

__all__ = ["KeyedProcessFunction", "ProcessFunction"]


class ProcessFunction(Function):
    """Handles each element of a stream that is not keyed.

    >>> class WithTimestamp(ProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         yield value, ctx.timestamp()
    >>> class Fixed:
    ...     def timestamp(self):
    ...         return 17
    >>> list(WithTimestamp().process_element("a", Fixed()))
    [('a', 17)]
    """

    class Context(ABC):
        """What `process_element` may know of the current element."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return access to time; timers can only be registered on keyed streams."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the event time of the element in milliseconds (the lowest one, -2**63, if it has none)."""

    @abstractmethod
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Iterable[Any] | None:
        """Handle one element."""


class KeyedProcessFunction(Function):
    """Handles each element of a keyed stream, with keyed state and timers per key.

    >>> class Reminder(KeyedProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         ctx.timer_service().register_event_time_timer(ctx.timestamp() + 60_000)
    ...
    ...     def on_timer(self, timestamp, ctx):
    ...         yield ctx.get_current_key(), timestamp
    >>> isinstance(Reminder(), Function)
    True
    """

    class Context(ABC):
        """What `process_element` may know of the current element."""

        @abstractmethod
        def get_current_key(self) -> Any:
            """Return the key of the element."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return access to time and to the timers of the current key."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the event time of the element in milliseconds (the lowest one, -2**63, if it has none)."""

    class OnTimerContext(Context):
        """What `on_timer` may know of the timer that fires."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Return whether an event-time or a processing-time timer fires."""

    @abstractmethod
    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any] | None:
        """Handle one element; state and timers are those of its key."""

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterable[Any] | None:
        """Handle a timer that was registered for ``timestamp``; without this method timers do nothing."""
        del timestamp, ctx
        return None
