"""Where an operator's results go: to chained operators and to the edges that leave the task.

Lists are handed on by reference and are never changed by a receiver. Called by operators only.

What is counted here is counted per run of records, never per record: how many there were, and how long each consumer took.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple, Protocol

from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.types.column_run import as_columns

Values = list[Any]
"""Records in order; or a `ColumnRun`, which reads as one, for a consumer that says `takes_columns`."""
Timestamps = list[int | None] | None


class LatencyMarker(NamedTuple):
    """Leaves a source at a moment of the wall clock, and tells every operator that it passes how long it took."""

    source_id: str
    source_subtask: int
    emitted_ms: int


class Consumer(Protocol):
    """The receiving end of a stream inside a task: a chained operator or the writer of an edge."""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """A run of records; `timestamps` is None if no record has one, `keys` only after a keyed exchange."""
        ...

    def process_watermark(self, timestamp: int) -> None:
        """Event time has reached `timestamp`."""
        ...

    def process_idle(self, idle: bool) -> None:
        """The stream has become idle, or active again."""
        ...

    def process_clock(self, now: int) -> None:
        """An injected clock has moved (tests only)."""
        ...

    def process_marker(self, marker: LatencyMarker) -> None:
        """A latency marker passes."""
        ...


class Output:
    """Fans the results of one operator out to its consumers; side outputs by tag id."""

    def __init__(self) -> None:
        self.main: list[Consumer] = []
        self.sides: dict[str, list[Consumer]] = {}
        self.records = 0
        self.side_records: dict[str, int] = {}
        self.watermark = MIN_TIMESTAMP
        self.spent: dict[int, float] = {}
        """Seconds that each consumer (by its `id`) took in this epoch, those after it included."""

    def emit(self, values: Values, timestamps: Timestamps, keys: list[Any] | None = None) -> None:
        """Hands a run of records to the main consumers; with their keys, if the operator has taken them already."""
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
        """Hands records to the consumers of a side output; without any they are dropped, as in Flink."""
        if values:
            self.side_records[tag_id] = self.side_records.get(tag_id, 0) + len(values)
            for consumer in self.sides.get(tag_id, ()):
                began = perf_counter()
                consumer.process_batch(values, timestamps, None)
                self._took(consumer, began)

    def emit_watermark(self, timestamp: int) -> None:
        """Watermarks go to all consumers, those of side outputs too."""
        self.watermark = timestamp
        for consumer in self._all():
            began = perf_counter()
            consumer.process_watermark(timestamp)
            self._took(consumer, began)

    def emit_idle(self, idle: bool) -> None:
        """Idleness goes to all consumers."""
        for consumer in self._all():
            consumer.process_idle(idle)

    def emit_clock(self, now: int) -> None:
        """Moves of an injected clock go to all consumers."""
        for consumer in self._all():
            consumer.process_clock(now)

    def emit_marker(self, marker: LatencyMarker) -> None:
        """A latency marker goes to all consumers that take it."""
        for consumer in self._all():
            consumer.process_marker(marker)

    def begin_epoch(self) -> None:
        """Counts from zero again."""
        self.records = 0
        self.side_records = {}
        self.spent = {}

    @property
    def emitted(self) -> int:
        """Records that were emitted in this epoch, to side outputs too; each once, however many consumers there are."""
        return self.records + sum(self.side_records.values())

    @property
    def seconds(self) -> float:
        """How long all consumers took in this epoch."""
        return sum(self.spent.values())

    def _took(self, consumer: Consumer, began: float) -> None:
        key = id(consumer)
        self.spent[key] = self.spent.get(key, 0.0) + perf_counter() - began

    def _all(self) -> list[Consumer]:
        return [*self.main, *(c for side in self.sides.values() for c in side)]
