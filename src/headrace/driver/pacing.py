"""Decides how much an epoch reads, and how long the loop pauses when there is nothing to read. Measures the epochs for that.

Reading less when epochs take long is the back pressure.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from headrace.config.runtime_settings import RuntimeSettings
from headrace.worker.messages import TaskAck

_GROWTH = 100.0
_SHRINK = 0.2


class RateController:
    """Steers the records per epoch and source subtask towards the target time.

    >>> rate = RateController(target=1.0, first=1000, maximum=10**6)
    >>> rate.observe(records=1000, seconds=3.0, busy=0.2)
    >>> rate.limit
    5000
    >>> rate.observe(records=5000, seconds=0.6, busy=0.4)
    >>> rate.limit
    10000
    """

    def __init__(self, target: float, first: int, maximum: int) -> None:
        self.limit = min(first, maximum)
        self.target = target
        self._maximum = maximum
        self._starting = True

    def observe(self, records: int, seconds: float, busy: float) -> None:
        """Adapt to an epoch that has ended.

        `records` is the most that one source subtask has read, `seconds` how long the epoch took, `busy` how long its tasks
        worked (the longest task of each level, added up): only this part grows with the records. The rest of the first
        epoch is the start of processes and does not predict later epochs.
        """
        others = 0.0 if self._starting else seconds - busy
        self._starting = False
        full = records >= self.limit
        if not records or (seconds <= self.target and not full):
            return  # nothing was read, or everything in time: that does not tell how long a full epoch takes
        spare = max(self.target - others, self.target / 10)
        wanted = records * spare / max(busy, seconds / 1000, 1e-9)
        # An epoch that read everything and still took too long shows how much is possible, whatever the limit was.
        low, high = min(records, self.limit) * _SHRINK, self.limit * _GROWTH
        self.limit = int(min(max(wanted, low, 1), high, self._maximum))


def critical_path(acks: list[TaskAck]) -> float:
    """Return how long the epoch's work took if every level waits for its longest task."""
    longest: dict[int, float] = {}
    for ack in acks:
        busy = sum(v.busy_seconds for v in ack.vertices)
        longest[ack.task[0]] = max(busy, longest.get(ack.task[0], 0.0))
    return sum(longest.values())


_SHORTEST_EPOCH = 0.1
"""Seconds. An epoch aims at the interval of checkpoints, but below this it would hold hardly a record."""
_PATIENCE, _MOST_PATIENCE = 1.1, 4.0
"""By how much longer each epoch without records waits for the next one, and up to how many times as long."""


@dataclass
class EpochTimes:
    """When the steps of an epoch ended, on the monotonic clock."""

    began: float
    ran: float = 0.0
    output_done: float = 0.0

    @property
    def seconds(self) -> float:
        """From the order to the last acknowledgement."""
        return self.ran - self.began


class Pacing:
    """The pace of one job."""

    def __init__(
        self, options: RuntimeSettings, bounded: bool, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        target = options.bounded_epoch_target if bounded else options.epoch_target
        interval = options.durability.settings.effective_interval
        if interval is not None:
            target = min(target, max(interval / 1000, _SHORTEST_EPOCH))
        self._rate = RateController(target, options.first_records, options.max_records)
        self._idle_poll = options.idle_poll
        self._idle = 0
        self._monotonic = monotonic
        self.times = EpochTimes(monotonic())
        self.began_before = self.times.began
        """When the epoch before began."""

    @property
    def limit(self) -> int:
        """Records that a source subtask may read in an epoch."""
        return self._rate.limit

    @property
    def target(self) -> float:
        """Seconds that an epoch should take."""
        return self._rate.target

    def begin_epoch(self) -> None:
        """Start the clock of an epoch."""
        self.began_before = self.times.began
        self.times = EpochTimes(self._monotonic())

    def end_epoch(self) -> None:
        """All tasks have acknowledged it."""
        self.times.ran = self._monotonic()

    def end_output(self) -> None:
        """Its output has been handed out."""
        self.times.output_done = self._monotonic()

    def observe(self, read: list[int], acks: list[TaskAck]) -> None:
        """Adapt the rate to the epoch that has ended. `read`: the records that each source subtask has read."""
        self._rate.observe(max(read, default=0), self.times.seconds, critical_path(acks))
        self._idle = 0 if sum(read) else self._idle + 1

    def pause(self, until_timer: float | None) -> float | None:
        """Return the seconds to wait, None if there was something to read.

        The longer nothing has come, the longer the wait, but not beyond the next timer.
        """
        if not self._idle:
            return None
        wait = self._idle_poll * min(_MOST_PATIENCE, _PATIENCE**self._idle)
        return wait if until_timer is None else min(wait, max(0.0, until_timer))
