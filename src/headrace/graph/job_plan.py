"""The plan of a job graph in the format of Flink's REST interface: one node per vertex, after chaining. Pure."""

from __future__ import annotations

from html import escape
from typing import Any

from headrace.graph.job_graph import JobGraph


def job_plan(graph: JobGraph, job_id: str) -> dict[str, Any]:
    """Return the plan. Node ids are those of the vertices; descriptions are HTML, like Flink's."""
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
