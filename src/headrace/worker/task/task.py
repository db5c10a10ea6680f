"""A task runs one subtask of each vertex of a task group, one after another, in every epoch. It stays alive between epochs.

An epoch of a task: 1. sort the frames by channel and sequence; 2. run the vertices in order, with local edges in memory, and
flush their writers; 3. call the checkpoint hooks; 4. write the changes to one state file; 5. return the acknowledgement.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from headrace.functions.runtime_context import DistributedCache
from headrace.operators.clock import Clock, ManualClock, SystemClock
from headrace.operators.context import EpochInfo
from headrace.state.storage import UploadError
from headrace.types.codecs import codec_for
from headrace.worker.exchange.buffers import Send
from headrace.worker.exchange.channels import Channel, Item, by_channel, decoded
from headrace.worker.job_spec import JobSpec
from headrace.worker.messages import EpochOrder, TaskAck, TaskId, VertexReport
from headrace.worker.process_facts import process_facts
from headrace.worker.task.driver_output import DriverOutputBuffer
from headrace.worker.task.keyed_backends import BackendMaker
from headrace.worker.task.stack_sampler import StackSampler
from headrace.worker.task.state_log import StateLog
from headrace.worker.task.vertex_builder import VertexBuilder
from headrace.worker.task.vertex_task import Closer, close_at_will

_log = logging.getLogger("headrace")


class Task:
    """One subtask of a task group."""

    def __init__(
        self,
        spec: JobSpec,
        task_id: TaskId,
        order: EpochOrder,
        files: DistributedCache | None = None,
        backends: BackendMaker | None = None,
        closer: Closer = close_at_will,
    ) -> None:
        """Build the vertices and restore their state from the files that the order names."""
        self.task_id = task_id
        self.version: int | None = None
        self._spec = spec
        self._driver = DriverOutputBuffer()
        group, self._subtask = spec.plan.levels[task_id[0]].locate(task_id[1])
        clock: Clock = SystemClock() if order.clock is None else ManualClock(order.clock)
        make_backend = partial((backends or BackendMaker(spec.backend, None)).make, sharers=len(group.vertices))
        builder = VertexBuilder(
            spec, self._subtask, order, clock, self._driver, files or DistributedCache(), make_backend, closer
        )
        self._contexts, self._local = builder.contexts, builder.local_writers
        self.vertices = [builder.build(vertex) for vertex in group.vertices]
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
            try:
                self.close()
            except Exception as error:
                _log.debug("headrace: a task that could not be opened could not be closed: %s", error)
            raise
        self.version = task_order.version
        self._restored = self._log.restored() if task_order.inheritance is not None else {}

    # -- an epoch -------------------------------------------------------------------------------------------------

    def run_epoch(self, order: EpochOrder, attempt: int, frames: list[bytes], send: Send) -> TaskAck:
        """Run this task's part of an epoch."""
        self.version = None
        self._driver.begin_epoch(self.task_id, attempt, send)
        seen, channels = by_channel(frames)  # 1.
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
        for vertex in self.vertices:  # 2.
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
        for vertex in self.vertices:  # 3.
            vertex.snapshot(checkpoint.number, checkpoint.timestamp, of_all=checkpoint.now)
        reports = tuple(vertex.report(*self._received(vertex.vertex.id, channels)) for vertex in self.vertices)
        if sampler is not None:
            reports = tuple(_with_stacks(report, sampler) for report in reports)
        state_file, is_base, declined = None, False, None
        ended = all(report.ended for report in reports)
        if order.write_state:  # 4.
            state_file, is_base = self._log.write(checkpoint.number, name)
            if checkpoint.durable and (checkpoint.now or ended):
                try:
                    self._log.make_durable(checkpoint.store)
                except UploadError as error:
                    if ended:  # this task has no later epoch in which to retry
                        raise
                    declined = error.message
        self._driver.flush()
        if ended:
            self._release_state()
        self.version = attempt
        restored, self._restored = self._restored, {}
        return TaskAck(  # 5.
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
        """Start to sample this thread if a vertex of the task is wanted."""
        vertices = {v.vertex.id: list(v.operators.values()) for v in self.vertices if v.vertex.id in wanted}
        if not vertices:
            return None
        sampler = StackSampler(vertices)
        sampler.start()
        return sampler

    def close(self) -> None:
        """Close all functions once, then release the state."""
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

    def _received(self, vertex: str, channels: dict[Channel, list[bytes]]) -> tuple[int, int]:
        """Return the number of frames and bytes that a vertex received."""
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
                    inputs[channel] = decoded(frames, codec_for(edge.value_type), codec_for(edge.key_type))
        return inputs


def _with_stacks(report: VertexReport, sampler: StackSampler) -> VertexReport:
    stacks = dict(sampler.stacks.get(report.vertex, {}))
    return replace(report, measures=report.measures._replace(stacks=stacks))


def epoch_name(order: EpochOrder, attempt: int) -> str:
    """Return a name that is unique among all attempts of all epochs of the job.

    >>> from headrace.worker.messages import CheckpointOrder
    >>> epoch_name(EpochOrder("job", 17, 0, "/tmp", {}, checkpoint=CheckpointOrder(generation=2)), 4)
    'g0000000002-17.4'
    """
    return f"g{order.checkpoint.generation:010d}-{order.epoch}.{attempt}"
