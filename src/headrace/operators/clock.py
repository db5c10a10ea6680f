"""The processing-time clock of a subtask. It is injected, so that tests control the time."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Returns the processing time in milliseconds since the epoch."""

    def now(self) -> int: ...


class SystemClock:
    """The machine's wall clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000


class ManualClock:
    """A clock that changes only when it is set.

    >>> clock = ManualClock(5)
    >>> clock.set(10)
    >>> clock.now()
    10
    """

    def __init__(self, start: int = 0) -> None:
        self._now = start

    def now(self) -> int:
        return self._now

    def set(self, timestamp: int) -> None:
        self._now = timestamp
