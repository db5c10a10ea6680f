"""ExecutionMode, for programs of Flink 1.15 to 1.20. No effect: headrace uses Spark's shuffle in both modes."""

from enum import Enum

from headrace.compatibility.names import offer_pyflink_names

__all__ = ["ExecutionMode"]
offer_pyflink_names(__name__)


class ExecutionMode(Enum):
    """Whether data is exchanged while it is produced, or when all of it is available.

    >>> ExecutionMode.PIPELINED.value
    0
    """

    PIPELINED = 0
    PIPELINED_FORCED = 1
    BATCH = 2
    BATCH_FORCED = 3
