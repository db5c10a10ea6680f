"""Triggers that depend on the elements: on their number, or on the distance of the last one from an earlier one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.errors import TypeMismatchError
from headrace.state.descriptors import ReducingStateDescriptor, ValueStateDescriptor
from headrace.types.typeinfo import TypeInformation, Types
from headrace.windows.assigner import check_parameters
from headrace.windows.trigger import QuietTrigger, TriggerResult


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
