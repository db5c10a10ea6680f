"""TimerService: time and timers of process functions. Implemented by `headrace.operators`."""

from __future__ import annotations

from abc import ABC, abstractmethod

__all__ = ["TimerService"]


class TimerService(ABC):
    """Provides the time and the timers of the current key.

    There is at most one timer per key and timestamp, even if it is registered several times. Event-time timers fire when
    the watermark reaches them, processing-time timers when the clock does. Both survive failures.

    >>> sorted(TimerService.__abstractmethods__)  # doctest: +NORMALIZE_WHITESPACE
    ['current_processing_time', 'current_watermark', 'delete_event_time_timer', 'delete_processing_time_timer',
     'register_event_time_timer', 'register_processing_time_timer']
    """

    @abstractmethod
    def current_processing_time(self) -> int:
        """Return the processing time in milliseconds since 1970-01-01 UTC."""

    @abstractmethod
    def current_watermark(self) -> int:
        """Return the current watermark; no more elements with a smaller or equal event time are expected."""

    @abstractmethod
    def register_processing_time_timer(self, timestamp: int) -> None:
        """Register a timer that fires when processing time reaches ``timestamp``, for the current key."""

    @abstractmethod
    def register_event_time_timer(self, timestamp: int) -> None:
        """Register a timer that fires when the watermark reaches ``timestamp``, for the current key."""

    @abstractmethod
    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Delete the processing-time timer of the current key for ``timestamp``, if there is one."""

    @abstractmethod
    def delete_event_time_timer(self, timestamp: int) -> None:
        """Delete the event-time timer of the current key for ``timestamp``, if there is one."""
