"""Process functions for one stream or two connected ones, with access to timestamps, timers, keys and side outputs.

`headrace.operators` implements the contexts. A function emits by ``yield`` or by returning an iterable; ``yield tag,
value`` emits to a side output.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, TypeAlias

from headrace.common.time_domain import TimeDomain
from headrace.functions.function import Function
from headrace.functions.timer_service import TimerService


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
        """Information about the current element."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return access to time; timers can only be registered on keyed streams."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the event time of the element in milliseconds (-2**63 if it has none)."""

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
        """Information about the current element."""

        @abstractmethod
        def get_current_key(self) -> Any:
            """Return the key of the element."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return access to time and to the timers of the current key."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the event time of the element in milliseconds (-2**63 if it has none)."""

    class OnTimerContext(Context):
        """Information about the timer that fires."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Return whether an event-time or a processing-time timer fires."""

    @abstractmethod
    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any] | None:
        """Handle one element; state and timers are those of its key."""

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterable[Any] | None:
        """Handle a timer that was registered for ``timestamp``. Does nothing by default."""
        return None


class CoProcessFunction(Function):
    """Handles the elements of two connected streams that are not keyed.

    >>> class Tagged(CoProcessFunction):
    ...     def process_element1(self, value, ctx):
    ...         yield 1, value
    ...
    ...     def process_element2(self, value, ctx):
    ...         yield 2, value
    >>> list(Tagged().process_element2("b", None))
    [(2, 'b')]
    """

    Context: TypeAlias = ProcessFunction.Context

    @abstractmethod
    def process_element1(self, value: Any, ctx: CoProcessFunction.Context) -> Iterable[Any] | None:
        """Handle an element of the first stream."""

    @abstractmethod
    def process_element2(self, value: Any, ctx: CoProcessFunction.Context) -> Iterable[Any] | None:
        """Handle an element of the second stream."""


class KeyedCoProcessFunction(Function):
    """Handles the elements of two connected keyed streams, which share the state of a key.

    >>> class Join(KeyedCoProcessFunction):
    ...     def process_element1(self, value, ctx):
    ...         yield ctx.get_current_key(), value
    ...
    ...     def process_element2(self, value, ctx):
    ...         yield ctx.get_current_key(), value
    >>> Join().on_timer(0, None) is None
    True
    """

    Context: TypeAlias = KeyedProcessFunction.Context
    OnTimerContext: TypeAlias = KeyedProcessFunction.OnTimerContext

    @abstractmethod
    def process_element1(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Iterable[Any] | None:
        """Handle an element of the first stream; state and timers are those of its key."""

    @abstractmethod
    def process_element2(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Iterable[Any] | None:
        """Handle an element of the second stream; state and timers are those of its key."""

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Iterable[Any] | None:
        """Handle a timer that was registered for ``timestamp``. Does nothing by default."""
        return None
