"""How many records a source subtask may read in the next epoch, so that an epoch stays near its target time.

This is the back pressure: when the epoch takes long, the sources read less. Pure arithmetic over what was observed.
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
        """Takes in an epoch.

        `records` is the most that one source subtask read, `seconds` how long the epoch took, `busy` how much of that the
        tasks worked (the longest task of each level, added up): only this part grows with the records. The rest of the first
        epoch is the start of processes, and says nothing of the next ones.
        """
        others = 0.0 if self._starting else seconds - busy
        self._starting = False
        full = records >= self.limit
        if not records or (seconds <= self.target and not full):
            return  # nothing was read, or all there was and in time: nothing is known of what a full epoch takes
        spare = max(self.target - others, self.target / 10)
        wanted = records * spare / max(busy, seconds / 1000, 1e-9)
        # An epoch that took all there was and still too long says what it can bear, however high the limit was.
        low, high = min(records, self.limit) * _SHRINK, self.limit * _GROWTH
        self.limit = int(min(max(wanted, low, 1), high, self._maximum))


def critical_path(acks: list[TaskAck]) -> float:
    """How long the epoch's work took if every level waits for its longest task."""
    longest: dict[int, float] = {}
    for ack in acks:
        busy = sum(v.busy_seconds for v in ack.vertices)
        longest[ack.task[0]] = max(busy, longest.get(ack.task[0], 0.0))
    return sum(longest.values())
