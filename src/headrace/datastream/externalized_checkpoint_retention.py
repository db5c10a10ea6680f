"""ExternalizedCheckpointRetention: whether checkpoints are kept after the job."""

from __future__ import annotations

from enum import Enum

from headrace.compatibility.names import offer_pyflink_names

__all__ = ["ExternalizedCheckpointRetention"]
offer_pyflink_names(__name__)


class ExternalizedCheckpointRetention(Enum):
    """What happens to the checkpoints of a cancelled job; the first two keep those of a failed job.

    >>> ExternalizedCheckpointRetention(1).name
    'RETAIN_ON_CANCELLATION'
    """

    DELETE_ON_CANCELLATION = 0
    RETAIN_ON_CANCELLATION = 1
    NO_EXTERNALIZED_CHECKPOINTS = 2
