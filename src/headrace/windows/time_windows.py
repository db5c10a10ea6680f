"""Time windows of one size, by event time or by the clock: tumbling ones, one after the other, and sliding ones.

A sliding window begins every slide, so that an element is in several of them (or in none).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from headrace.windows.assigner import TimeAssigner, check_parameters, milliseconds
from headrace.windows.window_types import TimeWindow

if TYPE_CHECKING:
    from typing_extensions import Self


class _Sized(TimeAssigner):
    """Windows of one size."""

    _size: int
    _offset: int

    @property
    def size(self) -> int:
        """The size in milliseconds."""
        return self._size

    @property
    def offset(self) -> int:
        """The offset in milliseconds."""
        return self._offset


class _Tumbling(_Sized):
    """The base of both."""

    def __init__(self, size: int, offset: int) -> None:
        """Take the size and the offset of the first window in milliseconds."""
        check_parameters(self, size > 0 and abs(offset) < size, "abs(offset) < size", f"size {size}, offset {offset}")
        self._size = size
        self._offset = offset

    @classmethod
    def of(cls, size: Any, offset: Any = None) -> Self:
        """Make an assigner; ``offset`` moves all windows, e.g. for days that start at another hour than in UTC."""
        return cls(milliseconds(size, "size"), 0 if offset is None else milliseconds(offset, "offset"))

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> Collection[TimeWindow]:
        time = self._time_of(element, timestamp, context)
        start = TimeWindow.get_window_start_with_offset(time, self._offset, self._size)
        return [TimeWindow(start, start + self._size)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self._offset})"


class TumblingEventTimeWindows(_Tumbling):
    """Windows of one size by event time.

    >>> from headrace.common import Time
    >>> windows = TumblingEventTimeWindows.of(Time.seconds(10), Time.seconds(2))
    >>> windows.assign_windows("a", 11_000, None), windows
    ([TimeWindow(start=2000, end=12000)], TumblingEventTimeWindows(10000, 2000))
    """

    _event_time = True


class TumblingProcessingTimeWindows(_Tumbling):
    """Windows of one size by the clock.

    >>> from headrace.common import Time
    >>> TumblingProcessingTimeWindows.of(Time.seconds(10)).is_event_time()
    False
    """

    _event_time = False


class _Sliding(_Sized):
    """The base of both."""

    def __init__(self, size: int, slide: int, offset: int) -> None:
        """Take the size, the slide and the offset of the first window in milliseconds."""
        valid = size > 0 and abs(offset) < slide
        seen = f"size {size}, slide {slide}, offset {offset}"
        check_parameters(self, valid, "abs(offset) < slide and size > 0", seen)
        self._size = size
        self._slide = slide
        self._offset = offset

    @property
    def slide(self) -> int:
        """The slide in milliseconds."""
        return self._slide

    @classmethod
    def of(cls, size: Any, slide: Any, offset: Any = None) -> Self:
        """Make an assigner."""
        moved = 0 if offset is None else milliseconds(offset, "offset")
        return cls(milliseconds(size, "size"), milliseconds(slide, "slide"), moved)

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> Collection[TimeWindow]:
        time = self._time_of(element, timestamp, context)
        size, slide = self._size, self._slide
        last = TimeWindow.get_window_start_with_offset(time, self._offset, slide)
        return [TimeWindow(start, start + size) for start in range(last, time - size, -slide)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self._slide}, {self._offset})"


class SlidingEventTimeWindows(_Sliding):
    """Sliding windows by event time.

    >>> from headrace.common import Time
    >>> windows = SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5))
    >>> windows.assign_windows("a", 7, None)
    [TimeWindow(start=5, end=15), TimeWindow(start=0, end=10)]
    """

    _event_time = True


class SlidingProcessingTimeWindows(_Sliding):
    """Sliding windows by the clock.

    >>> from headrace.common import Time
    >>> SlidingProcessingTimeWindows.of(Time.seconds(10), Time.seconds(5))
    SlidingProcessingTimeWindows(10000, 5000, 0)
    """

    _event_time = False
