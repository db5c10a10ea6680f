"""ResultKind: whether a statement returned rows."""

from __future__ import annotations

__all__ = ["ResultKind"]


class ResultKind:
    """Whether a statement returned rows.

    >>> ResultKind.SUCCESS, ResultKind.SUCCESS_WITH_CONTENT
    (0, 1)
    """

    SUCCESS = 0
    """The statement succeeded; its only row is OK."""
    SUCCESS_WITH_CONTENT = 1
    """The statement succeeded and has rows."""
