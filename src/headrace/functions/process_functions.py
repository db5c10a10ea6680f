"""Process functions for one stream or two connected ones, which may be broadcast: timestamps, timers, keys, side outputs.

`headrace.operators` implements the contexts. A function emits by ``yield`` or by returning an iterable; ``yield tag,
value`` emits to a side output. Broadcast elements reach every subtask and may change broadcast state; other elements may only
read it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Generic, TypeAlias, TypeVar

from headrace.common.time_domain import TimeDomain
from headrace.functions.function import Function
from headrace.functions.timer_service import TimerService
from headrace.state.descriptors import MapStateDescriptor
from headrace.state.interfaces import BroadcastState, ReadOnlyBroadcastState


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

    class Context(ProcessFunction.Context):
        """Information about the current element."""

        @abstractmethod
        def get_current_key(self) -> Any:
            """Return the key of the element."""

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


IN1 = TypeVar("IN1")
IN2 = TypeVar("IN2")
KEY = TypeVar("KEY")
OUT = TypeVar("OUT")


class BaseBroadcastProcessFunction(Function):
    """The contexts that both broadcast functions share.

    >>> issubclass(BaseBroadcastProcessFunction.ReadOnlyContext, BaseBroadcastProcessFunction.BaseContext)
    True
    """

    class BaseContext(ABC):
        """Information about the current element, on either side."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the event time of the element in milliseconds (-2**63 if it has none)."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the processing time in milliseconds."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Return the current watermark in milliseconds."""

    class Context(BaseContext):
        """The context of the broadcast side: broadcast state can be changed."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
            """Return the broadcast state of a descriptor that was passed to `DataStream.broadcast`."""

    class ReadOnlyContext(BaseContext):
        """The context of the other side: broadcast state can only be read."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> ReadOnlyBroadcastState[Any, Any]:
            """Return the broadcast state of a descriptor that was passed to `DataStream.broadcast`."""


class BroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[IN1, IN2, OUT]):
    """For a non-keyed stream that is connected to a broadcast stream.

    >>> class Allow(BroadcastProcessFunction):
    ...     rules = MapStateDescriptor("rules", None, None)
    ...
    ...     def process_element(self, value, ctx):
    ...         if ctx.get_broadcast_state(self.rules).contains(value):
    ...             yield value
    ...
    ...     def process_broadcast_element(self, value, ctx):
    ...         ctx.get_broadcast_state(self.rules).put(value, True)
    >>> isinstance(Allow(), Function)
    True
    """

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """The context of the broadcast side."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, ABC):
        """The context of the other side."""

    @abstractmethod
    def process_element(self, value: Any, ctx: BroadcastProcessFunction.ReadOnlyContext) -> Iterable[Any] | None:
        """Handle an element of the stream that is not broadcast."""

    @abstractmethod
    def process_broadcast_element(self, value: Any, ctx: BroadcastProcessFunction.Context) -> Iterable[Any] | None:
        """Handle a broadcast element. Every subtask receives it and must change the state in the same way."""


class KeyedBroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[KEY, IN1, IN2, OUT]):
    """For a keyed stream that is connected to a broadcast stream, with keyed state and timers.

    >>> class Pass(KeyedBroadcastProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         yield ctx.get_current_key(), value
    ...
    ...     def process_broadcast_element(self, value, ctx):
    ...         return ()
    >>> Pass().process_broadcast_element(1, None)
    ()
    """

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """The context of the broadcast side: there is no current key."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, ABC):
        """The context of the keyed side."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return access to time and to the timers of the current key."""

        @abstractmethod
        def get_current_key(self) -> Any:
            """Return the key of the element."""

    class OnTimerContext(ReadOnlyContext, ABC):
        """Information about the timer that fires."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Return whether an event-time or a processing-time timer fires."""

        @abstractmethod
        def get_current_key(self) -> Any:
            """Return the key of the timer."""

    @abstractmethod
    def process_element(self, value: Any, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext) -> Iterable[Any] | None:
        """Handle an element of the keyed stream."""

    @abstractmethod
    def process_broadcast_element(self, value: Any, ctx: KeyedBroadcastProcessFunction.Context) -> Iterable[Any] | None:
        """Handle a broadcast element. Every subtask receives it and must change the state in the same way."""

    def on_timer(self, timestamp: int, ctx: KeyedBroadcastProcessFunction.OnTimerContext) -> Iterable[Any] | None:
        """Handle a timer that was registered for ``timestamp``. Does nothing by default."""
        return None
