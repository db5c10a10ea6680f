"""Exchanges before nodes that need the rows of a key in one place."""

from __future__ import annotations

from typing import TypeVar

from headrace.table.plan.nodes.base import Node
from headrace.table.plan.nodes.joins import JoinNode
from headrace.table.plan.nodes.simple import Exchange

AnyNode = TypeVar("AnyNode", bound=Node)


def distributed(node: AnyNode) -> AnyNode:
    """Return the node with exchanges before it, as its keys demand."""
    if node.keys is None:
        return node
    needed = [node.keys, node.right_keys] if isinstance(node, JoinNode) else [node.keys]
    inputs = [exchanged(below, columns) for below, columns in zip(node.inputs, needed)]
    return node.with_inputs(tuple(inputs))


def exchanged(node: Node, columns: tuple[int, ...]) -> Node:
    """Return the node's rows, distributed by columns."""
    if isinstance(node, Exchange):
        node = node.input
    return Exchange(node.row_type, (node,), columns)
