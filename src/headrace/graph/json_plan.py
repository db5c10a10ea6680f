"""The execution plan as Flink's JSON: one node per operator, before chaining. Pure; called by `get_execution_plan()`.

Operators come first, in the order of the program, and sinks last, as in Flink.
"""

from __future__ import annotations

import json
from typing import Any

from headrace.graph.stream_graph import StreamEdge, StreamGraph, StreamNode


def plan_as_json(graph: StreamGraph) -> str:
    """The plan as an indented text."""
    return json.dumps(plan_as_dict(graph), indent=2)


def plan_as_dict(graph: StreamGraph) -> dict[str, Any]:
    """The plan as a dict: `{"nodes": [...]}`."""
    nodes = sorted(graph.nodes.values(), key=lambda node: (node.is_sink, node.id))
    return {"nodes": [_node(graph, node) for node in nodes]}


def _node(graph: StreamGraph, node: StreamNode) -> dict[str, Any]:
    inputs = graph.in_edges(node.id)
    shown: dict[str, Any] = {
        "id": node.id,
        "type": node.name,
        "pact": "Data Sink" if node.is_sink else "Operator" if inputs else "Data Source",
        "contents": node.description,
        "parallelism": node.parallelism,
    }
    if inputs:
        shown["predecessors"] = [_predecessor(edge) for edge in inputs]
    return shown


def _predecessor(edge: StreamEdge) -> dict[str, Any]:
    # Flink writes "second" for every input, also for the only one; tools made for Flink expect what it writes.
    return {"id": edge.source, "ship_strategy": edge.partitioner.name, "side": "second"}
