"""How many records a source subtask may read in the next epoch, so that an epoch stays near its target time.

This is the back pressure: when the epoch takes long, the sources read less. Pure arithmetic over what was observed.
"""

from __future__ import annotations

_GROWTH = 10.0
_SHRINK = 0.2


class RateController:
    """Steers the records per epoch and source subtask towards the target time.

    >>> rate = RateController(target=1.0, first=1000, maximum=10**6)
    >>> rate.observe(records=1000, seconds=0.2)
    >>> rate.limit > 1000
    True
    """

    def __init__(self, target: float, first: int, maximum: int) -> None:
        self.limit = min(first, maximum)
        self.target = target
        self._maximum = maximum
        self._overhead: float | None = None

    def observe(self, records: int, seconds: float) -> None:
        """Takes in the most records that one source subtask read in an epoch, and how long the epoch took."""
        self._overhead = seconds if self._overhead is None else min(seconds, self._overhead * 1.05)
        full = records >= self.limit
        if seconds <= self.target and not full:
            return
        spare = max(self.target - self._overhead, self.target / 10)
        work = max(seconds - self._overhead, seconds / 20)
        wanted = max(records, 1) * spare / work
        low, high = self.limit * _SHRINK, self.limit * _GROWTH
        self.limit = int(min(max(wanted, low, 1), high, self._maximum))
