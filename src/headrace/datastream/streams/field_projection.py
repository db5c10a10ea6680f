"""FieldProjection: some fields of a tuple, in a given order, as a plain callable for the map operator."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

__all__ = ["FieldProjection"]


class FieldProjection:
    """Returns a tuple of the chosen fields.

    >>> FieldProjection([2, 0])(("a", "b", "c")), FieldProjection([1])(("a", "b"))
    (('c', 'a'), ('b',))
    """

    def __init__(self, indexes: Sequence[int]) -> None:
        """Choose the fields."""
        self._indexes = tuple(indexes)
        self._fields = itemgetter(*indexes)

    def __call__(self, element: Any) -> tuple[Any, ...]:
        """Return the chosen fields of ``element``."""
        fields = self._fields(element)
        return fields if len(self._indexes) > 1 else (fields,)
