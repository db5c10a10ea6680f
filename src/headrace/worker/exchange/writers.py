"""The output side of an edge: writers that need not look at the records.

Watermarks, idleness and the end of input go to every target that the edge connects this subtask with. Operators call
writers through `Output`; each writer passes its frames to the task's `send`.
"""

from __future__ import annotations

from typing import Any

from headrace.errors import HeadraceError
from headrace.operators.base import Operator
from headrace.operators.output import LatencyMarker, Timestamps, Values
from headrace.operators.table.batches import SMALL
from headrace.types.codecs import AnyCodec, Codec
from headrace.types.column_run import as_columns
from headrace.worker.exchange.buffers import Send, TargetBuffer
from headrace.worker.exchange.frames import CLOCK, END, IDLE, MARKER, RECORDS, WATERMARK


class EdgeWriter:
    """Base: sends marks to all targets, and records to the targets that `route` chooses."""

    choosers: tuple[Any, ...] = ()
    """The user's key selector and partitioner objects, which are opened and closed with the operators."""

    def __init__(self, owner: Operator, targets: list[TargetBuffer]) -> None:
        self.owner = owner
        self.targets = targets
        self.takes_columns = all(target.takes_columns for target in targets)
        self._marked = owner.context.task.subtask

    def begin_epoch(self, epoch: int, attempt: int, send: Send) -> None:
        for target in self.targets:
            target.begin_epoch(attempt, send)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        try:
            self.route(values, timestamps)
        except HeadraceError as error:
            raise self.owner.failure_for(error, None) from error

    def route(self, values: Values, timestamps: Timestamps) -> None:
        """Put every record into its target's buffer. Here: all into the first."""
        _add(self.targets[0], values, timestamps)

    def process_watermark(self, timestamp: int) -> None:
        self._mark((WATERMARK, timestamp))

    def process_idle(self, idle: bool) -> None:
        self._mark((IDLE, idle))

    def process_clock(self, now: int) -> None:
        self._mark((CLOCK, now))

    def process_marker(self, marker: LatencyMarker) -> None:
        """Send a latency marker to the next target in turn: markers are samples."""
        self._marked = (self._marked + 1) % len(self.targets)
        self.targets[self._marked].mark((MARKER, marker))

    def end(self) -> None:
        self._mark((END,))

    def _mark(self, item: tuple[Any, ...]) -> None:
        try:
            for target in self.targets:
                target.mark(item)
        except HeadraceError as error:  # a mark closes the run before it, and a value may have the wrong type
            raise self.owner.failure_for(error, None) from error

    def flush(self) -> None:
        try:
            for target in self.targets:
                target.flush()
        except HeadraceError as error:
            raise self.owner.failure_for(error, None) from error


def _add(target: TargetBuffer, values: Values, timestamps: Timestamps) -> None:
    run = as_columns(values)
    if run is None:
        target.add(values, timestamps, None)
    elif timestamps is None and len(run) >= SMALL:
        target.add_columns(run, None)
    else:
        target.add(run.rows(), timestamps, None)


class LocalWriter(EdgeWriter):
    """A forward edge inside a task: items stay Python objects until the task's next vertex takes them."""

    def __init__(self, owner: Operator, codec: Codec) -> None:
        super().__init__(owner, [])
        self.takes_columns = type(codec) is AnyCodec
        self.items: list[tuple[Any, ...]] = []
        self._coerce = codec.coerce

    def begin_epoch(self, epoch: int, attempt: int, send: Send) -> None:
        self.items = []

    def route(self, values: Values, timestamps: Timestamps) -> None:
        self.items.append((RECORDS, self._coerce(values), timestamps, None))

    def process_marker(self, marker: LatencyMarker) -> None:
        self._mark((MARKER, marker))

    def _mark(self, item: tuple[Any, ...]) -> None:
        self.items.append(item)


class RoundRobinWriter(EdgeWriter):
    """Rebalance and rescale: the targets in turn."""

    def __init__(self, owner: Operator, targets: list[TargetBuffer]) -> None:
        super().__init__(owner, targets)
        self._next: int | None = None

    def begin_epoch(self, epoch: int, attempt: int, send: Send) -> None:
        """Let a new writer start at a target that depends on epoch and subtask, so that small epochs are spread too."""
        super().begin_epoch(epoch, attempt, send)
        if self._next is None:
            self._next = (epoch + self.owner.context.task.subtask) % len(self.targets)

    def route(self, values: Values, timestamps: Timestamps) -> None:
        n = len(self.targets)
        first = self._next or 0
        if as_columns(values) is not None:  # each target gets a part of the run: columns are not dealt out row by row
            size = -(-len(values) // n)
            for i in range(n):
                _add(self.targets[(first + i) % n], values[i * size : (i + 1) * size], timestamps)
            self._next = (first + 1) % n
            return
        for i in range(min(n, len(values))):
            run = values[i::n]
            self.targets[(first + i) % n].add(run, None if timestamps is None else timestamps[i::n], None)
        self._next = (first + len(values)) % n


class BroadcastWriter(EdgeWriter):
    """Every record to every target."""

    def route(self, values: Values, timestamps: Timestamps) -> None:
        for target in self.targets:
            _add(target, values, timestamps)
