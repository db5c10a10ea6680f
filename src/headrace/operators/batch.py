"""Batch mode in front of a vertex: keyed input is buffered until the end, then replayed key by key, in timestamp order.

So a keyed function sees all records of one key before the next key, and its timers fire at the end of the key (processing
time timers too, whatever the clock says), like in Flink's batch execution. Input without keys passes through, except for
elements beside a broadcast stream: they wait until all of that stream was read. Watermarks before the end are dropped.
"""

from __future__ import annotations

from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK, MIN_TIMESTAMP
from headrace.operators.base import Operator
from headrace.operators.broadcast import BroadcastProcessOperator
from headrace.operators.output import LatencyMarker, Output, Timestamps, Values

_Record = tuple[int, int, Any, "int | None"]


class GroupedInput:
    """Collects keyed records of both inputs of `operator` and replays them at the end."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self.takes_columns = operator.takes_columns and not operator.grouped_in_batch
        self._keys: dict[Any, list[_Record]] = {}
        self._beside_broadcast = isinstance(operator, BroadcastProcessOperator)
        self._waiting: list[tuple[Values, Timestamps]] = []

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        if not self._operator.grouped_in_batch:
            self._operator.process_batch(values, timestamps, keys)
        elif keys is None and self._beside_broadcast:
            self._waiting.append((values, timestamps))
        elif keys is None:
            self._operator.process_batch(values, timestamps, None)
        else:
            self._collect(0, values, timestamps, keys)

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        if keys is None or not self._operator.grouped_in_batch:
            self._operator.process_batch2(values, timestamps, keys)
        else:
            self._collect(1, values, timestamps, keys)

    def process_idle(self, idle: bool) -> None:
        """Ignore idleness, which has no meaning in batch mode."""

    def process_clock(self, now: int) -> None:
        self._operator.process_clock(now)

    def process_marker(self, marker: LatencyMarker) -> None:
        """Ignore latency markers, which have no meaning in batch mode."""

    def process_watermark(self, timestamp: int) -> None:
        """At the end, replay all keys, then end event time."""
        if timestamp != MAX_WATERMARK:
            return
        operator, real = self._operator, self._operator.output
        for values, timestamps in self._waiting:
            operator.process_batch(values, timestamps, None)
        self._waiting.clear()
        for key in self._ordered():
            self._play(key, self._keys.pop(key))
            operator.output = _WithoutMarks(real)
            operator.process_watermark(MAX_WATERMARK)
            operator.advance_processing_time(MAX_WATERMARK)
            real.records += operator.output.records
            operator.output = real
            operator.watermark = MIN_TIMESTAMP
        operator.process_watermark(MAX_WATERMARK)

    def _collect(self, number: int, values: Values, timestamps: Timestamps, keys: list[Any]) -> None:
        by_key = self._keys
        stamps = timestamps if timestamps is not None else [None] * len(values)
        for key, value, stamp in zip(keys, values, stamps):
            record = (MIN_TIMESTAMP if stamp is None else stamp, number, value, stamp)
            if key in by_key:
                by_key[key].append(record)
            else:
                by_key[key] = [record]

    def _ordered(self) -> list[Any]:
        """Return the keys sorted if they can be compared, otherwise in order of arrival."""
        try:
            return sorted(self._keys)
        except TypeError:
            return list(self._keys)

    def _play(self, key: Any, records: list[_Record]) -> None:
        records.sort(key=lambda r: (r[0], r[1]))
        start = 0
        for end in range(1, len(records) + 1):
            if end == len(records) or records[end][1] != records[start][1]:
                run = records[start:end]
                values = [r[2] for r in run]
                times = [r[3] for r in run]
                stamps = None if all(t is None for t in times) else times
                call = self._operator.process_batch if run[0][1] == 0 else self._operator.process_batch2
                call(values, stamps, [key] * len(values))
                start = end


class _WithoutMarks(Output):
    """An output that drops watermarks."""

    def __init__(self, real: Output) -> None:
        super().__init__()
        self.main, self.sides = real.main, real.sides
        self.side_records, self.spent = real.side_records, real.spent

    def emit_watermark(self, timestamp: int) -> None:
        """Drop it."""
