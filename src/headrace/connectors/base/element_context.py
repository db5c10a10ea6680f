"""The `context` that functions in sinks are given with each element."""

from __future__ import annotations

from collections.abc import Callable


class ElementContext:
    """Times of the current element; one object serves all elements of a subtask.

    >>> context = ElementContext(lambda: 40, lambda: 99)
    >>> context.record_timestamp = 41
    >>> context.timestamp(), context.current_watermark(), context.current_processing_time()
    (41, 40, 99)
    """

    def __init__(self, watermark: Callable[[], int], now: Callable[[], int]) -> None:
        self._watermark, self._now = watermark, now
        self.record_timestamp: int | None = None

    def timestamp(self) -> int | None:
        """The record's timestamp, None without one."""
        return self.record_timestamp

    def current_watermark(self) -> int:
        """The operator's event time."""
        return self._watermark()

    def current_processing_time(self) -> int:
        """The clock, in milliseconds."""
        return self._now()
