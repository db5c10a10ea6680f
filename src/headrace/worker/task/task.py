"""A task: one subtask of each vertex of a task group, run one after the other in every epoch. Resident between epochs.

An epoch of a task: 1. sort the frames by channel and sequence; 2. run the vertices in order, local edges in memory;
3. flush the writers; 4. write what changed as one state file; 5. give the acknowledgement.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from headrace.common.accumulators import AccumulatorRegistry
from headrace.functions.distributed_cache import DistributedCache
from headrace.graph.partitioners import pointwise_targets
from headrace.operators.clock import Clock, ManualClock, SystemClock
from headrace.operators.context import EpochInfo, OperatorContext, TaskInfo
from headrace.state.key_groups import key_group_range
from headrace.state.operator_state import OperatorStateBackend
from headrace.state.storage import UploadError
from headrace.types.codecs import codec_for
from headrace.worker.exchange.buffers import Send, TargetBuffer
from headrace.worker.exchange.channels import RECORDS, Channel, Item
from headrace.worker.exchange.frames import decode_timestamps, header_of, unpack
from headrace.worker.exchange.routing import LocalWriter, create_writer
from headrace.worker.job_spec import EdgeFacts, JobSpec
from headrace.worker.messages import EpochOrder, TaskAck, TaskId, VertexReport
from headrace.worker.slot.close_limit import Closer, close_at_will
from headrace.worker.slot.process_facts import process_facts
from headrace.worker.task.driver_output import DriverOutputBuffer
from headrace.worker.task.keyed_backends import BackendMaker
from headrace.worker.task.stack_sampler import StackSampler
from headrace.worker.task.state_log import StateLog
from headrace.worker.task.vertex_task import VertexTask


class Task:
    """The resident form of a task group's subtask."""

    def __init__(
        self,
        spec: JobSpec,
        task_id: TaskId,
        order: EpochOrder,
        files: DistributedCache | None = None,
        backends: BackendMaker | None = None,
        closer: Closer = close_at_will,
    ) -> None:
        """Builds the vertices and restores their state from the files that the order names."""
        self._closer = closer
        self._files = files or DistributedCache()
        self._backends = backends or BackendMaker(spec.backend, None)
        self.task_id = task_id
        self.version: int | None = None
        self._spec = spec
        self._clock: Clock = SystemClock() if order.clock is None else ManualClock(order.clock)
        self._driver = DriverOutputBuffer()
        group, self._subtask = spec.plan.levels[task_id[0]].locate(task_id[1])
        self._contexts: dict[str, OperatorContext] = {}
        self._local: dict[int, LocalWriter] = {}
        self._vertex_count = len(group.vertices)
        self.vertices = [self._build(v, order) for v in group.vertices]
        task_order = order.tasks[task_id]
        self._log = StateLog(order.state_directory, spec.job_id, group.vertices[0], self._subtask, self._contexts)
        if task_order.files:
            self._log.restore(task_order.files, order.checkpoint.store)
        elif task_order.inheritance is not None:
            self._log.inherit(task_order.inheritance)
        if task_order.files or task_order.inheritance is not None:
            for context in self._contexts.values():
                context.restored_checkpoint = order.checkpoint.restored
        try:
            for vertex in self.vertices:
                vertex.open(inherited=task_order.inheritance is not None)
        except Exception:
            with contextlib.suppress(Exception):
                self.close()
            raise
        self.version = task_order.version
        self._restored = self._log.restored() if task_order.inheritance is not None else {}

    # -- an epoch -------------------------------------------------------------------------------------------------

    def run_epoch(self, order: EpochOrder, attempt: int, frames: list[bytes], send: Send) -> TaskAck:
        """Does this task's part of an epoch."""
        self.version = None
        self._driver.begin_epoch(self.task_id, attempt, send)
        seen, channels = self._sorted(frames)
        sampler = self._sampler(order.sampled) if order.sampled else None
        task_order, checkpoint = order.tasks[self.task_id], order.checkpoint
        name = epoch_name(order, attempt)
        info = EpochInfo(
            f"e{checkpoint.number:010d}-{name}",
            checkpoint.number,
            checkpoint.generation,
            checkpoint.now,
            checkpoint.durable,
        )
        for context in self._contexts.values():
            context.epoch = info
        for vertex in self.vertices:
            if checkpoint.completed or checkpoint.aborted:
                vertex.notify(checkpoint.completed, checkpoint.aborted)
            for writer in vertex.writers:
                writer.begin_epoch(order.epoch, attempt, send)
            if (source := task_order.sources.get(vertex.vertex.id)) is not None:
                vertex.read(source.positions, source.budget, order.drain)
            else:
                vertex.run(self._inputs_of(vertex.vertex.id, channels))
            vertex.flush()
        if sampler is not None:
            sampler.stop()
        started = time.perf_counter()
        for vertex in self.vertices:
            vertex.snapshot(checkpoint.number, checkpoint.timestamp, of_all=checkpoint.now)
        reports = tuple(vertex.report(*self._received(vertex.vertex.id, channels)) for vertex in self.vertices)
        if sampler is not None:
            reports = tuple(_with_stacks(report, sampler) for report in reports)
        state_file, is_base, declined = None, False, None
        ended = all(report.ended for report in reports)
        if order.write_state:
            state_file, is_base = self._log.write(checkpoint.number, name)
            if checkpoint.durable and (checkpoint.now or ended):
                try:
                    self._log.make_durable(checkpoint.store)
                except UploadError as error:
                    if ended:  # there will be no later epoch of this task to try again in
                        raise
                    declined = error.message
        self._driver.flush()
        if ended:
            self._release_state()
        self.version = attempt
        restored, self._restored = self._restored, {}
        return TaskAck(
            task=self.task_id,
            epoch=order.epoch,
            attempt=attempt,
            seen=seen,
            state_file=state_file,
            state_is_base=is_base,
            vertices=reports,
            host=socket.gethostname(),
            pid=os.getpid(),
            states=self._log.kinds() if checkpoint.now or ended else {},
            declined=declined,
            restored=restored,
            checkpoint_seconds=time.perf_counter() - started if checkpoint.now else 0.0,
            process=process_facts(),
        )

    def _sampler(self, wanted: frozenset[str]) -> StackSampler | None:
        """Begins to sample this thread, if a vertex of the task is among those that are wanted."""
        vertices = {v.vertex.id: list(v.operators.values()) for v in self.vertices if v.vertex.id in wanted}
        if not vertices:
            return None
        sampler = StackSampler(vertices)
        sampler.start()
        return sampler

    def close(self) -> None:
        """Closes all functions once, then gives up the state."""
        errors = []
        for vertex in self.vertices:
            try:
                vertex.close()
            except Exception as error:
                errors.append(error)
        self._release_state()
        if errors:
            raise errors[0]

    def _release_state(self) -> None:
        for context in self._contexts.values():
            context.keyed_state.close()

    def _sorted(self, frames: list[bytes]) -> tuple[dict[Channel, int], dict[Channel, list[bytes]]]:
        """The frames of each channel in sequence, and the attempt that made them."""
        numbered: dict[Channel, list[tuple[int, bytes]]] = {}
        seen: dict[Channel, int] = {}
        for frame in frames:
            header = header_of(frame)
            channel = (header.edge, header.upstream)
            numbered.setdefault(channel, []).append((header.sequence, frame))
            seen[channel] = header.attempt
        return seen, {c: [f for _, f in sorted(parts, key=lambda p: p[0])] for c, parts in numbered.items()}

    def _received(self, vertex: str, channels: dict[Channel, list[bytes]]) -> tuple[int, int]:
        """How many frames and bytes came for a vertex."""
        edges = {edge.index for edge in self._spec.in_edges(vertex)}
        frames = [frame for channel, parts in channels.items() if channel[0] in edges for frame in parts]
        return len(frames), sum(map(len, frames))

    def _inputs_of(self, vertex: str, channels: dict[Channel, list[bytes]]) -> dict[Channel, Iterator[Item]]:
        inputs: dict[Channel, Iterator[Item]] = {}
        for edge in self._spec.in_edges(vertex):
            if edge.local:
                inputs[edge.index, self._subtask] = iter(self._local[edge.index].items)
                continue
            for channel, frames in channels.items():
                if channel[0] == edge.index:
                    inputs[channel] = _decoded(edge, frames)
        return inputs

    # -- building -------------------------------------------------------------------------------------------------

    def _build(self, vertex_id: str, order: EpochOrder) -> VertexTask:
        spec = self._spec
        vertex, out_edges = spec.load_vertex(vertex_id)
        info = TaskInfo(
            job_id=spec.job_id,
            job_name=spec.job_name,
            vertex_name=vertex.name,
            subtask=self._subtask,
            parallelism=spec.parallelism[vertex_id],
            max_parallelism=spec.max_parallelism[vertex_id],
            attempt=order.restarts,
            batch=spec.batch,
            watermark_records=spec.watermark_records,
            job_parameters=spec.job_parameters,
            state_directory=order.state_directory,
            staging_directory=order.checkpoint.staging,
            latency_interval_ms=spec.latency.interval_ms,
            latency_granularity=spec.latency.granularity,
        )

        accumulators = AccumulatorRegistry()

        def make_context(operator_id: str, name: str, uid: str | None) -> OperatorContext:
            groups = key_group_range(info.subtask, info.max_parallelism, info.parallelism)
            context = OperatorContext(
                task=info,
                operator_id=operator_id,
                name=name,
                uid=uid,
                keyed_state=self._backends.make(info.max_parallelism, groups, sharers=self._vertex_count),
                operator_state=OperatorStateBackend(),
                clock=self._clock,
                driver=self._driver,
                accumulators=accumulators,
                files=self._files,
            )
            self._contexts[operator_id] = context
            return context

        task = VertexTask(vertex, self._subtask, self._channels_into(vertex_id), make_context, self._closer)
        task.head.context.keyed = spec.is_keyed(vertex_id)
        facts = {e.index: e for e in spec.edges}
        for edge in out_edges:
            owner = task.operators[edge.source_node]
            fact = facts[edge.index]
            if fact.local:
                writer = self._local[edge.index] = LocalWriter(owner, codec_for(fact.value_type))
                task.add_writer(edge.source_node, edge.edge.tag, writer)
                continue
            targets = [
                TargetBuffer(
                    spec.plan.address(edge.target, target),
                    edge.index,
                    self._subtask,
                    codec_for(fact.value_type),
                    codec_for(fact.key_type) if fact.keyed else None,
                )
                for target in self._targets(fact)
            ]
            maximum = spec.max_parallelism[edge.target]
            routed = create_writer(edge.edge.partitioner, owner, targets, edge.index, maximum)
            task.add_writer(edge.source_node, edge.edge.tag, routed)
        return task

    def _targets(self, edge: EdgeFacts) -> range:
        """The downstream subtasks that this subtask is connected with."""
        downstream = self._spec.parallelism[edge.target]
        if edge.pointwise:
            return pointwise_targets(self._subtask, self._spec.parallelism[edge.source], downstream)
        return range(downstream)

    def _channels_into(self, vertex: str) -> dict[Channel, int]:
        """The channels that feed this subtask of a vertex, with their input numbers."""
        channels: dict[Channel, int] = {}
        for edge in self._spec.in_edges(vertex):
            upstream = self._spec.parallelism[edge.source]
            for up in range(upstream):
                targets = pointwise_targets(up, upstream, self._spec.parallelism[vertex]) if edge.pointwise else None
                if targets is None or self._subtask in targets:
                    channels[edge.index, up] = edge.input_number
        return channels


def _with_stacks(report: VertexReport, sampler: StackSampler) -> VertexReport:
    stacks = dict(sampler.stacks.get(report.vertex, {}))
    return replace(report, measures=report.measures._replace(stacks=stacks))


def epoch_name(order: EpochOrder, attempt: int) -> str:
    """What tells this try of this epoch from all others of the job.

    >>> from headrace.worker.messages import CheckpointOrder
    >>> epoch_name(EpochOrder("job", 17, 0, "/tmp", {}, checkpoint=CheckpointOrder(generation=2)), 4)
    'g0000000002-17.4'
    """
    return f"g{order.checkpoint.generation:010d}-{order.epoch}.{attempt}"


def _decoded(edge: EdgeFacts, frames: list[bytes]) -> Iterator[Item]:
    """The items of a channel, frame by frame."""
    decode = codec_for(edge.value_type).decode
    decode_keys: Any = codec_for(edge.key_type).decode
    for frame in frames:
        for item in unpack(frame)[1]:
            if item[0] == RECORDS:
                _, values, timestamps, keys = item
                yield (
                    RECORDS,
                    decode(values),
                    decode_timestamps(timestamps),
                    None if keys is None else decode_keys(keys),
                )
            else:
                yield item
