"""Evictors remove elements from a window before or after its function is called.

With an evictor a window keeps its elements, also for reduce and aggregate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.errors import TypeMismatchError
from headrace.windows.assigner import check_parameters, milliseconds

T = TypeVar("T")
W = TypeVar("W")


class TimestampedValue(NamedTuple):
    """An element of a window as an evictor sees it.

    >>> TimestampedValue("a", 5).has_timestamp(), TimestampedValue("a").get_timestamp() < 0
    (True, True)
    """

    value: Any
    timestamp: int | None = None
    side: int = 0
    """Where windows join two streams: 0 for an element of the first, 1 for one of the second."""

    def get_value(self) -> Any:
        """Return the element."""
        return self.value

    def get_timestamp(self) -> int:
        """Return its timestamp, or the lowest possible one if it has none."""
        return MIN_TIMESTAMP if self.timestamp is None else self.timestamp

    def has_timestamp(self) -> bool:
        """Return whether it has a timestamp."""
        return self.timestamp is not None


class Evictor(ABC, Generic[T, W]):
    """Base class of evictors. Both methods change the list of elements in place.

    >>> class OnlyLast(Evictor):
    ...     def evict_before(self, elements, size, window, evictor_context):
    ...         del elements[:-1]
    ...
    ...     def evict_after(self, elements, size, window, evictor_context):
    ...         pass
    >>> elements = [TimestampedValue(1), TimestampedValue(2)]
    >>> OnlyLast().evict_before(elements, 2, None, None)
    >>> elements
    [TimestampedValue(value=2, timestamp=None, side=0)]
    """

    class EvictorContext(ABC):
        """What an evictor can see besides the elements."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the processing time in milliseconds."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """Return the current watermark."""

        @abstractmethod
        def get_metric_group(self) -> Any:
            """Return the metric group of the operator."""

    @abstractmethod
    def evict_before(
        self, elements: list[TimestampedValue], size: int, window: W, evictor_context: Evictor.EvictorContext
    ) -> None:
        """Remove elements before the window function is called."""

    @abstractmethod
    def evict_after(
        self, elements: list[TimestampedValue], size: int, window: W, evictor_context: Evictor.EvictorContext
    ) -> None:
        """Remove elements after the window function was called."""


class _OneSided(Evictor[Any, Any]):
    """Evicts by one rule, before the function or (with ``do_evict_after``) after it."""

    def __init__(self, do_evict_after: bool) -> None:
        self._do_evict_after = do_evict_after

    def evict_before(self, elements: list[TimestampedValue], size: int, window: Any, evictor_context: Any) -> None:
        if not self._do_evict_after and elements:
            self._evict(elements)

    def evict_after(self, elements: list[TimestampedValue], size: int, window: Any, evictor_context: Any) -> None:
        if self._do_evict_after and elements:
            self._evict(elements)

    def _evict(self, elements: list[TimestampedValue]) -> None:
        raise NotImplementedError


class CountEvictor(_OneSided):
    """Keeps a number of the last elements.

    >>> elements = [TimestampedValue(1), TimestampedValue(2), TimestampedValue(3)]
    >>> CountEvictor.of(2).evict_before(elements, 3, None, None)
    >>> [e.value for e in elements]
    [2, 3]
    """

    def __init__(self, max_count: int, do_evict_after: bool = False) -> None:
        super().__init__(do_evict_after)
        check_parameters(self, max_count >= 0, "max_count >= 0", f"max_count {max_count}")
        self._max_count = max_count

    @staticmethod
    def of(max_count: int, do_evict_after: bool = False) -> CountEvictor:
        """Make an evictor."""
        return CountEvictor(max_count, do_evict_after)

    def _evict(self, elements: list[TimestampedValue]) -> None:
        if len(elements) > self._max_count:
            del elements[: len(elements) - self._max_count]


class DeltaEvictor(_OneSided):
    """Keeps the elements that are nearer than the threshold to the last one.

    >>> elements = [TimestampedValue(1), TimestampedValue(8), TimestampedValue(10)]
    >>> DeltaEvictor.of(5, lambda old, last: last - old).evict_before(elements, 3, None, None)
    >>> [e.value for e in elements]
    [8, 10]
    """

    def __init__(
        self, threshold: float, delta_function: Callable[[Any, Any], float], do_evict_after: bool = False
    ) -> None:
        """Take the threshold and the distance of two elements (an element, the last one)."""
        super().__init__(do_evict_after)
        if not callable(getattr(delta_function, "get_delta", delta_function)):
            raise TypeMismatchError("DeltaEvictor takes a function of two elements", seen=delta_function)
        self._threshold = threshold
        self._delta = delta_function

    @staticmethod
    def of(threshold: float, delta_function: Callable[[Any, Any], float], do_evict_after: bool = False) -> DeltaEvictor:
        """Make an evictor."""
        return DeltaEvictor(threshold, delta_function, do_evict_after)

    def _evict(self, elements: list[TimestampedValue]) -> None:
        distance, last = getattr(self._delta, "get_delta", self._delta), elements[-1].value
        elements[:] = [e for e in elements if distance(e.value, last) < self._threshold]


class TimeEvictor(_OneSided):
    """Keeps the elements of a time span before the highest timestamp.

    >>> from headrace.common import Time
    >>> elements = [TimestampedValue("a", 1), TimestampedValue("b", 9), TimestampedValue("c", 5)]
    >>> TimeEvictor.of(Time.milliseconds(5)).evict_before(elements, 3, None, None)
    >>> [e.value for e in elements]
    ['b', 'c']
    """

    def __init__(self, window_size: int, do_evict_after: bool = False) -> None:
        """Take the time in milliseconds."""
        super().__init__(do_evict_after)
        check_parameters(self, window_size >= 0, "window_size >= 0", f"window_size {window_size}")
        self._window_size = window_size

    @staticmethod
    def of(window_size: Any, do_evict_after: bool = False) -> TimeEvictor:
        """Make an evictor with a time span."""
        return TimeEvictor(milliseconds(window_size, "window_size"), do_evict_after)

    def _evict(self, elements: list[TimestampedValue]) -> None:
        if elements[0].has_timestamp():
            cutoff = max(e.get_timestamp() for e in elements) - self._window_size
            elements[:] = [e for e in elements if e.get_timestamp() > cutoff]
