"""Window aggregation in two phases: partial results per slice and key before the exchange, merged behind it.

A partial result is a row: the columns of the key, the slice, and the entry [*accumulators, number of rows]. The first
operator keeps nothing when a checkpoint is taken, and sends what it has before a watermark that lets a slice end, so the
second one sees every row in time. Rows that come late are counted where they are dropped: in the second operator.
"""

from __future__ import annotations

from typing import Any

from headrace.graph.table_specs import GlobalWindowAggregate, LocalWindowAggregate
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.aggregates import Aggregates
from headrace.operators.table.base import TableOperator, keys_of, rows_of
from headrace.operators.table.window_aggregate import SlicedWindowOperator
from headrace.operators.table.window_base import RETRACTIONS, Row
from headrace.operators.table.windows import slicing
from headrace.operators.table.zones import Zone
from headrace.state.opaque_key import unwrap_key

_MOST_ENTRIES = 100_000


class LocalWindowOperator(TableOperator):
    """Adds up rows between two watermarks."""

    takes_columns = True

    def __init__(self, spec: LocalWindowAggregate) -> None:
        super().__init__()
        self._spec = spec.final
        self._slicing = slicing(spec.final.window)
        self._zone = Zone("UTC" if spec.final.local else spec.final.time_zone)
        self._aggregates = Aggregates(spec.final.calls)
        self._entries: dict[tuple[int, Any], list[Any]] = {}

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        spec, aggregates, entries = self._spec, self._aggregates, self._entries
        local, slice_of, rows = self._zone.local, self._slicing.slice_of, rows_of(values)
        records = iter(rows)
        try:
            for row, key in zip(records, keys_of(rows, spec.keys)):
                place = slice_of(local(row[spec.time] // 1000)), key
                entry = entries.get(place)
                if entry is None:
                    entry = entries[place] = [*aggregates.create(), 0]
                if spec.kinds and row[-1] in RETRACTIONS:
                    aggregates.retract(entry, row)
                    entry[-1] -= 1
                else:
                    aggregates.add(entry, row)
                    entry[-1] += 1
        except Exception as error:
            raise self.failure(error, rows, records) from error
        if len(entries) >= _MOST_ENTRIES:
            self._send()

    def _send(self) -> None:
        entries, self._entries = self._entries, {}
        single = len(self._spec.keys) == 1
        out: list[Row] = []
        for (start, filed), entry in entries.items():
            key = unwrap_key(filed)
            out.append((key, start, entry) if single else (*key, start, entry))
        self.output.emit(out, None)

    def process_watermark(self, timestamp: int) -> None:
        """Send everything if a slice ends, then pass the watermark on."""
        self.watermark = timestamp
        if self._entries:
            first = min(start for start, _ in self._entries)
            if self._zone.epoch(first + self._slicing.length - 1) <= timestamp:
                self._send()
        self.output.emit_watermark(timestamp)

    def process_idle(self, idle: bool) -> None:
        """Send everything: the receiver may go on without this input."""
        self._send()
        self.output.emit_idle(idle)

    def end_epoch(self) -> None:
        """Send everything: nothing is held when a checkpoint is taken."""
        self._send()

    def finish(self) -> None:
        self._send()


class GlobalWindowOperator(SlicedWindowOperator):
    """Merges partial results into slices."""

    def __init__(self, spec: GlobalWindowAggregate) -> None:
        super().__init__(spec.final)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        rows = rows_of(values)
        if keys is None:
            keys = keys_of(rows, tuple(range(len(self.spec.keys))))
        late = 0
        for row, key in zip(rows, keys):
            start, other = row[-2:]
            entries = self.entries(start)
            if entries is None:
                late += other[-1]
                continue
            entry = entries.get(key)
            if entry is None:
                entries[key] = other
            else:
                self.merge(entry, other)
            self.touch(start, [key])
        self.drop_late(late)


OPERATORS = {LocalWindowAggregate: LocalWindowOperator, GlobalWindowAggregate: GlobalWindowOperator}
