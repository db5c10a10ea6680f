"""When a part file is closed and the next one begun."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rolling:
    """By size in bytes, by age and idleness in milliseconds, or with each checkpoint.

    >>> Rolling(part_size=10).by_size(10), Rolling(part_size=10).by_size(11)
    (False, True)
    """

    part_size: int | None = None
    rollover_interval: int | None = None
    inactivity_interval: int | None = None
    on_checkpoint: bool = False

    def by_size(self, size: int) -> bool:
        """Whether a part of this size takes no more elements."""
        return self.part_size is not None and size > self.part_size

    def by_time(self, created: int, written: int, now: int) -> bool:
        """Whether a part is too old, or nothing came for too long."""
        aged = self.rollover_interval is not None and now - created >= self.rollover_interval
        return aged or (self.inactivity_interval is not None and now - written >= self.inactivity_interval)

    def by_checkpoint(self, size: int) -> bool:
        """Whether a checkpoint closes a part."""
        return self.on_checkpoint or self.by_size(size)
