"""TimerService: time and timers, as process functions see them. Implemented by `headrace.operators`."""

from __future__ import annotations

from abc import ABC, abstractmethod

__all__ = ["TimerService"]


class TimerService(ABC):
    """Tells the time and keeps the timers of the current key.

    A timer is there once per key and time, however often it is registered. Event-time timers fire when the watermark
    reaches them, processing-time timers when the clock does; both survive failures.

    >>> sorted(TimerService.__abstractmethods__)  # doctest: +NORMALIZE_WHITESPACE
    ['current_processing_time', 'current_watermark', 'delete_event_time_timer', 'delete_processing_time_timer',
     'register_event_time_timer', 'register_processing_time_timer']
    """

    @abstractmethod
    def current_processing_time(self) -> int:
        """Return the processing time in milliseconds since 1970-01-01 UTC."""

    @abstractmethod
    def current_watermark(self) -> int:
        """Return the current watermark; no element with a smaller or equal event time is expected any more."""

    @abstractmethod
    def register_processing_time_timer(self, timestamp: int) -> None:
        """Have `on_timer` called for the current key when processing time reaches ``timestamp``."""

    @abstractmethod
    def register_event_time_timer(self, timestamp: int) -> None:
        """Have `on_timer` called for the current key when the watermark reaches ``timestamp``."""

    @abstractmethod
    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Forget the processing-time timer of the current key for ``timestamp``; nothing happens if there is none."""

    @abstractmethod
    def delete_event_time_timer(self, timestamp: int) -> None:
        """Forget the event-time timer of the current key for ``timestamp``; nothing happens if there is none."""
