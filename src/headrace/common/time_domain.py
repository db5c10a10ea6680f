"""TimeDomain: which clock a timer follows."""

from __future__ import annotations

from enum import Enum


class TimeDomain(Enum):
    """The clock that made a timer fire.

    >>> TimeDomain.EVENT_TIME.name
    'EVENT_TIME'
    """

    EVENT_TIME = 0
    PROCESSING_TIME = 1
