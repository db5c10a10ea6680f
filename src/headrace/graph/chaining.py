"""Flink's rule for which edges become a plain method call inside one task. Pure; called by `job_graph`."""

from __future__ import annotations

from headrace.graph.partitioners import Forward
from headrace.graph.stream_graph import StreamEdge, StreamGraph
from headrace.graph.transformations import ChainingStrategy


def is_chainable(graph: StreamGraph, edge: StreamEdge) -> bool:
    """Whether both ends of `edge` go into one chain.

    All must hold: 1. chaining is enabled; 2. the downstream operator has one input edge; 3. same slot sharing group;
    4. downstream strategy ALWAYS; 5. upstream strategy ALWAYS or HEAD; 6. forward partitioning; 7. same parallelism;
    8. same maximum parallelism, if the program asks for that.
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
