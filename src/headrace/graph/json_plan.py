"""Plans as Flink's JSON: of operators before chaining, for `get_execution_plan()`, and of vertices, for REST. Pure.

Operators come first, in the order of the program, and sinks last, like in Flink. PyFlink's steps around a keyed or custom
exchange are shown as nodes, for tools made for PyFlink, although headrace does them inside the operators on both sides: it
computes the key where the record is sent, and has nothing to remove afterwards. The writer and the committer of a sink are
shown as two nodes.
"""

from __future__ import annotations

import json
from html import escape
from itertools import count
from typing import Any

from headrace.graph.job_graph import JobGraph
from headrace.graph.partitioners import Custom, KeyGroup
from headrace.graph.specs import LocalWindowAggregate, StagedSink
from headrace.graph.stream_graph import StreamEdge, StreamGraph, StreamNode
from headrace.graph.table_specs import TableSpec

TAKE_KEY = "_stream_key_by_map_operator"
TAKE_PARTITION = "_partition_custom_map_operator"
VALUES = "_keyed_stream_values_operator"


def plan_as_json(graph: StreamGraph) -> str:
    """Return the plan as indented JSON."""
    return json.dumps(plan_as_dict(graph), indent=2)


def plan_as_dict(graph: StreamGraph) -> dict[str, Any]:
    """Return the plan as a dict: `{"nodes": [...]}`."""
    plan = _Plan(graph)
    for node in graph.nodes.values():
        plan.add(node)
    return {
        "nodes": sorted(plan.nodes.values(), key=lambda shown: (shown["pact"] == "Data Sink", plan.place(shown["id"])))
    }


class _Plan:
    """The nodes shown so far, by id."""

    def __init__(self, graph: StreamGraph) -> None:
        self.nodes: dict[int, dict[str, Any]] = {}
        self._graph = graph
        used = [*graph.nodes, *(e.view for e in graph.edges if e.view is not None)]
        self._fresh = count(max(used, default=0) + 1)
        self._places: dict[int, float] = {}

    def place(self, number: int) -> float:
        """Return the sort key of a node: its id; extra steps come next to their operator."""
        return self._places.get(number, number)

    def add(self, node: StreamNode) -> None:
        """Add an operator and the steps before it."""
        edges = self._graph.in_edges(node.id)
        steps = node.spec.steps if isinstance(node.spec, StagedSink) else ()
        pact = "Data Sink" if node.is_sink and not steps else "Operator" if edges else "Data Source"
        before = [self._predecessor(node, edge) for edge in edges]
        self._show(node.id, node.name, pact, node.description, node.parallelism, before)
        last = node.id
        for step in steps[1:]:
            name = f"{node.name.removesuffix(steps[0])}{step}"
            last = self._step(name, node.parallelism, [_link(last, "FORWARD")], node.id + 0.5)

    def _predecessor(self, node: StreamNode, edge: StreamEdge) -> dict[str, Any]:
        strategy = edge.partitioner.name
        if edge.view is not None and isinstance(node.spec, LocalWindowAggregate):
            self._step_before(edge.view, edge.source, TAKE_KEY)
            return _link(edge.view, strategy)
        table = isinstance(node.spec, TableSpec)  # Flink's tables have no such steps
        if edge.view is None or table or not isinstance(edge.partitioner, (KeyGroup, Custom)):
            return _link(edge.source, strategy)
        keyed = isinstance(edge.partitioner, KeyGroup)
        self._step_before(edge.view, edge.source, TAKE_KEY if keyed else TAKE_PARTITION)
        # Only operators of a keyed stream take keys; all others take plain elements.
        plain = (edge.united or node.is_sink) if keyed else node.name != VALUES
        if not plain:
            return _link(edge.view, strategy)
        parallelism = self._graph.settings.parallelism if keyed else node.parallelism
        values = self._step(VALUES, parallelism, [_link(edge.view, strategy)], node.id - 0.5)
        return _link(values, _strategy(parallelism, node.parallelism))

    def _step(self, name: str, parallelism: int, before: list[dict[str, Any]], place: float) -> int:
        """Add a step that is not an operator of headrace. Return its id."""
        number = next(self._fresh)
        self._places[number] = place
        self._show(number, name, "Operator", name, parallelism, before)
        return number

    def _step_before(self, view: int, source: int, name: str) -> None:
        """Add the step before the exchange, once for all readers of the partitioned stream."""
        upstream = self._graph.nodes[source].parallelism
        shown = self.nodes.get(view)
        if shown is None:
            shown = self._show(view, name, "Operator", name, upstream, [])
        if all(link["id"] != source for link in shown["predecessors"]):
            shown["predecessors"].append(_link(source, _strategy(upstream, shown["parallelism"])))

    def _show(
        self, number: int, name: str, pact: str, contents: str, parallelism: int, before: list[dict[str, Any]]
    ) -> dict[str, Any]:
        shown = dict[str, Any](id=number, type=name, pact=pact, contents=contents, parallelism=parallelism)
        if pact != "Data Source":
            shown["predecessors"] = before
        self.nodes[number] = shown
        return shown


def _strategy(upstream: int, downstream: int) -> str:
    return "FORWARD" if upstream == downstream else "REBALANCE"


def _link(source: int, strategy: str) -> dict[str, Any]:
    # Flink writes "second" for every input, even for the only one, and tools made for Flink expect that.
    return {"id": source, "ship_strategy": strategy, "side": "second"}


def job_plan(graph: JobGraph, job_id: str) -> dict[str, Any]:
    """Return the plan of the REST interface: one node per vertex. Descriptions are HTML, like Flink's."""
    return {
        "jid": job_id,
        "name": graph.name,
        "type": "BATCH" if graph.settings.batch else "STREAMING",
        "nodes": [
            {
                "id": vertex.id,
                "parallelism": vertex.parallelism,
                "operator": "",
                "operator_strategy": "",
                "description": escape(vertex.name),
                "inputs": [
                    {
                        "num": number,
                        "id": edge.source,
                        "ship_strategy": edge.edge.partitioner.name,
                        "exchange": "pipelined_bounded",
                    }
                    for number, edge in enumerate(graph.in_edges(vertex.id))
                ],
                "optimizer_properties": {},
            }
            for vertex in graph.vertices.values()
        ],
    }
