"""WithinType: between which events a time limit applies."""

from __future__ import annotations

from enum import Enum

__all__ = ["WithinType"]


class WithinType(Enum):
    """Between which events `Pattern.within` measures.

    >>> WithinType.FIRST_AND_LAST.name
    'FIRST_AND_LAST'
    """

    FIRST_AND_LAST = 0
    """From the first event of the match to its last."""
    PREVIOUS_AND_CURRENT = 1
    """From the previous event to the event of the step that has the limit."""
