"""The processing-time clock of a subtask; injected, so that tests decide what time it is."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Gives the processing time in milliseconds since the epoch."""

    def now(self) -> int:
        """The current processing time."""
        ...


class SystemClock:
    """The machine's wall clock."""

    def now(self) -> int:
        """Wall-clock milliseconds."""
        return time.time_ns() // 1_000_000


class ManualClock:
    """A clock that stands still until it is set.

    >>> clock = ManualClock(5)
    >>> clock.set(10)
    >>> clock.now()
    10
    """

    def __init__(self, start: int = 0) -> None:
        self._now = start

    def now(self) -> int:
        """The time that was set last."""
        return self._now

    def set(self, timestamp: int) -> None:
        """Moves the clock."""
        self._now = timestamp
