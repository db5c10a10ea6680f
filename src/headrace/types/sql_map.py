"""SqlMap: the internal form of MAP and MULTISET values in tables."""

from __future__ import annotations

from typing import Any


class SqlMap(dict[Any, Any]):
    """A map or multiset as a value: it can be hashed, and must not be changed.

    >>> SqlMap(a=1) == {"a": 1}, hash(SqlMap(a=1, b=2)) == hash(SqlMap(b=2, a=1))
    (True, True)
    """

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        """Return a hash that does not depend on the order of entries."""
        return hash(frozenset(self.items()))
