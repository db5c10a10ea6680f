"""Which columns only grow or only shrink while their rows are updated: counts, greatest values and the like.

Top N over such a column, in the order in which rows can only move up, needs to keep fewer rows. MAX of a column that grows
and MIN of one that shrinks need not take back old values.
"""

from __future__ import annotations

from collections.abc import Sequence

from headrace.table.plan.nodes import aggregates, ranks, simple
from headrace.table.plan.nodes.base import Node
from headrace.table.plan.rex import AggregateCall, Call, InputRef, SortKey

GROWS, SHRINKS, CONSTANT = "grows", "shrinks", "constant"


def moves_up(node: Node, key: SortKey) -> bool:
    """Return whether updates of a column can only move its row towards the front of an order."""
    found = direction(node, key.index)
    return found in (CONSTANT, GROWS if key.descending else SHRINKS)


def never_goes_back(below: Node, groups: Sequence[int], call: AggregateCall) -> bool:
    """Return whether an aggregate of updated rows may ignore their old values: each new value is at least as extreme.

    Rows must not be deleted, nor move to another group, nor be filtered: a filter may drop the new row and keep the old one.
    """
    if call.function.name not in ("MAX", "MIN") or call.filter is not None or "D" in below.changes or _filters(below):
        return False
    if any(direction(below, column) != CONSTANT for column in groups):
        return False
    return direction(below, call.arguments[0]) in (CONSTANT, GROWS if call.function.name == "MAX" else SHRINKS)


def _filters(node: Node) -> bool:
    """Return whether updates pass a condition on their way to a node."""
    passing = (simple.Exchange, simple.Watermarks, simple.DropUpdateBefore, simple.Calc, ranks.Rank)
    while not node.insert_only and isinstance(node, passing):
        if isinstance(node, ranks.Rank) or (isinstance(node, simple.Calc) and node.condition is not None):
            return True
        node = node.input
    return False


def direction(node: Node, column: int) -> str | None:
    """Return how a column changes when its row is updated; None if that is not known."""
    match node:
        case simple.Exchange() | simple.Watermarks() | simple.DropUpdateBefore() | ranks.Rank():
            return direction(node.input, column) if column < len(node.input.row_type) else None
        case simple.Calc(expressions=expressions):
            rex = expressions[column]
            if isinstance(rex, InputRef):
                return direction(node.input, rex.index)
            if isinstance(rex, Call) and rex.function.name == "CAST" and isinstance(rex.arguments[0], InputRef):
                return direction(node.input, rex.arguments[0].index)
            return None
        case aggregates.GroupAggregate(groups=groups, calls=calls):
            if column < len(groups):
                return CONSTANT
            if not node.input.insert_only:
                return None
            name = calls[column - len(groups)].function.name
            return {"COUNT": GROWS, "MAX": GROWS, "MIN": SHRINKS}.get(name)
    return CONSTANT if node.insert_only else None
