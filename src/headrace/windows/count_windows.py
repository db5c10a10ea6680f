"""Count windows: each holds a number of elements of its key.

The default trigger fires a window when it is full and drops its contents: no more elements can arrive.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from headrace.state.descriptors import ValueStateDescriptor
from headrace.types.serializer import TypeSerializer
from headrace.types.typeinfo import Types
from headrace.windows.assigner import WindowAssigner, check_parameters
from headrace.windows.count_triggers import CountTrigger
from headrace.windows.trigger import Trigger
from headrace.windows.window_types import CountWindow, CountWindowSerializer
from headrace.windows.wrapping_triggers import PurgingTrigger


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
