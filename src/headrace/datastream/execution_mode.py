"""RuntimeExecutionMode: whether a program runs as a stream or as a batch."""

from __future__ import annotations

from enum import Enum

from headrace.compatibility.names import offer_pyflink_names

__all__ = ["RuntimeExecutionMode"]
offer_pyflink_names(__name__)


class RuntimeExecutionMode(Enum):
    """STREAMING emits incremental results, BATCH only final ones; AUTOMATIC is BATCH if all sources are bounded.

    >>> RuntimeExecutionMode["BATCH"]
    <RuntimeExecutionMode.BATCH: 1>
    """

    STREAMING = 0
    BATCH = 1
    AUTOMATIC = 2
