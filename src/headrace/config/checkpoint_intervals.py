"""The values of `CheckpointConfig` that the coordinator obeys, as plain numbers. All times are milliseconds.

Decides Flink's rules between them: an interval is never shorter than the pause, and a pause allows one checkpoint at a
time only.
"""

from __future__ import annotations

from dataclasses import dataclass

from headrace.errors import ConfigurationError

__all__ = ["CheckpointSettings"]


@dataclass(frozen=True)
class CheckpointSettings:
    """When checkpoints are taken. `interval` None: never by themselves.

    >>> settings = CheckpointSettings(interval=1000, min_pause=3000, max_concurrent=2)
    >>> settings.effective_interval, settings.effective_concurrent
    (3000, 1)
    """

    interval: int | None = None
    min_pause: int = 0
    max_concurrent: int = 1
    timeout: int = 600_000
    tolerable_failures: int = 0
    retained: int = 1

    def __post_init__(self) -> None:
        """Refuse what `CheckpointConfig` would."""
        wrong = [
            name
            for name, value, least in (
                ("interval", 1 if self.interval is None else self.interval, 1),
                ("min_pause", self.min_pause, 0),
                ("max_concurrent", self.max_concurrent, 1),
                ("timeout", self.timeout, 1),
                ("tolerable_failures", self.tolerable_failures, 0),
                ("retained", self.retained, 1),
            )
            if value < least
        ]
        if wrong:
            raise ConfigurationError(f"Checkpoint setting {wrong[0]} is too small", seen=getattr(self, wrong[0]))

    @property
    def effective_interval(self) -> int | None:
        """The time between the starts of two checkpoints."""
        return None if self.interval is None else max(self.interval, self.min_pause)

    @property
    def effective_concurrent(self) -> int:
        """How many may be under way at once."""
        return 1 if self.min_pause > 0 else self.max_concurrent
