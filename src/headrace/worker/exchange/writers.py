"""The output side of an edge: writers that need not look at the records, and buffers that send frames of bounded size.

Watermarks, idleness and the end of input go to every target that the edge connects this subtask with. Operators call
writers through `Output`; each writer passes its frames to the task's `send`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.errors import HeadraceError
from headrace.operators.base import Operator
from headrace.operators.output import LatencyMarker, Timestamps, Values
from headrace.types.codecs import Codec
from headrace.worker.exchange.frames import (
    CLOCK,
    DATA,
    END,
    IDLE,
    MARKER,
    RECORDS,
    WATERMARK,
    Header,
    encode_timestamps,
    pack,
)

RUN_RECORDS = 4_096
"""Records per run: few enough that a batch stays in the processor's caches on its way through a chain."""
FRAME_RECORDS = 16_384
"""Approximate records per frame: a few hundred kilobytes for Spark to move."""

Send = Callable[[int, int, bytes], None]
"""send(level, partition, frame)"""


class TargetBuffer:
    """The records and marks for one downstream subtask of one edge."""

    def __init__(
        self, address: tuple[int, int], edge: int, upstream: int, codec: Codec, key_codec: Codec | None
    ) -> None:
        self.values: Values = []
        self.timestamps: Timestamps = None
        self.keys: list[Any] | None = None
        self._address = address
        self._edge = edge
        self._upstream = upstream
        self._codec = codec
        self._key_codec = key_codec
        self._items: list[tuple[Any, ...]] = []
        self._count = 0
        self._sequence = 0
        self._attempt = 0
        self.sent_bytes = 0
        self.sent_frames = 0
        self._send: Send

    def begin_epoch(self, attempt: int, send: Send) -> None:
        """Discard leftovers and restart the numbering of frames."""
        self.values, self.timestamps, self.keys = [], None, None
        self._items, self._count, self._sequence = [], 0, 0
        self.sent_bytes, self.sent_frames = 0, 0
        self._attempt = attempt
        self._send = send

    def add(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Append a run of records; send full frames."""
        if (self.timestamps is None) != (timestamps is None) and self.values:
            self._close_run()
        if not self.values:
            self.timestamps = None if timestamps is None else []
            self.keys = None if keys is None else []
        self.values += values
        if timestamps is not None and self.timestamps is not None:
            self.timestamps += timestamps
        if keys is not None and self.keys is not None:
            self.keys += keys
        if len(self.values) >= RUN_RECORDS:
            self._close_run()

    def mark(self, item: tuple[Any, ...]) -> None:
        """Append a watermark, idleness or the end. A watermark replaces the one just before it, except for the final MAX."""
        self._close_run()
        items = self._items
        if item[0] == WATERMARK and item[1] != MAX_WATERMARK and items and items[-1][0] == WATERMARK:
            items[-1] = item
        else:
            items.append(item)

    def flush(self) -> None:
        self._close_run()
        if self._items:
            self._cut()

    def _close_run(self) -> None:
        if self.values:
            keys = self.keys
            encoded_keys = keys if keys is None or self._key_codec is None else self._key_codec.encode(keys)
            run = (RECORDS, self._codec.encode(self.values), encode_timestamps(self.timestamps), encoded_keys)
            self._items.append(run)
            self._count += len(self.values)
            self.values, self.timestamps, self.keys = [], None, None
            if self._count >= FRAME_RECORDS:  # here, because watermarks close runs too
                self._cut()

    def _cut(self) -> None:
        level, partition = self._address
        header = Header(DATA, level, partition, self._edge, self._upstream, self._sequence, self._attempt)
        frame = pack(header, self._items)
        self.sent_bytes += len(frame)
        self.sent_frames += 1
        self._send(level, partition, frame)
        self._items, self._count = [], 0
        self._sequence += 1


class EdgeWriter:
    """Base: sends marks to all targets, and records to the targets that `route` chooses."""

    choosers: tuple[Any, ...] = ()
    """The user's key selector and partitioner objects, which are opened and closed with the operators."""

    def __init__(self, owner: Operator, targets: list[TargetBuffer]) -> None:
        self.owner = owner
        self.targets = targets
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
        self.targets[0].add(values, timestamps, None)

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


class LocalWriter(EdgeWriter):
    """A forward edge inside a task: items stay Python objects until the task's next vertex takes them."""

    def __init__(self, owner: Operator, codec: Codec) -> None:
        super().__init__(owner, [])
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
        for i in range(min(n, len(values))):
            run = values[i::n]
            self.targets[(first + i) % n].add(run, None if timestamps is None else timestamps[i::n], None)
        self._next = (first + len(values)) % n


class BroadcastWriter(EdgeWriter):
    """Every record to every target."""

    def route(self, values: Values, timestamps: Timestamps) -> None:
        for target in self.targets:
            target.add(values, timestamps, None)
