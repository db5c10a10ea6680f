"""TimeCharacteristic: the notion of time in programs for Flink 1.11 and earlier."""

from __future__ import annotations

from enum import Enum

from headrace.compatibility.names import offer_pyflink_names

__all__ = ["TimeCharacteristic"]
offer_pyflink_names(__name__)


class TimeCharacteristic(Enum):
    """The notion of time of a whole program; today the watermark strategy of each stream decides.

    >>> TimeCharacteristic.EventTime.name
    'EventTime'
    """

    ProcessingTime = 0
    IngestionTime = 1
    EventTime = 2
