"""Pass an operator's results to chained operators and to the edges that leave the task. Called by operators only.

Lists are passed by reference; receivers never change them. Counts and times of consumers are taken per run of records, never
per record.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple, Protocol

from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.types.column_run import as_columns

Values = list[Any]
"""Records in order; or a `ColumnRun`, which acts like a list, for a consumer with `takes_columns`."""
Timestamps = list[int | None] | None


class LatencyMarker(NamedTuple):
    """Leaves a source with the wall-clock time, so that every operator that it passes can measure the latency."""

    source_id: str
    source_subtask: int
    emitted_ms: int


class Consumer(Protocol):
    """The receiving end of a stream inside a task: a chained operator or the writer of an edge."""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Process a run of records. `timestamps` is None if no record has one; `keys` is set only after a keyed exchange."""
        ...

    def process_watermark(self, timestamp: int) -> None:
        """Advance event time to `timestamp`."""
        ...

    def process_idle(self, idle: bool) -> None:
        """Mark the stream as idle, or as active again."""
        ...

    def process_clock(self, now: int) -> None:
        """Advance an injected clock (tests only)."""
        ...

    def process_marker(self, marker: LatencyMarker) -> None:
        """Take a latency marker."""
        ...


class Output:
    """Passes the results of one operator to its consumers; side outputs by tag id."""

    def __init__(self) -> None:
        self.main: list[Consumer] = []
        self.sides: dict[str, list[Consumer]] = {}
        self.records = 0
        self.side_records: dict[str, int] = {}
        self.watermark = MIN_TIMESTAMP
        self.spent: dict[int, float] = {}
        """Seconds that each consumer (by its `id`) took in this epoch, including those after it."""

    def emit(self, values: Values, timestamps: Timestamps, keys: list[Any] | None = None) -> None:
        """Pass a run of records to the main consumers, with their keys if the operator already computed them."""
        if values:
            self.records += len(values)
            run = as_columns(values)
            for consumer in self.main:
                began = perf_counter()
                if run is None or getattr(consumer, "takes_columns", False):
                    consumer.process_batch(values, timestamps, keys)
                else:
                    consumer.process_batch(run.rows(), timestamps, keys)
                self._took(consumer, began)

    def emit_side(self, tag_id: str, values: Values, timestamps: Timestamps) -> None:
        """Pass records to the consumers of a side output. Drop them if there are none, like Flink."""
        if values:
            self.side_records[tag_id] = self.side_records.get(tag_id, 0) + len(values)
            for consumer in self.sides.get(tag_id, ()):
                began = perf_counter()
                consumer.process_batch(values, timestamps, None)
                self._took(consumer, began)

    def emit_watermark(self, timestamp: int) -> None:
        """Pass a watermark to all consumers, including those of side outputs."""
        self.watermark = timestamp
        for consumer in self._all():
            began = perf_counter()
            consumer.process_watermark(timestamp)
            self._took(consumer, began)

    def emit_idle(self, idle: bool) -> None:
        for consumer in self._all():
            consumer.process_idle(idle)

    def emit_clock(self, now: int) -> None:
        for consumer in self._all():
            consumer.process_clock(now)

    def emit_marker(self, marker: LatencyMarker) -> None:
        for consumer in self._all():
            consumer.process_marker(marker)

    def begin_epoch(self) -> None:
        """Reset the counts."""
        self.records = 0
        self.side_records = {}
        self.spent = {}

    @property
    def emitted(self) -> int:
        """Return how many records were emitted in this epoch, including side outputs; consumers do not multiply them."""
        return self.records + sum(self.side_records.values())

    @property
    def seconds(self) -> float:
        """Return how long all consumers took in this epoch."""
        return sum(self.spent.values())

    def _took(self, consumer: Consumer, began: float) -> None:
        key = id(consumer)
        self.spent[key] = self.spent.get(key, 0.0) + perf_counter() - began

    def _all(self) -> list[Consumer]:
        return [*self.main, *(c for side in self.sides.values() for c in side)]
