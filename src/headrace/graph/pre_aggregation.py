"""Insert a local aggregate before the exchange of windows that allow it: one more operator in the sending chain.

Decides where, not whether the windows allow it: that is `combines_early` of their operation. Called when the stream graph
is built, so the plan shows what runs.
"""

from __future__ import annotations

from dataclasses import replace

from headrace.graph.partitioners import Forward, KeyGroup
from headrace.graph.specs import LocalWindowAggregate, WindowOperation
from headrace.graph.stream_graph import StreamEdge, StreamGraph, StreamNode, hashed
from headrace.graph.transformations import ChainingStrategy


def with_local_aggregates(graph: StreamGraph) -> StreamGraph:
    """Return the graph with a `LocalWindowAggregate` on every edge into windows that combine early.

    Unchanged in batch mode, where the input of windows is sorted by key.
    """
    if graph.settings.batch or not graph.settings.pre_aggregate:
        return graph
    nodes = dict(graph.nodes)
    edges: list[StreamEdge] = []
    fresh = max([*nodes, *(e.view for e in graph.edges if e.view is not None)], default=0) + 1
    for edge in graph.edges:
        windows = graph.nodes[edge.target]
        spec = windows.spec
        if not (isinstance(spec, WindowOperation) and spec.combines_early and isinstance(edge.partitioner, KeyGroup)):
            edges.append(edge)
            continue
        local = _local(fresh, graph.nodes[edge.source], edge, windows, spec)
        nodes[fresh] = local
        nodes[edge.target] = replace(windows, spec=replace(spec, takes_runs=True))
        edges.append(replace(edge, target=fresh, input_number=0, partitioner=Forward(), united=False))
        edges.append(replace(edge, source=fresh, tag=None, view=None))
        fresh += 1
    return StreamGraph(nodes, tuple(edges), graph.settings)


def _local(number: int, source: StreamNode, edge: StreamEdge, windows: StreamNode, spec: WindowOperation) -> StreamNode:
    assert isinstance(edge.partitioner, KeyGroup)
    input_type = source.output_type if edge.tag is None else source.side_types.get(edge.tag)
    return StreamNode(
        id=number,
        name=f"Local {windows.name}",
        description=f"Local {windows.description}",
        operator_id=hashed("local", windows.operator_id, source.operator_id, edge.tag or ""),
        uid=None,
        spec=LocalWindowAggregate(spec, edge.partitioner.selector, input_type),
        parallelism=source.parallelism,
        max_parallelism=None,
        output_type=None,
        side_types={},
        slot_sharing_group=source.slot_sharing_group,
        chaining=ChainingStrategy.ALWAYS,
        buffer_timeout=windows.buffer_timeout,
        is_sink=False,
        extra={},
    )
