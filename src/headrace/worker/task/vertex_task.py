"""One subtask of one vertex: its chain of operators, its input valve, its edge writers.

Life cycle: 1. construction sets the operators up, and the caller restores their state; 2. `open`; 3. in each epoch `notify`,
then `read` (a source) or `run`, then `flush`, `snapshot` and `report`; 4. `close`, by the caller or, when the input ends,
inside the epoch in which it ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import cloudpickle

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.errors import CloseTimeoutError
from headrace.graph.job_graph import JobVertex
from headrace.graph.table_specs import TableKey
from headrace.operators.base import Operator
from headrace.operators.batch import GroupedInput
from headrace.operators.clock import ManualClock
from headrace.operators.context import OperatorContext, TaskRuntimeContext
from headrace.operators.factory import create_operator
from headrace.operators.output import Consumer
from headrace.operators.sinks import StagedSinkOperator
from headrace.operators.source import FeedbackSinkOperator, ReadBudget, SourceOperator, SplitPosition
from headrace.operators.table.base import keys_of
from headrace.types.column_run import ColumnRun, as_columns
from headrace.worker.exchange.channels import Channel, Item, Valve, merged
from headrace.worker.exchange.frames import CLOCK, END, IDLE, MARKER, RECORDS, WATERMARK
from headrace.worker.exchange.writers import EdgeWriter
from headrace.worker.messages import VertexReport
from headrace.worker.task.vertex_meter import VertexMeter

MakeContext = Callable[[str, str, str | None], OperatorContext]
"""make_context(operator id, name, uid)"""
Closer = Callable[[Callable[[], Any]], None]
"""Calls the `close()` of a function, and decides how long it may take."""


def close_at_will(call: Callable[[], Any]) -> None:
    """Close a function without a time limit."""
    call()


class VertexTask:
    """A JobVertex running in one subtask."""

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
        """Connect an operator's output (or one of its side outputs) to a consumer."""
        output = self.operators[node].output
        (output.main if tag is None else output.sides.setdefault(tag, [])).append(consumer)

    def add_writer(self, node: int, tag: str | None, writer: EdgeWriter) -> None:
        """Connect an edge that leaves the vertex."""
        self.writers.append(writer)
        self._meter.add_writer(node, tag, writer)
        self.attach(node, tag, writer)

    def open(self, inherited: bool = False) -> None:
        """Restore the valve and open the operators, the last of the chain first.

        With `inherited` state, the downstream vertices may be new or repartitioned. A vertex that has ended tells them again.
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
        """Run an epoch of a source vertex. With `drain` it ends now, as if its input had ended."""
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
        """Run an epoch of any other vertex: merge the channels and process their items."""
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
            run = as_columns(values)
            if run is not None:
                values, keys = self._columns(run, keys)
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

    def _columns(self, run: ColumnRun, key: TableKey | None) -> tuple[Any, list[Any] | None]:
        """Return a run of columns as the head of the chain takes it; with keys only if it takes rows."""
        if self._receiver.takes_columns:
            return run, None
        rows = run.rows()
        return rows, None if key is None else keys_of(rows, key.columns)

    def _end_epoch(self) -> None:
        self.tick()
        for node, operator in self.operators.items():
            self._meter.timed(node, operator.end_epoch)
        self._keep_facts()

    def _end(self) -> None:
        """Handle the end of input: end event time, finish the operators, tell downstream vertices, close the functions."""
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
        for operator in self.operators.values():  # any of them may become the head of a vertex after a restore
            operator.context.facts["ended"] = self.ended
            operator.context.facts["operator_watermark"] = operator.watermark
        accumulators = self.head.context.accumulators.accumulators
        if accumulators and self._accumulated != (packed := cloudpickle.dumps(accumulators)):
            self._accumulated = packed
            facts["accumulators"] = {name: accumulator.clone() for name, accumulator in accumulators.items()}

    def notify(self, completed: tuple[int, ...], aborted: tuple[int, ...]) -> None:
        """Tell the functions which checkpoints completed and which were aborted."""
        for operator in self.operators.values():
            for number in completed:
                operator.notify_checkpoint_complete(number)
            for number in aborted:
                operator.notify_checkpoint_aborted(number)

    def snapshot(self, number: int, timestamp: int, *, of_all: bool) -> None:
        """Let functions write what they hold to their state.

        `of_all` is set in epochs that end with a checkpoint. In other epochs, only functions that keep state in attributes
        are asked, because the task may have to be rebuilt from the state of any epoch.
        """
        if self.closed:
            return
        for operator in self.operators.values():
            if of_all or operator.has_function_state:
                operator.snapshot(number, timestamp)

    def tick(self) -> None:
        """Between two runs of records: let state leave memory, and fire due processing-time timers."""
        for operator in self.operators.values():
            operator.context.keyed_state.make_room()
        due = self._next_timer()
        if due is not None and due <= (now := self.head.context.clock.now()):
            for operator in self.operators.values():
                operator.advance_processing_time(now)

    def _next_timer(self) -> int | None:
        timers = [t for o in self.operators.values() if (t := o.next_processing_timer()) is not None]
        return min(timers) if timers else None

    def close(self) -> None:
        """Close every function once, whatever one of them raises."""
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
        """Close functions after the end of input. One that hangs must not hold back their complete output."""
        try:
            self.close()
        except CloseTimeoutError as error:
            self._not_closed = error

    def _choosers(self) -> list[tuple[Operator, Any]]:
        """Return the user's key selectors and partitioners with their owners, each once even if several writers use it."""
        found = {id(chooser): (writer.owner, chooser) for writer in self.writers for chooser in writer.choosers}
        return list(found.values())

    def flush(self) -> None:
        """Send what is left in the buffers of the edges."""
        started = time.perf_counter()
        for writer in self.writers:
            writer.flush()
        self._busy += time.perf_counter() - started

    def report(self, frames_in: int = 0, bytes_in: int = 0) -> VertexReport:
        """Return the results of the epoch. `frames_in` and `bytes_in` came from other tasks."""
        source = self.head if isinstance(self.head, SourceOperator) else None
        not_closed, self._not_closed = self._not_closed, None
        measures = self._meter.measures(self._records_in, self._busy)
        measures = measures._replace(
            frames_in=frames_in, bytes_in=bytes_in, held_back=measures.held_back and not self.ended
        )
        return VertexReport(
            vertex=self.vertex.id,
            subtask=self.subtask,
            records_in=self._records_in,
            records_out=self._meter.records_out(),
            watermark=self.head.watermark,
            idle=self.valve.all_idle if source is None else source.idle,
            next_timer=None if self.ended else self._next_timer(),
            ended=self.ended,
            busy_seconds=self._busy,
            positions=() if source is None else tuple(source.positions()),
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
