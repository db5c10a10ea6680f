"""The job as its workers see it: the layout, the edges, and each vertex as a separate pickle.

Made once by the driver (`make_job_spec`), shipped once per worker process. Every subtask unpickles its own copy of a
vertex, so function objects are never shared. User code travels by cloudpickle: the job's own code is trusted, nothing else.
"""

from __future__ import annotations

import os
import pickle
import sys
from dataclasses import dataclass, field

import cloudpickle

from headrace.config.worker_settings import BackendSettings, LatencySettings
from headrace.errors import InvalidProgramError
from headrace.graph.epoch_plan import EpochPlan
from headrace.graph.job_graph import JobEdge, JobGraph, JobVertex
from headrace.graph.partitioners import KeyGroup
from headrace.types.typeinfo import TypeInformation
from headrace.worker.job_files import JobFiles
from headrace.worker.task_name import TaskName


@dataclass(frozen=True)
class EdgeFacts:
    """The properties of an edge that both of its ends need."""

    index: int
    source: str
    target: str
    input_number: int
    pointwise: bool
    local: bool
    value_type: TypeInformation | None
    key_type: TypeInformation | None
    keyed: bool
    united: bool = False
    """Whether the stream was united with others after partitioning, so that the next operator is not keyed."""


@dataclass(frozen=True)
class JobSpec:
    """Everything that a worker needs to run tasks of a job."""

    job_id: str
    job_name: str
    plan: EpochPlan
    parallelism: dict[str, int]
    max_parallelism: dict[str, int]
    edges: tuple[EdgeFacts, ...]
    vertices: dict[str, bytes]
    batch: bool
    close_seconds: float
    """How long a function may take for `close()` after its input ended."""
    watermark_records: int = 1000
    job_parameters: dict[str, str] = field(default_factory=dict)
    python_path: tuple[str, ...] = ()
    working_directory: str = ""
    files: JobFiles = field(default_factory=JobFiles)
    backend: BackendSettings = field(default_factory=BackendSettings)
    latency: LatencySettings = field(default_factory=LatencySettings)
    names: dict[str, str] = field(default_factory=dict)
    """Names of the vertices for users."""

    def task_name(self, level: int, partition: int) -> TaskName:
        """Return the name of a task for users."""
        group, subtask = self.plan.levels[level].locate(partition)
        names = [self.names.get(vertex, vertex) for vertex in group.vertices]
        return TaskName(", ".join(names), subtask, group.parallelism)

    def load_vertex(self, vertex: str) -> tuple[JobVertex, tuple[JobEdge, ...]]:
        """Return a fresh copy of a vertex and its outgoing edges, user functions included."""
        return pickle.loads(self.vertices[vertex])  # type: ignore[no-any-return]  # noqa: S301 - the job's own code

    def is_keyed(self, vertex: str) -> bool:
        """Return whether the head of a vertex is an operator of a keyed stream."""
        return any(e.keyed and not e.united for e in self.in_edges(vertex))

    def in_edges(self, vertex: str) -> list[EdgeFacts]:
        return [e for e in self.edges if e.target == vertex]


def make_job_spec(
    job_id: str,
    graph: JobGraph,
    plan: EpochPlan,
    *,
    watermark_records: int,
    job_parameters: dict[str, str],
    close_seconds: float,
    files: JobFiles | None = None,
    backend: BackendSettings | None = None,
    latency: LatencySettings | None = None,
) -> JobSpec:
    """Pickle a job graph for its workers."""
    vertices = {v.id: _pickled(v, tuple(graph.out_edges(v.id))) for v in graph.vertices.values()}
    return JobSpec(
        job_id=job_id,
        job_name=graph.name,
        plan=plan,
        parallelism={v.id: v.parallelism for v in graph.vertices.values()},
        max_parallelism={v.id: v.max_parallelism for v in graph.vertices.values()},
        edges=tuple(_facts(e, graph, plan) for e in graph.edges),
        vertices=vertices,
        batch=graph.settings.batch,
        watermark_records=watermark_records,
        job_parameters=job_parameters,
        python_path=tuple(os.path.abspath(p) for p in sys.path),
        working_directory=os.getcwd(),
        files=files or JobFiles(),
        backend=backend or BackendSettings(),
        latency=latency or LatencySettings(),
        names={v.id: v.name for v in graph.vertices.values()},
        close_seconds=close_seconds,
    )


def _pickled(vertex: JobVertex, edges: tuple[JobEdge, ...]) -> bytes:
    try:
        return cloudpickle.dumps((vertex, edges))  # type: ignore[no-any-return]
    except Exception as error:
        raise InvalidProgramError(
            f"The functions of {vertex.name!r} cannot be sent to the workers: {error}",
            operator_name=vertex.name,
            uid=vertex.head.uid,
            remedy="keep only picklable objects in functions; create connections, locks and files in open().",
        ) from error


def _facts(edge: JobEdge, graph: JobGraph, plan: EpochPlan) -> EdgeFacts:
    node = next(n for n in graph.vertices[edge.source].nodes if n.id == edge.source_node)
    partitioner = edge.edge.partitioner
    keyed = isinstance(partitioner, KeyGroup)
    return EdgeFacts(
        index=edge.index,
        source=edge.source,
        target=edge.target,
        input_number=edge.edge.input_number,
        pointwise=partitioner.pointwise,
        local=plan.is_local(edge),
        value_type=node.output_type if edge.edge.tag is None else node.side_types.get(edge.edge.tag),
        key_type=partitioner.key_type if isinstance(partitioner, KeyGroup) else None,
        keyed=keyed,
        united=edge.edge.united,
    )
