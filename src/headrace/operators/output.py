"""Pass an operator's results to chained operators and to the edges that leave the task. Called by operators only.

Lists are passed by reference; receivers never change them. Counts and times of consumers are taken per run of records, never
per record. Results of user functions (None, a list, a generator, ...) become runs of records with timestamps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from headrace.common.output_tag import OutputTag
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

    def process_marker(self, marker: LatencyMarker) -> None: ...


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


def expand(
    call: Callable[[Any], Any], records: Iterator[Any], timestamps: Timestamps, keys: list[Any] | None, backend: Any
) -> tuple[Values, Timestamps]:
    """Return the results of `call(record)`, each with its record's timestamp. Set `backend.key` if there is a backend.

    >>> expand(lambda v: v * [v], iter([1, 0, 2]), [10, 20, 30], None, None)
    ([1, 2, 2], [10, 30, 30])
    """
    results: Values
    if timestamps and timestamps[0] == timestamps[-1] and timestamps.count(timestamps[0]) == len(timestamps):
        results, _ = expand(call, records, None, keys, backend)  # the results of one window: one timestamp for all
        return results, timestamps[:1] * len(results)
    results = []
    extend = results.extend
    if backend is None:
        if timestamps is None:
            for v in records:
                r = call(v)
                if r is not None:
                    extend(r)
            return results, None
        times: list[int | None] = []
        for t, v in zip(timestamps, records):
            r = call(v)
            if r is not None:
                extend(r)
                times.extend([t] * (len(results) - len(times)))
        return results, times
    assert keys is not None
    turns = backend.in_turn(keys)
    if timestamps is None:
        for backend.key, v in zip(turns, records):
            r = call(v)
            if r is not None:
                extend(r)
        return results, None
    times = []
    for backend.key, t, v in zip(turns, timestamps, records):
        r = call(v)
        if r is not None:
            extend(r)
            times.extend([t] * (len(results) - len(times)))
    return results, times


def emit_tagged(output: Output, results: Values, times: Timestamps) -> None:
    """Emit results of a process function; send `(OutputTag, value)` pairs to their side outputs.

    The main output and each side output keep their order.
    """
    if not OutputTag.in_use or not any(type(r) is tuple and r and isinstance(r[0], OutputTag) for r in results):
        output.emit(results, times)
        return
    main: tuple[Values, list[int | None]] = ([], [])
    sides: dict[str, tuple[Values, list[int | None]]] = {}
    stamps = times if times is not None else [None] * len(results)
    for value, stamp in zip(results, stamps):
        if type(value) is tuple and value and isinstance(value[0], OutputTag):
            run = sides.setdefault(value[0].tag_id, ([], []))
            run[0].append(value[1])
        else:
            run = main
            run[0].append(value)
        run[1].append(stamp)
    output.emit(main[0], main[1] if times is not None else None)
    for tag_id, (values, side_times) in sides.items():
        output.emit_side(tag_id, values, side_times if times is not None else None)
