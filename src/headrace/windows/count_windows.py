"""Windows without time: count windows, which hold a number of elements of their key, and the global window.

Also triggers that depend on the elements. The default trigger fires a window when it is full and drops its contents: no
more elements can arrive. Nothing fires the global window unless the program sets a trigger.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from headrace.errors import TypeMismatchError
from headrace.state.descriptors import ReducingStateDescriptor, ValueStateDescriptor
from headrace.types.serializer import TypeSerializer
from headrace.types.typeinfo import TypeInformation, Types
from headrace.windows.assigner import WindowAssigner, check_parameters
from headrace.windows.time_triggers import EndOfStreamTrigger
from headrace.windows.trigger import QuietTrigger, Trigger, TriggerResult
from headrace.windows.window_types import CountWindow, CountWindowSerializer, GlobalWindow, GlobalWindowSerializer
from headrace.windows.wrapping_triggers import NeverTrigger, PurgingTrigger


class _Sum:
    """Adds two numbers."""

    def reduce(self, value1: int, value2: int) -> int:
        return value1 + value2


class CountTrigger(QuietTrigger[Any, Any]):
    """Fires whenever a number of elements has arrived since the last firing.

    >>> CountTrigger.of(3)
    CountTrigger(3)
    """

    def __init__(self, window_size: int) -> None:
        check_parameters(self, window_size > 0, "size > 0", f"size {window_size}")
        self._window_size = window_size
        self._count = ReducingStateDescriptor("trigger_counter", _Sum(), Types.LONG())

    @staticmethod
    def of(window_size: int) -> CountTrigger:
        """Make a trigger."""
        return CountTrigger(window_size)

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        count = ctx.get_partitioned_state(self._count)
        count.add(1)
        if count.get() >= self._window_size:
            count.clear()
            return TriggerResult.FIRE
        return TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Any, ctx: Any) -> None:
        ctx.merge_partitioned_state(self._count)

    def clear(self, window: Any, ctx: Any) -> None:
        ctx.get_partitioned_state(self._count).clear()

    def __repr__(self) -> str:
        return f"CountTrigger({self._window_size})"


class DeltaTrigger(QuietTrigger[Any, Any]):
    """Fires when an element is further than the threshold from the one at the last firing (at first: the first one).

    >>> DeltaTrigger.of(10, lambda old, new: new - old)
    DeltaTrigger(10)
    """

    def __init__(
        self, threshold: float, delta_function: Callable[[Any, Any], float], type_info: TypeInformation | None = None
    ) -> None:
        """Take the threshold, the distance of two elements (old, new), and the type of the elements."""
        if not callable(getattr(delta_function, "get_delta", delta_function)):
            raise TypeMismatchError("DeltaTrigger takes a function of two elements", seen=delta_function)
        self._threshold = threshold
        self._delta = delta_function
        self._last = ValueStateDescriptor("last-element", type_info or Types.PICKLED_BYTE_ARRAY())

    @staticmethod
    def of(
        threshold: float, delta_function: Callable[[Any, Any], float], type_info: TypeInformation | None = None
    ) -> DeltaTrigger:
        """Make a trigger."""
        return DeltaTrigger(threshold, delta_function, type_info)

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        last = ctx.get_partitioned_state(self._last)
        noted = last.value()
        if noted is None:
            last.update(element)
            return TriggerResult.CONTINUE
        distance = getattr(self._delta, "get_delta", self._delta)
        if distance(noted, element) > self._threshold:
            last.update(element)
            return TriggerResult.FIRE
        return TriggerResult.CONTINUE

    def clear(self, window: Any, ctx: Any) -> None:
        ctx.get_partitioned_state(self._last).clear()

    def __repr__(self) -> str:
        return f"DeltaTrigger({self._threshold})"


class _Counting(WindowAssigner[Any, CountWindow]):
    """The base of both: the number of elements so far is state of the key."""

    _window_size: int
    _state_name: str

    def get_default_trigger(self, env: Any) -> Trigger[Any, CountWindow]:
        """Fire when the window is full."""
        return PurgingTrigger(CountTrigger(self._window_size))

    def get_window_serializer(self) -> TypeSerializer[CountWindow]:
        return CountWindowSerializer()

    def is_event_time(self) -> bool:
        """Return False: elements are never late."""
        return False

    def _next_number(self, context: Any) -> int:
        """Return the number of this element of its key, from 0."""
        state = context.get_runtime_context().get_state(ValueStateDescriptor(self._state_name, Types.LONG()))
        number: int = state.value() or 0
        state.update(number + 1)
        return number


class CountTumblingWindowAssigner(_Counting):
    """Windows of a fixed number of elements of a key.

    >>> CountTumblingWindowAssigner.of(3)
    CountTumblingWindowAssigner(3)
    """

    _state_name = "tumble-count-assigner"

    def __init__(self, window_size: int) -> None:
        check_parameters(self, window_size > 0, "size > 0", f"size {window_size}")
        self._window_size = window_size

    @staticmethod
    def of(window_size: int) -> CountTumblingWindowAssigner:
        """Make an assigner."""
        return CountTumblingWindowAssigner(window_size)

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> Collection[CountWindow]:
        return [CountWindow(self._next_number(context) // self._window_size)]

    def __repr__(self) -> str:
        return f"CountTumblingWindowAssigner({self._window_size})"


class CountSlidingWindowAssigner(_Counting):
    """A window of ``window_size`` elements of a key begins with every ``window_slide``-th of them.

    >>> CountSlidingWindowAssigner.of(4, 2)
    CountSlidingWindowAssigner(4, 2)
    """

    _state_name = "slide-count-assigner"

    def __init__(self, window_size: int, window_slide: int) -> None:
        """Take the number of elements of a window, and after how many elements the next one begins."""
        seen = f"size {window_size}, slide {window_slide}"
        check_parameters(self, window_size > 0 and window_slide > 0, "size > 0 and slide > 0", seen)
        self._window_size = window_size
        self._window_slide = window_slide

    @staticmethod
    def of(window_size: int, window_slide: int) -> CountSlidingWindowAssigner:
        """Make an assigner."""
        return CountSlidingWindowAssigner(window_size, window_slide)

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> Collection[CountWindow]:
        number, slide = self._next_number(context), self._window_slide
        first = max(0, -(-(number - self._window_size + 1) // slide))
        return [CountWindow(i) for i in range(number // slide, first - 1, -1)]

    def __repr__(self) -> str:
        return f"CountSlidingWindowAssigner({self._window_size}, {self._window_slide})"


_THE_ONE = GlobalWindow()


class GlobalWindows(WindowAssigner[Any, GlobalWindow]):
    """All elements of a key in one window.

    >>> GlobalWindows.create().assign_windows("a", 5, None)
    [GlobalWindow]
    """

    def __init__(self, trigger: Trigger[Any, GlobalWindow] | None = None) -> None:
        """Programs call `create` or `create_with_end_of_stream_trigger`."""
        self._trigger = trigger

    @staticmethod
    def create() -> GlobalWindows:
        """Make an assigner whose window never fires by itself."""
        return GlobalWindows()

    @staticmethod
    def create_with_end_of_stream_trigger() -> GlobalWindows:
        """Make an assigner whose window fires when the input ends.

        >>> type(GlobalWindows.create_with_end_of_stream_trigger().get_default_trigger(None)).__name__
        'EndOfStreamTrigger'
        """
        return GlobalWindows(EndOfStreamTrigger())

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> Collection[GlobalWindow]:
        return [_THE_ONE]

    def get_default_trigger(self, env: Any) -> Trigger[Any, GlobalWindow]:
        """Never fire, or at the end of the input."""
        return NeverTrigger() if self._trigger is None else self._trigger

    def get_window_serializer(self) -> TypeSerializer[GlobalWindow]:
        return GlobalWindowSerializer()

    def is_event_time(self) -> bool:
        """Return False: elements are never late."""
        return False

    def __repr__(self) -> str:
        return "GlobalWindows()"
