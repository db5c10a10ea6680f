"""JobGraph: chains of operators as vertices, and the remaining edges between them.

Decides what is chained, and each vertex's name, id, parallelism and number of key groups. Read by `epoch_plan`, the runtime
and the JSON plan. `rescaled` changes the number of subtasks of a graph. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from headrace.errors import ConfigurationError, InvalidProgramError
from headrace.graph.partitioners import Forward
from headrace.graph.stream_graph import GraphSettings, StreamEdge, StreamGraph, StreamNode
from headrace.graph.transformations import ChainingStrategy


@dataclass(frozen=True)
class JobEdge:
    """An exchange (or an unchained forward edge) between two vertices. `index` is unique within the job."""

    index: int
    source: str
    source_node: int
    target: str
    edge: StreamEdge


@dataclass(frozen=True)
class JobVertex:
    """A chain of `nodes` in topological order. The first one is the head, which receives the vertex's input."""

    id: str
    name: str
    nodes: tuple[StreamNode, ...]
    chained_edges: tuple[StreamEdge, ...]
    parallelism: int
    max_parallelism: int

    @property
    def head(self) -> StreamNode:
        """Return the operator that receives the input of the vertex."""
        return self.nodes[0]


@dataclass(frozen=True)
class JobGraph:
    """Vertices in topological order (by id of their head) and the edges between them."""

    name: str
    vertices: dict[str, JobVertex]
    edges: tuple[JobEdge, ...]
    settings: GraphSettings

    def in_edges(self, vertex: str) -> list[JobEdge]:
        """Return the edges into `vertex`, first input first."""
        return [e for e in self.edges if e.target == vertex]

    def out_edges(self, vertex: str) -> list[JobEdge]:
        return [e for e in self.edges if e.source == vertex]


def default_max_parallelism(parallelism: int) -> int:
    """Return Flink's number of key groups for an operator without a maximum parallelism.

    >>> default_max_parallelism(2), default_max_parallelism(200)
    (128, 512)
    """
    return min(max(1 << (parallelism + parallelism // 2 - 1).bit_length(), 128), 32768)


def is_chainable(graph: StreamGraph, edge: StreamEdge) -> bool:
    """Return whether both ends of `edge` are chained into one task, by Flink's rule.

    All must hold: 1. chaining is enabled; 2. the downstream operator has one input edge; 3. same slot sharing group;
    4. downstream strategy ALWAYS; 5. upstream strategy ALWAYS or HEAD; 6. forward partitioning; 7. same parallelism;
    8. same maximum parallelism, if the program asks for it.
    """
    up, down = graph.nodes[edge.source], graph.nodes[edge.target]
    return (
        graph.settings.chaining_enabled
        and len(graph.in_edges(edge.target)) == 1
        and up.slot_sharing_group == down.slot_sharing_group
        and down.chaining is ChainingStrategy.ALWAYS
        and up.chaining is not ChainingStrategy.NEVER
        and isinstance(edge.partitioner, Forward)
        and up.parallelism == down.parallelism
        and (graph.settings.chain_across_max_parallelism or up.max_parallelism == down.max_parallelism)
    )


def build_job_graph(graph: StreamGraph) -> JobGraph:
    """Chain the operators of `graph`."""
    chained = {e.target: e for e in graph.edges if is_chainable(graph, e)}  # its target has no other input edge
    chain_head: dict[int, int] = {}
    members: dict[int, list[StreamNode]] = {}
    for node in topological(graph):
        into = chained.get(node.id)
        head = node.id if into is None else chain_head[into.source]
        chain_head[node.id] = head
        members.setdefault(head, []).append(node)
    vertices = {
        nodes[0].operator_id: _vertex(nodes, [e for e in chained.values() if chain_head[e.source] == head], graph)
        for head, nodes in members.items()
    }
    crossing = [e for e in graph.edges if e.target not in chained]
    crossing.sort(key=lambda e: (e.target, e.input_number))
    edges = tuple(
        JobEdge(
            index,
            graph.nodes[chain_head[e.source]].operator_id,
            e.source,
            graph.nodes[chain_head[e.target]].operator_id,
            e,
        )
        for index, e in enumerate(crossing)
    )
    return JobGraph(graph.settings.job_name, vertices, edges, graph.settings)


def topological(graph: StreamGraph) -> list[StreamNode]:
    """Return all nodes, each after its inputs, otherwise in program order."""
    order: list[StreamNode] = []
    done: set[int] = set()
    waiting = sorted(graph.nodes)
    while waiting:
        ready = [n for n in waiting if all(e.source in done for e in graph.in_edges(n))]
        if not ready:
            raise InvalidProgramError("The graph has a cycle outside of an iteration", seen=f"nodes {waiting}")
        done.update(ready)
        order.extend(graph.nodes[n] for n in ready)
        waiting = [n for n in waiting if n not in done]
    return order


def _vertex(nodes: list[StreamNode], edges: list[StreamEdge], graph: StreamGraph) -> JobVertex:
    head = nodes[0]
    edges = sorted(edges, key=lambda e: (e.source, e.target))
    return JobVertex(
        id=head.operator_id,
        name=_chain_name(head.id, edges, graph),
        nodes=tuple(nodes),
        chained_edges=tuple(edges),
        parallelism=head.parallelism,
        max_parallelism=head.max_parallelism or default_max_parallelism(head.parallelism),
    )


def _chain_name(node: int, edges: list[StreamEdge], graph: StreamGraph) -> str:
    """Return a name like Flink's, `a -> b -> (c, d)`."""
    name = graph.nodes[node].name
    after = [_chain_name(e.target, edges, graph) for e in edges if e.source == node]
    if not after:
        return name
    return f"{name} -> {after[0]}" if len(after) == 1 else f"{name} -> ({', '.join(after)})"


def rescaled(graph: JobGraph, parallelism: int) -> JobGraph:
    """Return the graph with another parallelism, wherever possible."""
    if isinstance(parallelism, bool) or not isinstance(parallelism, int) or parallelism < 1:
        raise ConfigurationError("The parallelism must be a positive integer", seen=parallelism)
    fixed = {v.id for v in graph.vertices.values() if any(node.max_parallelism == 1 for node in v.nodes)}
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
