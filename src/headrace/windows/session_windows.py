"""Session windows: an element opens a window as long as the gap, and windows that overlap or touch are merged."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.errors import InvalidProgramError
from headrace.windows.assigner import MergingWindowAssigner, TimeAssigner, check_parameters, milliseconds
from headrace.windows.window_types import TimeWindow

if TYPE_CHECKING:
    from typing_extensions import Self


class _Sessions(TimeAssigner, MergingWindowAssigner[Any, TimeWindow]):
    """The base of all sessions."""

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> Collection[TimeWindow]:
        gap = self.gap_of(element)
        if self._event_time:
            time = MIN_TIMESTAMP if timestamp is None else timestamp
        else:
            time = context.get_current_processing_time()
        return [TimeWindow(time, time + gap)]

    def gap_of(self, element: Any) -> int:
        """Return the gap after an element."""
        raise NotImplementedError

    def merge_windows(self, windows: Iterable[TimeWindow], callback: Any) -> None:
        TimeWindow.merge_windows(windows, callback)


class _FixedGap(_Sessions):
    """Sessions with one gap for all."""

    def __init__(self, session_gap: int) -> None:
        """Take the gap in milliseconds."""
        check_parameters(self, session_gap > 0, "0 < size", f"a gap of {session_gap}")
        self._session_gap = session_gap

    @classmethod
    def with_gap(cls, size: Any) -> Self:
        """Make an assigner with a gap."""
        return cls(milliseconds(size, "gap"))

    @property
    def gap(self) -> int:
        """The gap in milliseconds."""
        return self._session_gap

    def gap_of(self, element: Any) -> int:
        return self._session_gap

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._session_gap})"


class _DynamicGap(_Sessions):
    """Sessions whose gap depends on the element."""

    def __init__(self, session_window_time_gap_extractor: Any) -> None:
        """Take the extractor, or a callable that returns the gap of an element in milliseconds."""
        self._extractor = session_window_time_gap_extractor

    @classmethod
    def with_dynamic_gap(cls, extractor: Any) -> Self:
        """Make an assigner with an extractor of gaps."""
        return cls(extractor)

    def gap_of(self, element: Any) -> int:
        extract = getattr(self._extractor, "extract", self._extractor)
        gap = extract(element)
        if gap <= 0:
            raise InvalidProgramError(
                "Dynamic session time gap must satisfy 0 < gap", seen=f"{gap} for {element!r:.200}"
            )
        return gap  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self._extractor).__name__})"


class EventTimeSessionWindows(_FixedGap):
    """Sessions by event time.

    >>> from headrace.common import Time
    >>> EventTimeSessionWindows.with_gap(Time.seconds(3)).assign_windows("a", 1000, None)
    [TimeWindow(start=1000, end=4000)]
    """

    _event_time = True

    @staticmethod
    def with_dynamic_gap(extractor: Any) -> DynamicEventTimeSessionWindows:
        """Make an assigner with an extractor of gaps."""
        return DynamicEventTimeSessionWindows(extractor)


class ProcessingTimeSessionWindows(_FixedGap):
    """Sessions by the clock.

    >>> from headrace.common import Time
    >>> ProcessingTimeSessionWindows.with_gap(Time.seconds(3))
    ProcessingTimeSessionWindows(3000)
    """

    _event_time = False

    @staticmethod
    def with_dynamic_gap(extractor: Any) -> DynamicProcessingTimeSessionWindows:
        """Make an assigner with an extractor of gaps."""
        return DynamicProcessingTimeSessionWindows(extractor)


class DynamicEventTimeSessionWindows(_DynamicGap):
    """Sessions by event time whose gap depends on the element.

    >>> DynamicEventTimeSessionWindows.with_dynamic_gap(len).assign_windows("abc", 10, None)
    [TimeWindow(start=10, end=13)]
    """

    _event_time = True


class DynamicProcessingTimeSessionWindows(_DynamicGap):
    """Sessions by the clock whose gap depends on the element.

    >>> DynamicProcessingTimeSessionWindows.with_dynamic_gap(len).is_event_time()
    False
    """

    _event_time = False
