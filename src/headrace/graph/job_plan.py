"""The plan of a job graph as Flink's REST interface shows it: a node per vertex, after chaining. Pure."""

from __future__ import annotations

from html import escape
from typing import Any

from headrace.graph.job_graph import JobGraph

__all__ = ["job_plan"]


def job_plan(graph: JobGraph, job_id: str) -> dict[str, Any]:
    """The plan; ids of nodes are those of the vertices. Descriptions are HTML, as Flink's are."""
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
