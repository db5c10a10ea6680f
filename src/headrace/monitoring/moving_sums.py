"""Sums and rates over the last 5 to 10 seconds. Pure; the caller says how much time has passed."""

from __future__ import annotations

BUCKET_SECONDS = 5.0


class MovingSums:
    """Keep two buckets, one that fills and one that is full: sums over the last 5 to 10 seconds at almost no cost.

    >>> busy = MovingSums()
    >>> for _ in range(20):
    ...     busy.add(1.0, busy=0.5)
    >>> busy.per_second("busy"), busy.seconds
    (0.5, 10.0)
    """

    def __init__(self) -> None:
        self._filling: dict[str, float] = {}
        self._full: dict[str, float] = {}
        self._filling_seconds = 0.0
        self._full_seconds = 0.0

    def add(self, elapsed: float, **amounts: float) -> None:
        """Add what was counted in the `elapsed` seconds that have just passed."""
        if self._filling_seconds >= BUCKET_SECONDS:
            self._full, self._full_seconds = self._filling, self._filling_seconds
            self._filling, self._filling_seconds = {}, 0.0
        self._filling_seconds += elapsed
        filling = self._filling
        for name, amount in amounts.items():
            filling[name] = filling.get(name, 0.0) + amount

    @property
    def seconds(self) -> float:
        """The time that the sums cover."""
        return self._filling_seconds + self._full_seconds

    def total(self, name: str) -> float:
        """Return what was counted in that time."""
        return self._filling.get(name, 0.0) + self._full.get(name, 0.0)

    def per_second(self, name: str) -> float:
        """Return the same per second; 0 before anything was counted."""
        return self.total(name) / self.seconds if self.seconds else 0.0
