"""CheckpointingMode: what a checkpoint guarantees."""

from __future__ import annotations

from enum import Enum

from headrace.compatibility.names import offer_pyflink_names

__all__ = ["CheckpointingMode"]
offer_pyflink_names(__name__)


class CheckpointingMode(Enum):
    """How often an element can affect state when a job fails and recovers.

    >>> CheckpointingMode.EXACTLY_ONCE.name
    'EXACTLY_ONCE'
    """

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
