"""The source operator: reads the splits of one subtask within an epoch's budget.

1. `assign` hands it splits with the positions to start at (from the driver).
2. `read` reads them in turn, at most `records` in all and not beyond the deadline; event time is per split, the stream's
   watermark is the minimum over the splits that are not idle.
3. `positions` goes to the driver with the acknowledgement.

The source of an iteration emits what reached the last operator of the loop in the previous epoch. It is idle from the start,
so event time in the loop follows the records from outside, like in Flink: watermarks do not circulate.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK, MIN_TIMESTAMP, WatermarkStrategy
from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split
from headrace.connectors.base.split_reader import Batch, ReaderContext, SplitReader
from headrace.connectors.feedback import FeedbackSource, Returned
from headrace.errors import BadRecordError, HeadraceError, shortened
from headrace.operators.base import Operator, Place
from headrace.operators.context import TaskRuntimeContext
from headrace.operators.event_time import EventTime
from headrace.operators.output import LatencyMarker, Timestamps, Values
from headrace.types.codecs import codec_for
from headrace.types.typeinfo import TypeInformation

CHUNK = 4096


@dataclass(frozen=True)
class ReadBudget:
    """How much one source subtask may read in an epoch."""

    records: int
    seconds: float | None = None
    watermark_limit: int | None = None
    """With watermark alignment: splits whose watermark is beyond this are not read."""
    more_splits: bool = False
    """Whether more splits will be assigned."""


@dataclass(frozen=True)
class SplitPosition:
    """How far a split has been read."""

    split: Split
    position: Any = None
    finished: bool = False
    subtask: int | None = None
    """The subtask that had the split at a checkpoint; None otherwise."""


class _OpenSplit:
    """A split being read."""

    def __init__(self, split: Split, reader: SplitReader, event_time: EventTime) -> None:
        self.split, self.reader, self.time = split, reader, event_time


class SourceOperator(Operator):
    """The head of a source vertex."""

    def __init__(self, source: Source, strategy: WatermarkStrategy) -> None:
        super().__init__()
        self._source = source
        self._strategy = strategy
        self._open: dict[str, _OpenSplit] = {}
        self._finished: dict[str, SplitPosition] = {}
        self._shared: dict[Any, Any] = {}
        self._said_idle = False
        self._without_splits_since: int | None = None
        self._more_splits = False
        self.records = 0
        self.held_back = False
        """Whether the last `read` ended because of its budget: there may be more to read."""
        self.waited = 0.0
        """Seconds of the last `read` in which there was nothing to read."""
        self.event_timestamp: int | None = None
        """Event time of the last record of the last batch."""
        self._next_marker = 0
        self.tick: Callable[[], None] = lambda: None
        """Called between batches: lets the task fire processing-time timers."""

    def user_functions(self) -> Sequence[Any]:
        return self._source.functions()

    def open(self) -> None:
        """Give functions their state, and restore what was sent downstream."""
        self.initialize_functions()
        self._said_idle = self.context.facts.get("idle", False)

    def assign(self, positions: list[SplitPosition]) -> None:
        """Open readers for splits that are not open yet."""
        task = self.context.task
        for p in positions:
            if p.split.id in self._open or p.split.id in self._finished:
                continue
            if p.finished:
                self._finished[p.split.id] = p
                continue
            context = ReaderContext(
                task.subtask,
                task.parallelism,
                task.attempt,
                self.context.epoch.durable,
                TaskRuntimeContext(self.context, keyed=False),
                self._shared,
            )
            reader = self.guarded(self._source.open_reader, p.split, p.position, context)
            event_time = EventTime(
                self._strategy,
                task.watermark_records,
                self.context.clock.now(),
                self.output.emit,
                self._changed,
                self.failure_for,
                batch=task.batch,
            )
            facts = self.context.facts.get(f"split:{p.split.id}")
            if facts is not None:
                event_time.restore(facts)
            self._open[p.split.id] = _OpenSplit(p.split, reader, event_time)
        self.watermark = max(self.watermark, self.context.facts.get("watermark", MIN_TIMESTAMP))

    @property
    def idle(self) -> bool:
        """Whether all splits of this subtask are idle."""
        return self._said_idle

    @property
    def exhausted(self) -> bool:
        """Whether this subtask has nothing left to read."""
        ends = self._source.bounded or self._source.may_finish
        return ends and not self._open and not self._more_splits

    def read(self, budget: ReadBudget) -> None:
        self._more_splits = budget.more_splits
        remaining = budget.records
        deadline = None if budget.seconds is None else time.monotonic() + budget.seconds
        chunk = self._source.batch_records
        if budget.watermark_limit is not None:
            chunk = min(chunk, self.context.task.watermark_records)
        progress = True
        paused: set[str] = set()
        self.held_back, self.waited = False, 0.0
        while progress and remaining > 0:
            progress = False
            for part in list(self._open.values()):
                if budget.watermark_limit is not None and part.time.watermark > budget.watermark_limit:
                    continue
                if part.split.id in paused:
                    continue
                batch = self._read_one(part, min(chunk, remaining))
                if batch.pause:
                    paused.add(part.split.id)
                if batch.more:
                    progress = True
                if count := len(batch.values) + len(batch.dead_letters):
                    progress = True
                    remaining -= count
                    self.records += count
                if part.reader.finished:
                    progress = True
                    self._finish(part)
                self.tick()
                if remaining <= 0 or (deadline is not None and time.monotonic() >= deadline):
                    progress, self.held_back = False, bool(self._open)
                    break
        for part in list(self._open.values()):
            self._settle(part)

    def _settle(self, part: _OpenSplit) -> None:
        """Emit what a reader must not keep beyond the epoch."""
        for batch in part.reader.settle():
            self.records += len(batch.values) + len(batch.dead_letters)
            self._emit(part, batch)
            self.tick()

    def _read_one(self, part: _OpenSplit, limit: int) -> Batch:
        now = self.context.clock.now()
        if self.context.task.latency_interval_ms:
            self._mark_latency()
        began = time.perf_counter()
        try:
            batch = part.reader.read(limit, now)
        except HeadraceError:
            raise
        except Exception as error:
            where = Place(f"split {part.split.id!r} at {part.reader.position()!r}")
            raise self.failure_for(error, where) from error
        if not batch.values:
            self.waited += time.perf_counter() - began
        self._emit(part, batch)
        return batch

    def _mark_latency(self) -> None:
        """Send a latency marker if one is due. It has the time of the wall clock, whatever clock the job has."""
        now = time.time_ns() // 1_000_000
        if now >= self._next_marker and not self.context.task.batch:
            self._next_marker = now + self.context.task.latency_interval_ms
            self.output.emit_marker(LatencyMarker(self.context.operator_id, self.context.task.subtask, now))

    def _emit(self, part: _OpenSplit, batch: Batch) -> None:
        part.time.feed(batch.values, batch.timestamps)
        if batch.dead_letters:
            self._set_aside(list(batch.dead_letters))
        if batch.values and part.time.last_timestamp is not None:
            self.event_timestamp = part.time.last_timestamp
        if batch.clock is not None:
            self.process_clock(batch.clock)
        if batch.watermark is not None:
            part.time.raise_to(batch.watermark)
        if batch.idle is not None:
            part.time.set_idle(batch.idle)

    def _set_aside(self, bad: list[Any]) -> None:
        tag = self._source.dead_letters
        if tag is None or not self.output.sides.get(tag):
            raise BadRecordError(
                f"A record cannot be read, and nobody takes the dead letters: {bad[0]}",
                seen=shortened(bad[0].value),
                remedy=f"read them with get_side_output(OutputTag({tag!r}))",
            )
        self.output.emit_side(tag, bad, None)

    def _finish(self, part: _OpenSplit) -> None:
        part.time.end()
        position = SplitPosition(part.split, part.reader.position(), finished=True)
        part.reader.close()
        del self._open[part.split.id]
        self._finished[part.split.id] = position
        self._changed()

    def end_epoch(self) -> None:
        """Emit the epoch's last watermarks and save event time."""
        now = self.context.clock.now()
        facts = self.context.facts
        for part in self._open.values():
            part.time.end_epoch(now)
            facts[f"split:{part.split.id}"] = part.time.snapshot()
        self._wait_for_splits(now)
        facts["watermark"], facts["idle"] = self.watermark, self._said_idle

    def _wait_for_splits(self, now: int) -> None:
        """Become idle, as Flink does, when the strategy's idle timeout has passed without any split to read."""
        if self._open:
            self._without_splits_since = None
            return
        if self._without_splits_since is None:
            self._without_splits_since = now
        timeout = self._strategy.idle_timeout_ms
        waits = timeout is not None and now - self._without_splits_since >= timeout
        if waits and not self._said_idle and not self.context.task.batch:
            self._said_idle = True
            self.output.emit_idle(True)

    def positions(self) -> list[SplitPosition]:
        """Return the position of every split."""
        going = [SplitPosition(p.split, p.reader.position()) for p in self._open.values()]
        return [*going, *self._finished.values()]

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        super().notify_checkpoint_complete(checkpoint_id)
        for part in self._open.values():
            part.reader.notify_checkpoint_complete(checkpoint_id)

    def close(self) -> None:
        for part in self._open.values():
            part.reader.close()
        self._open.clear()

    def _changed(self) -> None:
        """Update the stream's watermark and idleness: the minimum over the active splits."""
        if self.context.task.batch:
            return
        active = [p.time for p in self._open.values() if not p.time.idle]
        idle = not active and bool(self._open)
        lowest = min((t.watermark for t in active), default=MIN_TIMESTAMP)
        if idle and not self._said_idle:
            lowest = max(p.time.watermark for p in self._open.values())
        if self._said_idle and not idle:
            self._said_idle = False
            self.output.emit_idle(False)
        if MIN_TIMESTAMP < lowest < MAX_WATERMARK and lowest > self.watermark:
            self.watermark = lowest
            self.output.emit_watermark(lowest)
        if idle and not self._said_idle:
            self._said_idle = True
            self.output.emit_idle(True)


Run = tuple[Values, Timestamps]


class FeedbackSourceOperator(SourceOperator):
    """Emits the runs of records in the driver's order. Ends when the order says that no more can come."""

    def __init__(self, source: FeedbackSource) -> None:
        super().__init__(source, WatermarkStrategy.no_watermarks())
        self._max_wait = source.max_wait_millis
        self._quiet_since: int | None = None
        self._runs: list[Run] = []
        self._over = False

    def assign(self, positions: list[SplitPosition]) -> None:
        (order,) = positions
        returned = order.position or Returned([])
        self._runs, self._over = returned.runs, order.finished or self._waited_enough(returned.quiet)

    def _waited_enough(self, quiet: bool) -> bool:
        """Return whether nothing has come back for the maximum wait time."""
        if not quiet:
            self._quiet_since = None
            return False
        now = self.context.clock.now()
        if self._quiet_since is None:
            self._quiet_since = now
        return 0 < self._max_wait <= now - self._quiet_since

    @property
    def exhausted(self) -> bool:
        """Return whether nothing can come back any more."""
        return self._over

    def read(self, budget: ReadBudget) -> None:
        """Emit everything that came back. The budget does not apply: it was counted when it was first read."""
        if not self._said_idle:
            self._said_idle = True
            self.output.emit_idle(True)
        runs, self._runs = self._runs, []
        for values, timestamps in runs:
            self.records += len(values)
            self.output.emit(values, timestamps)
            self.tick()

    def positions(self) -> list[SplitPosition]:
        """Return none: the driver knows what came back."""
        return []


class FeedbackSinkOperator(Operator):
    """Keeps records for the driver."""

    def __init__(self, feedback_id: str, input_type: TypeInformation | None) -> None:
        super().__init__()
        self.feedback_id = feedback_id
        self._coerce = codec_for(input_type).coerce
        self._runs: list[Run] = []

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        try:
            self._runs.append((self._coerce(values), timestamps))
        except Exception as error:
            raise self.failure(error, values, None) from error

    def take(self) -> list[Run]:
        """Return the runs of this epoch."""
        runs, self._runs = self._runs, []
        return runs
