"""What every physical node has: columns, inputs, the changes that it makes, and a description for plans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from headrace.types.logical_types import RowType

if TYPE_CHECKING:
    from typing_extensions import Self

    from headrace.table.plan.describe import Text

INSERT_ONLY = frozenset("I")
ALL_CHANGES = frozenset("IUD")
"""Sets of kinds of changes: insert (I), update (U), delete (D)."""


class UpdateKind(Enum):
    """How updates are sent: not at all, as the new row only, or as the old and the new row."""

    NONE = ()
    ONLY_AFTER = ("UA",)
    BEFORE_AND_AFTER = ("UB", "UA")


@dataclass(frozen=True, eq=False)
class Node:
    """A step of a physical plan."""

    row_type: RowType
    inputs: tuple[Node, ...]
    changes: frozenset[str] = field(default=INSERT_ONLY, kw_only=True)
    """The kinds of changes that the node makes; known after `changelog.infer`."""
    update: UpdateKind = field(default=UpdateKind.NONE, kw_only=True)
    label: ClassVar[str] = "Node"

    @property
    def input(self) -> Node:
        """Return the first input."""
        return self.inputs[0]

    @property
    def insert_only(self) -> bool:
        """Return whether the node only adds rows; its rows then have no kinds."""
        return self.changes == INSERT_ONLY

    @property
    def update_before(self) -> bool:
        """Return whether the node sends the old rows of updates."""
        return self.update is UpdateKind.BEFORE_AND_AFTER

    @property
    def changelog(self) -> tuple[str, ...]:
        """Return the kinds of rows as EXPLAIN shows them: I, UB, UA and D."""
        updates = (self.update.value or UpdateKind.BEFORE_AND_AFTER.value) if "U" in self.changes else ()
        return ("I",) * ("I" in self.changes) + updates + ("D",) * ("D" in self.changes)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Self:
        """Return the node over other inputs; the node itself if they are the same."""
        return self if all(new is old for new, old in zip(inputs, self.inputs)) else replace(self, inputs=inputs)

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return the attributes that describe the node."""
        del text
        return []

    @property
    def keys(self) -> tuple[int, ...] | None:
        """Return the columns that the (first) input must be distributed by; None if any distribution will do."""
        return None


def walk(node: Node) -> Iterator[Node]:
    """Iterate over a plan, inputs before the nodes that read them, each node once."""
    seen: set[int] = set()

    def visit(each: Node) -> Iterator[Node]:
        if id(each) not in seen:
            seen.add(id(each))
            for below in each.inputs:
                yield from visit(below)
            yield each

    yield from visit(node)
