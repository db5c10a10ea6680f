"""ChangelogMode: which kinds of changes a table stream has. Connectors and the planner agree on it."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.types.row import RowKind

__all__ = ["ChangelogMode"]


@dataclass(frozen=True)
class ChangelogMode:
    """The kinds of changes that a stream contains.

    >>> ChangelogMode.upsert()
    ChangelogMode(+I, +U, -D)
    >>> ChangelogMode.insert_only().is_insert_only, ChangelogMode.all().contains(RowKind.UPDATE_BEFORE)
    (True, True)
    """

    kinds: frozenset[RowKind]

    @staticmethod
    def insert_only() -> ChangelogMode:
        """Return the mode of streams to which rows are only added."""
        return _INSERT_ONLY

    @staticmethod
    def upsert() -> ChangelogMode:
        """Return the mode of streams whose updates only have the new row."""
        return _UPSERT

    @staticmethod
    def all() -> ChangelogMode:
        """Return the mode of streams whose updates have the old and the new row."""
        return _ALL

    def contains(self, kind: RowKind) -> bool:
        """Return whether the stream may have changes of a kind."""
        return kind in self.kinds

    @property
    def is_insert_only(self) -> bool:
        """Whether rows are only added."""
        return self.kinds == _INSERT_ONLY.kinds

    def __repr__(self) -> str:
        """Return the kinds."""
        return f"ChangelogMode({', '.join(str(kind) for kind in RowKind if kind in self.kinds)})"


_INSERT_ONLY = ChangelogMode(frozenset({RowKind.INSERT}))
_UPSERT = ChangelogMode(frozenset({RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.DELETE}))
_ALL = ChangelogMode(frozenset(RowKind))
