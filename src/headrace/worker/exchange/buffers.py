"""Buffers for the targets of an edge: collect records in runs between watermarks, and send frames of bounded size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.graph.table_specs import TableKey
from headrace.operators.output import Timestamps, Values
from headrace.types.codecs import AnyCodec, Codec
from headrace.types.column_run import ColumnRun
from headrace.worker.exchange.frames import DATA, RECORDS, WATERMARK, Header, encode_timestamps, pack

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
        self.takes_columns = type(codec) is AnyCodec  # a declared type is that of rows
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

    def add_columns(self, run: ColumnRun, key: TableKey | None) -> None:
        """Append a run of columns, which stay columns; `key` tells the receiver what the keys are."""
        self._close_run()
        self._items.append((RECORDS, run, None, key))
        self._counted(len(run))

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
        """Send what is left."""
        self._close_run()
        if self._items:
            self._cut()

    def _close_run(self) -> None:
        if self.values:
            keys = self.keys
            encoded_keys = keys if keys is None or self._key_codec is None else self._key_codec.encode(keys)
            run = (RECORDS, self._codec.encode(self.values), encode_timestamps(self.timestamps), encoded_keys)
            self._items.append(run)
            count = len(self.values)
            self.values, self.timestamps, self.keys = [], None, None
            self._counted(count)

    def _counted(self, count: int) -> None:
        self._count += count
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
