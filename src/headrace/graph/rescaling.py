"""Change the number of subtasks, or of key groups, of a job graph. Pure.

Chains stay the same. Operators that cannot run in parallel keep their parallelism, and so do their forward neighbors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from headrace.errors import ConfigurationError
from headrace.graph.job_graph import JobGraph, JobVertex
from headrace.graph.partitioners import Forward


def rescaled(graph: JobGraph, parallelism: int) -> JobGraph:
    """Return the graph with another parallelism, wherever possible."""
    if isinstance(parallelism, bool) or not isinstance(parallelism, int) or parallelism < 1:
        raise ConfigurationError("The parallelism must be a positive integer", seen=parallelism)
    fixed = {v.id for v in graph.vertices.values() if _is_fixed(v)}
    tied = [e for e in graph.edges if isinstance(e.edge.partitioner, Forward)]
    growing = True
    while growing:
        more = {e.target for e in tied if e.source in fixed} | {e.source for e in tied if e.target in fixed}
        growing = not more <= fixed
        fixed |= more
    vertices = {}
    for vertex in graph.vertices.values():
        if vertex.id not in fixed and parallelism > vertex.max_parallelism:
            raise ConfigurationError(
                f"{vertex.name!r} cannot have more subtasks than key groups",
                seen=parallelism,
                expected=f"at most {vertex.max_parallelism}",
                remedy="set a higher maximum parallelism before the first start of the job",
            )
        vertices[vertex.id] = vertex if vertex.id in fixed else replace(vertex, parallelism=parallelism)
    return replace(graph, vertices=vertices)


def with_key_groups(graph: JobGraph, known: Mapping[str, int]) -> JobGraph:
    """Return the graph with the numbers of key groups of its saved state, unless the program sets them.

    `known` maps operator ids to numbers of key groups.
    """
    vertices = {}
    for vertex in graph.vertices.values():
        saved = {known[n.operator_id] for n in vertex.nodes if n.operator_id in known}
        free = all(n.max_parallelism is None for n in vertex.nodes)
        if free and len(saved) == 1 and vertex.parallelism <= min(saved):
            vertex = replace(vertex, max_parallelism=saved.pop())
        vertices[vertex.id] = vertex
    return replace(graph, vertices=vertices)


def _is_fixed(vertex: JobVertex) -> bool:
    return any(node.max_parallelism == 1 for node in vertex.nodes)
