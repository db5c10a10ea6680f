"""StreamGraph: operators as nodes, and edges with partitioner, input number and side output. Views are resolved.

Decides parallelism, max parallelism, partitioners that the user did not choose, names and ids. Raises
`InvalidProgramError` for programs that cannot run.

An operator's id is stable: it comes from the user's `uid_hash`, else from the `uid`, else from the operator's position in the
graph. State is stored under it, so set uids in programs that will be changed and restored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from headrace.errors import InvalidProgramError
from headrace.graph.partitioners import Forward, Partitioner, Rebalance
from headrace.graph.specs import OperatorSpec
from headrace.graph.transformations import ChainingStrategy, Transformation, TransformationKind, TransformationRegistry
from headrace.types.typeinfo import TypeInformation


@dataclass(frozen=True)
class StreamEdge:
    """An edge between two nodes. `input_number` is 0 for the first input, 1 for the second; `tag` names a side output."""

    source: int
    target: int
    input_number: int
    partitioner: Partitioner
    tag: str | None
    view: int | None = field(default=None, compare=False)
    """The partitioning call that the edge comes from; for the plan only."""
    united: bool = field(default=False, compare=False)
    """Whether the partitioned stream was united with others on its way; for the plan only."""


@dataclass(frozen=True)
class StreamNode:
    """An operator with everything decided except for its chaining."""

    id: int
    name: str
    description: str
    operator_id: str
    uid: str | None
    spec: OperatorSpec
    parallelism: int
    max_parallelism: int | None
    output_type: TypeInformation | None
    side_types: dict[str, TypeInformation | None]
    slot_sharing_group: str
    chaining: ChainingStrategy
    buffer_timeout: int | None
    is_sink: bool
    extra: dict[str, object]


@dataclass(frozen=True)
class GraphSettings:
    """Settings of the environment for all operators."""

    parallelism: int = 1
    max_parallelism: int | None = None
    chaining_enabled: bool = True
    chain_across_max_parallelism: bool = True
    batch: bool = False
    pre_aggregate: bool = True
    """Whether windows may combine records before the exchange."""
    job_name: str = "Flink Streaming Job"


@dataclass(frozen=True)
class StreamGraph:
    """Nodes in order of their ids and all edges."""

    nodes: dict[int, StreamNode]
    edges: tuple[StreamEdge, ...]
    settings: GraphSettings

    def in_edges(self, node: int) -> list[StreamEdge]:
        """Return the edges into `node`, first input first."""
        return sorted((e for e in self.edges if e.target == node), key=lambda e: e.input_number)


@dataclass(frozen=True)
class _Upstream:
    """An operator reached through views, with its side output and the partitioner on the way."""

    node: int
    partitioner: Partitioner | None
    tag: str | None
    view: int | None = None
    united: bool = False


def build_stream_graph(registry: TransformationRegistry, settings: GraphSettings) -> StreamGraph:
    """Resolve all transformations of `registry` into nodes and edges."""
    operators = [t for t in registry if t.kind is TransformationKind.OPERATOR]
    if not operators:
        raise InvalidProgramError(
            "No operators defined in streaming topology. Cannot execute.",
            remedy="build a pipeline (source, operators, sink) on this environment before execute().",
        )
    wanted = {t.id: _parallelism(t, settings) for t in operators}
    edges: list[StreamEdge] = []
    for t in operators:
        for number, view in enumerate(t.inputs):
            for up in _resolve(registry, view):
                partitioner = up.partitioner or (Forward() if wanted[up.node] == wanted[t.id] else Rebalance())
                if isinstance(partitioner, Forward) and wanted[up.node] != wanted[t.id]:
                    raise t.invalid(
                        "Forward partitioning does not allow change of parallelism.",
                        seen=f"upstream {registry.get(up.node).name!r} has parallelism {wanted[up.node]}, "
                        f"{t.name!r} has {wanted[t.id]}",
                        remedy="give both the same parallelism, or use rebalance(), rescale() or another partitioning.",
                    )
                edges.append(StreamEdge(up.node, t.id, number, partitioner, up.tag, up.view, up.united))
    _check_unique_uids(operators)
    ids = assign_operator_ids(operators, edges)
    _check_unique_ids(operators, ids)
    groups = _slot_sharing_groups(operators, edges)
    nodes = {t.id: _node(t, wanted[t.id], ids[t.id], groups[t.id], settings) for t in operators}
    return StreamGraph(nodes, tuple(edges), settings)


def _node(
    t: Transformation, parallelism: int, operator_id: str, slot_sharing_group: str, settings: GraphSettings
) -> StreamNode:
    if t.spec is None:
        raise InvalidProgramError("An operator transformation has no operator", operator_name=t.name)
    maximum = t.max_parallelism or settings.max_parallelism
    if maximum is not None and maximum < parallelism:
        raise t.invalid(
            f"Vertex {t.name}'s parallelism ({parallelism}) is higher than the max parallelism ({maximum}).",
            remedy="Please lower the parallelism or increase the max parallelism.",
        )
    return StreamNode(
        id=t.id,
        name=t.name or t.spec.label,
        description=t.description or t.name or t.spec.label,
        operator_id=operator_id,
        uid=t.uid,
        spec=t.spec,
        parallelism=parallelism,
        max_parallelism=maximum,
        output_type=t.output_type,
        side_types=t.side_types,
        slot_sharing_group=slot_sharing_group,
        chaining=t.chaining,
        buffer_timeout=t.buffer_timeout,
        is_sink=t.is_sink,
        extra=t.extra,
    )


def _slot_sharing_groups(operators: list[Transformation], edges: list[StreamEdge]) -> dict[int, str]:
    """Return the group of each operator: its own, else the one that all its inputs share, else `default`."""
    groups: dict[int, str] = {}
    for t in operators:
        inherited = {groups.get(e.source, "default") for e in edges if e.target == t.id}
        groups[t.id] = t.slot_sharing_group or (inherited.pop() if len(inherited) == 1 else "default")
    return groups


def _parallelism(t: Transformation, settings: GraphSettings) -> int:
    if t.non_parallel:
        return 1
    return t.parallelism or settings.parallelism


def _resolve(registry: TransformationRegistry, view: int) -> list[_Upstream]:
    """Follow unions, partitions and side outputs up to operators. The partitioner next to the consumer wins."""
    t = registry.get(view)
    if t.kind is TransformationKind.OPERATOR:
        return [_Upstream(t.id, None, None)]
    found = [up for i in t.inputs for up in _resolve(registry, i)]
    if t.kind is TransformationKind.PARTITION:
        return [_Upstream(up.node, t.partitioner, up.tag, t.id) for up in found]
    if t.kind is TransformationKind.SIDE_OUTPUT:
        return [replace(up, tag=t.output_tag) for up in found]
    return [replace(up, united=True) for up in found]


def _check_unique_uids(operators: list[Transformation]) -> None:
    seen: dict[str, str] = {}
    for t in operators:
        if t.uid is None:
            continue
        if t.uid in seen:
            raise t.invalid(
                f"Hash collision on user-specified ID {t.uid!r}. Most likely cause is a non-unique ID.",
                seen=f"also used by operator {seen[t.uid]!r}",
                remedy="Please check that all IDs specified via `uid(String)` are unique.",
            )
        seen[t.uid] = t.name


def _check_unique_ids(operators: list[Transformation], ids: dict[int, str]) -> None:
    """Reject duplicate ids, which only user-specified hashes can cause: state and vertices are stored under them."""
    seen: dict[str, str] = {}
    for t in operators:
        operator_id = ids[t.id]
        if operator_id in seen:
            raise t.invalid(
                f"Hash collision on operator id {operator_id}",
                seen=f"also the id of operator {seen[operator_id]!r}",
                remedy="pass a different hash to set_uid_hash() of every operator, or use uid()",
            )
        seen[operator_id] = t.name


class _Edge(Protocol):
    @property
    def source(self) -> int: ...
    @property
    def target(self) -> int: ...


def assign_operator_ids(operators: Sequence[Transformation], edges: Sequence[_Edge]) -> dict[int, str]:
    """Map the id of each operator transformation to its stable hexadecimal id."""
    ids: dict[int, str] = {}
    inputs: dict[int, list[int]] = {t.id: [] for t in operators}
    for edge in edges:
        inputs[edge.target].append(edge.source)
    for position, t in enumerate(operators):
        if t.uid_hash is not None:
            ids[t.id] = t.uid_hash
        elif t.uid is not None:
            ids[t.id] = id_of_uid(t.uid)
        else:
            parents = [ids.get(i, "feedback") for i in inputs[t.id]]
            kind = type(t.spec).__name__
            ids[t.id] = hashed("node", str(position), kind, *parents)
    return ids


def id_of_uid(uid: str) -> str:
    """Return the operator id of a uid.

    >>> id_of_uid("my-map") == hashed("uid", "my-map")
    True
    """
    return hashed("uid", uid)


def hashed(*parts: str) -> str:
    """Return the hexadecimal id of a sequence of strings.

    >>> len(hashed("uid", "my-map"))
    32
    """
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:32]
