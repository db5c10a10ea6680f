"""RateLimiterStrategy: how fast a source may read; the names follow Flink's Java class."""

from __future__ import annotations

from headrace.connectors.base.rate_limit import Rate

__all__ = ["RateLimiterStrategy"]


class RateLimiterStrategy:
    """A limit for all subtasks of a source together; each has an equal share.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> slow = env.from_sequence(1, 1000).limit_rate(RateLimiterStrategy.per_second(100))
    """

    def __init__(self, rate: Rate | None) -> None:
        """Programs call one of the methods below."""
        self.rate = rate

    @staticmethod
    def per_second(records_per_second: float) -> RateLimiterStrategy:
        """Limit the records in each second."""
        return RateLimiterStrategy(Rate(records_per_second))

    @staticmethod
    def per_checkpoint(records_per_checkpoint: int) -> RateLimiterStrategy:
        """Limit the records between two completed checkpoints; without checkpoints only so many are ever read."""
        return RateLimiterStrategy(Rate(records_per_checkpoint, per_checkpoint=True))

    @staticmethod
    def no_op() -> RateLimiterStrategy:
        """Set no limit."""
        return RateLimiterStrategy(None)
