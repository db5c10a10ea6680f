"""The low-level functions for two connected streams.

Decides the shapes of the functions and of their contexts; `headrace.operators` implements the contexts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from headrace.common.time_domain import TimeDomain
from headrace.functions.function import Function
from headrace.functions.timer_service import TimerService

__all__ = ["CoProcessFunction", "KeyedCoProcessFunction"]


class CoProcessFunction(Function):
    """Handles the elements of two streams that are connected and not keyed.

    >>> class Tagged(CoProcessFunction):
    ...     def process_element1(self, value, ctx):
    ...         yield 1, value
    ...
    ...     def process_element2(self, value, ctx):
    ...         yield 2, value
    >>> list(Tagged().process_element2("b", None))
    [(2, 'b')]
    """

    class Context(ABC):
        """What the function may know of the current element."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return access to time; timers can only be registered on keyed streams."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the event time of the element in milliseconds (the lowest one, -2**63, if it has none)."""

    @abstractmethod
    def process_element1(self, value: Any, ctx: CoProcessFunction.Context) -> Iterable[Any] | None:
        """Handle an element of the first stream."""

    @abstractmethod
    def process_element2(self, value: Any, ctx: CoProcessFunction.Context) -> Iterable[Any] | None:
        """Handle an element of the second stream."""


class KeyedCoProcessFunction(Function):
    """Handles the elements of two streams that are connected and keyed: both see the same state of a key.

    >>> class Join(KeyedCoProcessFunction):
    ...     def process_element1(self, value, ctx):
    ...         yield ctx.get_current_key(), value
    ...
    ...     def process_element2(self, value, ctx):
    ...         yield ctx.get_current_key(), value
    >>> Join().on_timer(0, None) is None
    True
    """

    class Context(ABC):
        """What the function may know of the current element."""

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
    def process_element1(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Iterable[Any] | None:
        """Handle an element of the first stream; state and timers are those of its key."""

    @abstractmethod
    def process_element2(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Iterable[Any] | None:
        """Handle an element of the second stream; state and timers are those of its key."""

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Iterable[Any] | None:
        """Handle a timer that was registered for ``timestamp``; without this method timers do nothing."""
        del timestamp, ctx
        return None
