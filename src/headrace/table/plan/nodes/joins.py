"""Nodes with two inputs, and lookups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.table.plan.nodes.base import Node
from headrace.table.plan.rex import Rex

if TYPE_CHECKING:
    from headrace.table.plan.describe import Text

_KINDS = {"INNER": "InnerJoin", "LEFT": "LeftOuterJoin", "RIGHT": "RightOuterJoin", "FULL": "FullOuterJoin"}
_KINDS |= {"SEMI": "LeftSemiJoin", "ANTI": "LeftAntiJoin"}


@dataclass(frozen=True, eq=False)
class JoinNode(Node):
    """What joins have in common: equal keys, whether null equals null per key, and the rest of the condition."""

    kind: str
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    null_safe: tuple[bool, ...]
    condition: Rex | None
    """The part of the condition that is not about equal keys, over the columns of both sides."""
    where: Rex
    """The whole condition, for the description."""

    @property
    def keys(self) -> tuple[int, ...] | None:
        """Return the keys of the left side."""
        return self.left_keys

    def pair_names(self) -> list[str]:
        """Return the names of the columns of both sides; those of the right are made unique."""
        left, right = (each.row_type.field_names() for each in self.inputs[:2])
        return left + unique(right, set(left))

    def shown_kind(self) -> str:
        """Return the kind of the join for the description."""
        return _KINDS[self.kind]

    def columns(self, text: Text) -> list[tuple[str, str]]:
        """Return the attribute with the columns."""
        return [("select", text.names(self.row_type))]


def unique(names: list[str], taken: set[str]) -> list[str]:
    """Return names that differ from `taken` and from each other."""
    found = []
    for name in names:
        candidate, number = name, 0
        while candidate in taken:
            candidate, number = f"{name}{number}", number + 1
        taken.add(candidate)
        found.append(candidate)
    return found


@dataclass(frozen=True, eq=False)
class Join(JoinNode):
    """A join of two changing tables. Unique keys of the sides are known after `changelog.infer`."""

    left_unique: tuple[int, ...] | None = None
    right_unique: tuple[int, ...] | None = None
    left_ttl: int = 0
    right_ttl: int = 0
    label = "Join"

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return kind, condition, columns and what is known of the sides."""
        return [
            ("joinType", self.shown_kind()),
            ("where", text.rex(self.where, self.pair_names())),
            *self.columns(text),
            ("leftInputSpec", self._side(self.left_unique, self.left_keys)),
            ("rightInputSpec", self._side(self.right_unique, self.right_keys)),
        ]

    @staticmethod
    def _side(unique_key: tuple[int, ...] | None, keys: tuple[int, ...]) -> str:
        if unique_key is None:
            return "NoUniqueKey"
        return "JoinKeyContainsUniqueKey" if set(unique_key) <= set(keys) else "HasUniqueKey"


@dataclass(frozen=True, eq=False)
class IntervalJoin(JoinNode):
    """left.time + lower <= right.time <= left.time + upper, in milliseconds."""

    left_time: int
    right_time: int
    lower: int
    upper: int
    event_time: bool
    label = "IntervalJoin"

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return kind, bounds and condition."""
        bounds = (
            f"isRowTime={str(self.event_time).lower()}, leftLowerBound={-self.upper}, leftUpperBound={-self.lower}, "
            f"leftTimeIndex={self.left_time}, rightTimeIndex={self.right_time}"
        )
        return [
            ("joinType", self.shown_kind()),
            ("windowBounds", bounds),
            ("where", text.rex(self.where, self.pair_names())),
            *self.columns(text),
        ]


@dataclass(frozen=True, eq=False)
class WindowJoin(JoinNode):
    """Rows of equal windows. The windows are columns (start, end) of the sides."""

    left_window: tuple[int, int]
    right_window: tuple[int, int]
    window_text: tuple[str, str]
    event_time: bool
    label = "WindowJoin"

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return windows, kind and condition."""
        return [
            ("leftWindow", self.window_text[0]),
            ("rightWindow", self.window_text[1]),
            ("joinType", self.shown_kind()),
            ("where", text.rex(self.where, self.pair_names())),
            *self.columns(text),
        ]


@dataclass(frozen=True, eq=False)
class TemporalJoin(JoinNode):
    """Each left row with the version of the right row at its time."""

    left_time: int | None
    right_time: int | None
    event_time: bool
    label = "TemporalJoin"

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return kind and condition."""
        return [
            ("joinType", self.shown_kind()),
            ("where", text.rex(self.where, self.pair_names())),
            *self.columns(text),
        ]


@dataclass(frozen=True, eq=False)
class LookupJoin(Node):
    """Each left row with the rows that an external system has for it."""

    table: str
    source: Any
    kind: str
    lookup_columns: tuple[int, ...]
    """The columns of the external table that the key consists of."""
    lookup_keys: tuple[Any, ...]
    """Per lookup column: a left column, or `("constant", value)`."""
    condition: Rex | None
    right_names: tuple[str, ...]
    label = "LookupJoin"

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return table, kind and keys."""
        names = self.input.row_type.field_names()
        pairs = [
            f"{self.right_names[column]}={key[1] if isinstance(key, tuple) else names[key]}"
            for column, key in zip(self.lookup_columns, self.lookup_keys)
        ]
        found = [("table", f"[{self.table}]"), ("joinType", _KINDS[self.kind]), ("lookup", ", ".join(pairs))]
        if self.condition is not None:
            found.append(("joinCondition", text.rex(self.condition, self.row_type.field_names())))
        return [*found, ("select", text.names(self.row_type))]
