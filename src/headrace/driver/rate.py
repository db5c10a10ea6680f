"""Decides how many records a source subtask may read in the next epoch, so that epochs stay near their target time.

This is the back pressure: when epochs take long, sources read less. Pure arithmetic over observations.
"""

from __future__ import annotations

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
