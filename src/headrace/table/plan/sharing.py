"""Equal parts of plans become the same node, so that they run once: views that are used twice, sinks of one set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from headrace.table.plan.nodes import ends, simple
from headrace.table.plan.nodes.base import Node
from headrace.table.plan.relations import OverWindow
from headrace.table.plan.rex import AggregateCall, Call, Rex, walk
from headrace.types.logical_types import RowType


def shared(plans: Sequence[Node]) -> list[Node]:
    """Return plans in which equal nodes are the same object."""
    return _Sharing().plans(plans)


class _Sharing:
    def __init__(self) -> None:
        self._by_digest: dict[Any, Node] = {}
        self._done: dict[int, tuple[Node, Node]] = {}

    def plans(self, plans: Sequence[Node]) -> list[Node]:
        return [self._visit(each) for each in plans]

    def _visit(self, node: Node) -> Node:
        known = self._done.get(id(node))
        if known is None:
            current = node.with_inputs(tuple(self._visit(each) for each in node.inputs))
            digest = _digest(current)
            if digest is not None:
                try:
                    current = self._by_digest.setdefault(digest, current)
                except TypeError:  # a constant that cannot be hashed
                    pass
            known = self._done[id(node)] = (node, current)
        return known[1]


def _digest(node: Node) -> Any:
    """Return what makes a node equal to another one; None if it is equal to none."""
    if isinstance(node, ends.Sink):
        return None
    values = []
    for field in fields(node):
        value = getattr(node, field.name)
        if field.name == "inputs":
            value = tuple(id(each) for each in value)
        elif field.name == "source" and isinstance(node, simple.TableScan):
            continue  # made for this plan; the name, the columns and the hints say what it is
        if not _deterministic(value):
            return None
        values.append(_nameless(value))
    return (type(node), *values)


def _nameless(value: Any) -> Any:
    """Return what matters of a value: names of columns do not, because everything refers to columns by number."""
    match value:
        case RowType():
            return tuple(value.field_types())
        case AggregateCall():
            return replace(value, name="")
        case OverWindow():
            return replace(value, calls=_nameless(value.calls))
        case Node():  # the final form of a partial aggregation
            return _digest(value)
        case tuple():
            return tuple(map(_nameless, value))
    return value


def _deterministic(value: Any) -> bool:
    if isinstance(value, Rex):
        return not any(isinstance(part, Call) and not part.function.deterministic for part in walk(value))
    return (
        all(map(_deterministic, value))
        if isinstance(value, tuple) and value and isinstance(value[0], (Rex, tuple))
        else True
    )
