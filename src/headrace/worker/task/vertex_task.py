"""One subtask of one vertex: its chain of operators, its input valve, its edge writers.

Life: built (operators set up, state restored by the caller), `open`, then per epoch `begin_epoch`, `run` or `read`,
`end_epoch`; at the end of input `finish` and `close`, all inside the epoch in which the input ended.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import cloudpickle

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.errors import CloseTimeoutError
from headrace.graph.job_graph import JobVertex
from headrace.operators.base import Operator
from headrace.operators.batch import GroupedInput
from headrace.operators.clock import ManualClock
from headrace.operators.context import OperatorContext
from headrace.operators.factory import create_operator
from headrace.operators.feedback import FeedbackSinkOperator
from headrace.operators.output import Consumer
from headrace.operators.runtime_context import TaskRuntimeContext
from headrace.operators.source import ReadBudget, SourceOperator, SplitPosition
from headrace.operators.staged_sink import StagedSinkOperator
from headrace.worker.exchange.channels import CLOCK, END, IDLE, MARKER, RECORDS, WATERMARK, Channel, Item, Valve, merged
from headrace.worker.exchange.routing import EdgeWriter
from headrace.worker.messages import VertexMeasures, VertexReport
from headrace.worker.slot.close_limit import Closer, close_at_will
from headrace.worker.task.vertex_meter import VertexMeter

MakeContext = Callable[[str, str, str | None], OperatorContext]


class VertexTask:
    """The running form of a JobVertex in one subtask."""

    def __init__(
        self,
        vertex: JobVertex,
        subtask: int,
        channels: dict[Channel, int],
        make_context: MakeContext,
        closer: Closer = close_at_will,
    ) -> None:
        """`channels` maps each input channel to its input number."""
        self._closer = closer
        self._not_closed: CloseTimeoutError | None = None
        self.vertex = vertex
        self.subtask = subtask
        self.valve = Valve(channels)
        self.ended = False
        self._ends_again = False
        self.closed = False
        self.operators: dict[int, Operator] = {}
        self.writers: list[EdgeWriter] = []
        self._inputs = channels
        self._records_in = 0
        self._busy = 0.0
        self._accumulated = b""
        self._life = random.getrandbits(62)
        for node in vertex.nodes:
            context = make_context(node.operator_id, node.name, node.uid)
            operator = create_operator(node.spec, large_state=context.keyed_state.large)
            operator.setup(context)
            self.operators[node.id] = operator
        for edge in vertex.chained_edges:
            self.attach(edge.source, edge.tag, self.operators[edge.target])
        self.head = self.operators[vertex.head.id]
        self._meter = VertexMeter(vertex, self.operators)
        self._receiver: Operator | GroupedInput = self.head
        if isinstance(self.head, SourceOperator):
            self.head.tick = self.tick
        elif self.head.context.task.batch:
            self._receiver = GroupedInput(self.head)

    def attach(self, node: int, tag: str | None, consumer: Consumer) -> None:
        """Connects an operator's output (or one of its side outputs) to a consumer."""
        output = self.operators[node].output
        (output.main if tag is None else output.sides.setdefault(tag, [])).append(consumer)

    def add_writer(self, node: int, tag: str | None, writer: EdgeWriter) -> None:
        """Connects an edge that leaves the vertex."""
        self.writers.append(writer)
        self._meter.add_writer(node, tag, writer)
        self.attach(node, tag, writer)

    def open(self, inherited: bool = False) -> None:
        """Restores the valve and opens the operators, the last of the chain first.

        `inherited`: the vertices behind this one may be new, or cut anew. One that has ended tells them once more.
        """
        facts = self.head.context.facts
        if "valve" in facts:
            self.valve.restore(facts["valve"])
            self.head.watermark = self.valve.current
        self.ended = facts.get("ended", False)
        self._ends_again = inherited and self.ended
        clock = self.head.context.clock
        if isinstance(clock, ManualClock) and "clock" in facts:
            clock.set(max(clock.now(), facts["clock"]))
        self.head.context.accumulators.restore(facts.get("accumulators", {}))
        for owner, chooser in self._choosers():
            owner.guarded(chooser.open, TaskRuntimeContext(owner.context, keyed=False))
        for operator in reversed(list(self.operators.values())):
            operator.watermark = operator.context.facts.get("operator_watermark", operator.watermark)
            operator.open()
        self.closed = False
        if self.ended:
            self._close_at_end()

    # -- an epoch -------------------------------------------------------------------------------------------------

    def read(self, positions: tuple[SplitPosition, ...], budget: ReadBudget, drain: bool = False) -> None:
        """A source vertex's epoch; `drain`: it ends now, as if its input had."""
        assert isinstance(self.head, SourceOperator)
        started = time.perf_counter()
        self._meter.begin_epoch()
        self._end_again()
        if not self.ended:
            before = self.head.records
            self.head.assign(list(positions))
            self.tick()
            if not drain:
                self.head.read(budget)
            self._records_in = self.head.records - before
            if drain or self.head.exhausted:
                self._end()
            else:
                self._end_epoch()
        self._busy = time.perf_counter() - started

    def run(self, inputs: dict[Channel, Iterator[Item]]) -> None:
        """Any other vertex's epoch: merges the channels and processes them."""
        started = time.perf_counter()
        self._meter.begin_epoch()
        self._end_again()
        self._records_in = 0
        if not self.ended:
            self.tick()
            for channel, item in merged(self.valve, inputs):
                self._take(channel, item)
            if self.valve.ended and len(self.valve.ended) == len(self.valve.marks):
                self._end()
            else:
                self._end_epoch()
        self._busy = time.perf_counter() - started

    def _take(self, channel: Channel, item: Item) -> None:
        kind = item[0]
        if kind == RECORDS:
            _, values, timestamps, keys = item
            self._records_in += len(values)
            if keys is not None:
                self._meter.sample(keys)
            if self._inputs[channel] == 0:
                self._receiver.process_batch(values, timestamps, keys)
            else:
                self._receiver.process_batch2(values, timestamps, keys)
            self.tick()
            return
        if kind == CLOCK:
            self._receiver.process_clock(item[1])
            return
        if kind == MARKER:
            self._receiver.process_marker(item[1])
            return
        was_idle = self.valve.all_idle
        risen = None
        if kind == WATERMARK:
            risen = self.valve.watermark(channel, item[1])
        elif kind == IDLE:
            risen = self.valve.set_idle(channel, item[1])
        elif kind == END:
            self.valve.end(channel)
        if was_idle and not self.valve.all_idle:
            self._receiver.process_idle(False)
        if risen is not None:
            self._receiver.process_watermark(risen)
        if self.valve.all_idle and not was_idle:
            self._receiver.process_idle(True)

    def _end_epoch(self) -> None:
        self.tick()
        for node, operator in self.operators.items():
            self._meter.timed(node, operator.end_epoch)
        self._keep_facts()

    def _end(self) -> None:
        """End of input: event time ends, functions finish and are closed, the end goes downstream."""
        if self.head.watermark < MAX_WATERMARK:
            self._receiver.process_watermark(MAX_WATERMARK)
        for node, operator in self.operators.items():
            self._meter.timed(node, operator.finish)
        for writer in self.writers:
            writer.end()
        self.ended = True
        self._keep_facts()
        self._close_at_end()

    def _end_again(self) -> None:
        if self._ends_again:
            self._ends_again = False
            for writer in self.writers:
                writer.process_watermark(MAX_WATERMARK)
                writer.end()

    def _keep_facts(self) -> None:
        facts, clock = self.head.context.facts, self.head.context.clock
        facts["valve"] = self.valve.snapshot()
        if isinstance(clock, ManualClock):
            facts["clock"] = clock.now()
        for operator in self.operators.values():  # each of them may be the head of a vertex in another life
            operator.context.facts["ended"] = self.ended
            operator.context.facts["operator_watermark"] = operator.watermark
        accumulators = self.head.context.accumulators.accumulators
        if accumulators and self._accumulated != (packed := cloudpickle.dumps(accumulators)):
            self._accumulated = packed
            facts["accumulators"] = {name: accumulator.clone() for name, accumulator in accumulators.items()}

    def notify(self, completed: tuple[int, ...], aborted: tuple[int, ...]) -> None:
        """Tells the functions what became of checkpoints."""
        for operator in self.operators.values():
            for number in completed:
                operator.notify_checkpoint_complete(number)
            for number in aborted:
                operator.notify_checkpoint_aborted(number)

    def snapshot(self, number: int, timestamp: int, *, of_all: bool) -> None:
        """Functions put what they hold into their state.

        `of_all`: a checkpoint is made at the end of this epoch. In other epochs only those that keep state in attributes
        do, as the task may have to be built anew from the state of any epoch.
        """
        if self.closed:
            return
        for operator in self.operators.values():
            if of_all or operator.has_function_state:
                operator.snapshot(number, timestamp)

    def tick(self) -> None:
        """Between two runs of records: fires processing-time timers that are due, lets state leave memory."""
        for operator in self.operators.values():
            operator.context.keyed_state.make_room()
        timers = [t for o in self.operators.values() if (t := o.next_processing_timer()) is not None]
        if timers:
            now = self.head.context.clock.now()
            if min(timers) <= now:
                for operator in self.operators.values():
                    operator.advance_processing_time(now)

    def close(self) -> None:
        """Closes every function once, whatever one of them raises."""
        if self.closed:
            return
        self.closed = True
        errors = []
        closers: list[Callable[[], Any]] = [operator.close for operator in self.operators.values()]
        closers += [partial(owner.guarded, chooser.close) for owner, chooser in self._choosers()]
        for close in closers:
            try:
                self._closer(close)
            except Exception as error:
                errors.append(error)
        if errors:
            raise next((e for e in errors if not isinstance(e, CloseTimeoutError)), errors[0])

    def _close_at_end(self) -> None:
        """Closes functions that have given all they have: one that hangs then must not keep their output back."""
        try:
            self.close()
        except CloseTimeoutError as error:
            self._not_closed = error

    def _choosers(self) -> list[tuple[Operator, Any]]:
        """The user's key selectors and partitioners, each once although several writers may use it, and their owners."""
        found = {id(chooser): (writer.owner, chooser) for writer in self.writers for chooser in writer.choosers}
        return list(found.values())

    def flush(self) -> None:
        """Sends what is left in the buffers of the edges."""
        started = time.perf_counter()
        for writer in self.writers:
            writer.flush()
        self._busy += time.perf_counter() - started

    def report(self, frames_in: int = 0, bytes_in: int = 0) -> VertexReport:
        """What happened in the epoch; `frames_in` and `bytes_in` came from other tasks."""
        timers = [t for o in self.operators.values() if (t := o.next_processing_timer()) is not None]
        positions = tuple(self.head.positions()) if isinstance(self.head, SourceOperator) else ()
        source = self.head if isinstance(self.head, SourceOperator) else None
        not_closed, self._not_closed = self._not_closed, None
        buffers = [target for writer in self.writers for target in writer.targets]
        measures = VertexMeasures(
            life=self._life,
            bytes_in=bytes_in,
            bytes_out=sum(buffer.sent_bytes for buffer in buffers),
            frames_in=frames_in,
            frames_out=sum(buffer.sent_frames for buffer in buffers),
            held_back=source is not None and source.held_back and not self.ended,
            waited_seconds=0.0 if source is None else source.waited,
            event_timestamp=None if source is None else source.event_timestamp,
            hot_key_group=self._meter.hot_key_group(),
            operators=self._meter.reports(self._records_in, self._busy),
        )
        return VertexReport(
            vertex=self.vertex.id,
            subtask=self.subtask,
            records_in=self._records_in,
            records_out=self._meter.records_out(),
            watermark=self.head.watermark,
            idle=self.head.idle if isinstance(self.head, SourceOperator) else self.valve.all_idle,
            next_timer=min(timers) if timers and not self.ended else None,
            ended=self.ended,
            busy_seconds=self._busy,
            positions=positions,
            accumulators=self.head.context.accumulators.accumulators,
            feedback={o.feedback_id: o.take() for o in self.operators.values() if isinstance(o, FeedbackSinkOperator)},
            handles={
                o.context.operator_id: handles
                for o in self.operators.values()
                if isinstance(o, StagedSinkOperator) and (handles := o.take_handles())
            },
            measures=measures,
            not_closed=not_closed,
        )
