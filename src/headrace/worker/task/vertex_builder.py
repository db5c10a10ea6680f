"""Build the vertices of a task: operators with their contexts, input channels, and writers for the outgoing edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from headrace.common.accumulators import AccumulatorRegistry
from headrace.functions.runtime_context import DistributedCache
from headrace.graph.job_graph import JobEdge
from headrace.graph.partitioners import pointwise_targets
from headrace.operators.base import Operator
from headrace.operators.clock import Clock
from headrace.operators.context import OperatorContext, TaskInfo
from headrace.state.key_groups import key_group_range
from headrace.state.keyed_backend import KeyedBackend
from headrace.state.operator_state import OperatorStateBackend
from headrace.types.codecs import codec_for
from headrace.worker.exchange.buffers import TargetBuffer
from headrace.worker.exchange.channels import Channel
from headrace.worker.exchange.routing import create_writer
from headrace.worker.exchange.writers import EdgeWriter, LocalWriter
from headrace.worker.job_spec import EdgeFacts, JobSpec
from headrace.worker.messages import EpochOrder
from headrace.worker.task.driver_output import DriverOutputBuffer
from headrace.worker.task.vertex_task import Closer, VertexTask


@dataclass
class VertexBuilder:
    """Builds the vertices of one subtask, and keeps the contexts and local writers that the task needs."""

    spec: JobSpec
    subtask: int
    order: EpochOrder
    clock: Clock
    driver: DriverOutputBuffer
    files: DistributedCache
    make_backend: Callable[[int, range], KeyedBackend]
    closer: Closer
    contexts: dict[str, OperatorContext] = field(default_factory=dict)
    """By operator id."""
    local_writers: dict[int, LocalWriter] = field(default_factory=dict)
    """By the index of the edge."""

    def build(self, vertex_id: str) -> VertexTask:
        """Return a vertex that is connected but not open."""
        spec = self.spec
        vertex, out_edges = spec.load_vertex(vertex_id)
        info = TaskInfo(
            job_id=spec.job_id,
            job_name=spec.job_name,
            vertex_name=vertex.name,
            subtask=self.subtask,
            parallelism=spec.parallelism[vertex_id],
            max_parallelism=spec.max_parallelism[vertex_id],
            attempt=self.order.restarts,
            batch=spec.batch,
            watermark_records=spec.watermark_records,
            job_parameters=spec.job_parameters,
            state_directory=self.order.state_directory,
            staging_directory=self.order.checkpoint.staging,
            latency_interval_ms=spec.latency.interval_ms,
            latency_granularity=spec.latency.granularity,
        )
        accumulators = AccumulatorRegistry()
        groups = key_group_range(info.subtask, info.max_parallelism, info.parallelism)

        def make_context(operator_id: str, name: str, uid: str | None) -> OperatorContext:
            context = self.contexts[operator_id] = OperatorContext(
                task=info,
                operator_id=operator_id,
                name=name,
                uid=uid,
                keyed_state=self.make_backend(info.max_parallelism, groups),
                operator_state=OperatorStateBackend(),
                clock=self.clock,
                driver=self.driver,
                accumulators=accumulators,
                files=self.files,
            )
            return context

        task = VertexTask(vertex, self.subtask, self._channels_into(vertex_id), make_context, self.closer)
        task.head.context.keyed = spec.is_keyed(vertex_id)
        facts = {e.index: e for e in spec.edges}
        for edge in out_edges:
            writer = self._writer(edge, facts[edge.index], task.operators[edge.source_node])
            task.add_writer(edge.source_node, edge.edge.tag, writer)
        return task

    def _writer(self, edge: JobEdge, facts: EdgeFacts, owner: Operator) -> EdgeWriter:
        codec = codec_for(facts.value_type)
        if facts.local:
            writer = self.local_writers[edge.index] = LocalWriter(owner, codec)
            return writer
        key_codec = codec_for(facts.key_type) if facts.keyed else None
        targets = [
            TargetBuffer(self.spec.plan.address(edge.target, target), edge.index, self.subtask, codec, key_codec)
            for target in self._targets(facts)
        ]
        maximum = self.spec.max_parallelism[edge.target]
        return create_writer(edge.edge.partitioner, owner, targets, edge.index, maximum)

    def _targets(self, edge: EdgeFacts) -> range:
        """Return the downstream subtasks that this subtask is connected with."""
        downstream = self.spec.parallelism[edge.target]
        if edge.pointwise:
            return pointwise_targets(self.subtask, self.spec.parallelism[edge.source], downstream)
        return range(downstream)

    def _channels_into(self, vertex: str) -> dict[Channel, int]:
        """Return the channels that feed this subtask of a vertex, with their input numbers."""
        channels: dict[Channel, int] = {}
        for edge in self.spec.in_edges(vertex):
            upstream = self.spec.parallelism[edge.source]
            for up in range(upstream):
                targets = pointwise_targets(up, upstream, self.spec.parallelism[vertex]) if edge.pointwise else None
                if targets is None or self.subtask in targets:
                    channels[edge.index, up] = edge.input_number
        return channels
