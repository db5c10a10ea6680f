"""RollingPolicy: when a part file is closed and the next one begins."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.errors import InvalidProgramError


class RollingPolicy:
    """When a part file is closed and the next one begins.

    >>> RollingPolicy.default_rolling_policy(part_size=1024)
    DefaultRollingPolicy(part_size=1024, rollover_interval=60000, inactivity_interval=60000)
    """

    @staticmethod
    def default_rolling_policy(
        part_size: int = 128 * 1024 * 1024, rollover_interval: int = 60_000, inactivity_interval: int = 60_000
    ) -> DefaultRollingPolicy:
        """Return the policy by size in bytes, and by age and idleness in milliseconds."""
        for value in (part_size, rollover_interval, inactivity_interval):
            if not isinstance(value, int) or value <= 0:
                raise InvalidProgramError("Sizes and times of a rolling policy are above zero", seen=value)
        return DefaultRollingPolicy(part_size, rollover_interval, inactivity_interval)

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        """Return the policy that begins a new file with each checkpoint."""
        return OnCheckpointRollingPolicy()

    @property
    def size_limit(self) -> int | None:
        """The size above which a part takes no more elements."""
        return None

    def by_size(self, size: int) -> bool:
        """Say whether a part of this size takes no more elements."""
        return self.size_limit is not None and size > self.size_limit

    def by_time(self, created: int, written: int, now: int) -> bool:
        """Say whether a part is too old, or idle for too long."""
        return False

    def by_checkpoint(self, size: int) -> bool:
        """Say whether a checkpoint closes a part."""
        return self.by_size(size)


@dataclass(frozen=True)
class DefaultRollingPolicy(RollingPolicy):
    """By size, age and idleness.

    >>> policy = RollingPolicy.default_rolling_policy(part_size=10)
    >>> policy.by_size(10), policy.by_size(11)
    (False, True)
    """

    part_size: int
    rollover_interval: int
    inactivity_interval: int

    @property
    def size_limit(self) -> int:
        return self.part_size

    def by_time(self, created: int, written: int, now: int) -> bool:
        return now - created >= self.rollover_interval or now - written >= self.inactivity_interval


@dataclass(frozen=True)
class OnCheckpointRollingPolicy(RollingPolicy):
    """With each checkpoint.

    >>> RollingPolicy.on_checkpoint_rolling_policy().by_checkpoint(0)
    True
    """

    def by_checkpoint(self, size: int) -> bool:
        return True
