"""How a batch program exchanges data; kept for programs of Flink 1.15 to 1.20.

Decides nothing: headrace exchanges data by Spark's shuffle in both modes. Set on ``ExecutionConfig``.
"""

from enum import Enum

from headrace.compatibility.names import offer_pyflink_names

__all__ = ["ExecutionMode"]


class ExecutionMode(Enum):
    """Whether data is exchanged while it is made, or when all of it is there.

    >>> ExecutionMode.PIPELINED.value
    0
    """

    PIPELINED = 0
    PIPELINED_FORCED = 1
    BATCH = 2
    BATCH_FORCED = 3


offer_pyflink_names(__name__)
