"""The first or the last row of each key, by a time attribute.

Decides which rows are emitted, and with which kinds. By processing time the first row is the one that arrives first, and
nothing follows; the last row is replaced by each row that differs from it. By event time the last row is replaced by rows
that are not older. The first row is emitted once, when the watermark reaches its time; if the consumer takes updates, it is
emitted at once and replaced by older rows.
"""

from __future__ import annotations

from typing import Any

from headrace.graph.table_sort_specs import Deduplicate
from headrace.graph.table_specs import TableKey
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.keyed import (
    AS_INSERT,
    AS_UPDATE_AFTER,
    AS_UPDATE_BEFORE,
    KeyedTableOperator,
    Row,
    value_state,
)


class DeduplicateOperator(KeyedTableOperator):
    """The operator of `Deduplicate`, except for first rows by event time without updates."""

    def __init__(self, spec: Deduplicate) -> None:
        super().__init__()
        self.spec = spec
        self.selector = TableKey(spec.keys)

    def open(self) -> None:
        """Get the state: the row of each key."""
        self.backend = self.context.keyed_state
        self.kept = value_state(self.backend, "row", self.spec.ttl)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        backend, kinds = self.backend, self.spec.kinds
        results: Values = []
        for record, key in zip(values, backend.in_turn(self.keys_of(self.selector, values, keys))):
            backend.key = key
            self.take(record[:-1] if kinds else record, key, results)
        self.emit(results)

    def take(self, row: Row, key: Any, results: Values) -> None:
        """Process a row of the current key."""
        spec = self.spec
        before = self.kept.value()
        if before is None:
            self.kept.update(row)
            results.append(row + AS_INSERT if spec.emits_kinds else row)
        elif self._replaces(row, before):
            self.kept.update(row)
            if spec.update_before:
                results.append(before + AS_UPDATE_BEFORE)
            results.append(row + AS_UPDATE_AFTER)

    def _replaces(self, row: Row, before: Row) -> bool:
        spec = self.spec
        if not spec.event_time:
            return spec.keep_last and (spec.ttl > 0 or row != before)
        assert spec.time is not None
        old, new = before[spec.time], row[spec.time]
        return bool(old <= new if spec.keep_last else new < old)


class FirstRowByEventTimeOperator(DeduplicateOperator):
    """The first row by event time, emitted once. The state is [row, whether it was emitted]."""

    def take(self, row: Row, key: Any, results: Values) -> None:
        time = self._time(row)
        if time <= self.watermark:
            self.drop_late(1)
            return
        state = self.kept.value()
        if state is None or (not state[1] and time < self._time(state[0])):
            self.kept.update((row, False))
            self.context.event_timers.register(time, key)

    def _time(self, row: Row) -> int:
        assert self.spec.time is not None
        return int(row[self.spec.time] // 1000)

    def process_watermark(self, timestamp: int) -> None:
        """Emit the rows whose time has come, then forward the watermark."""
        timers = self.context.event_timers
        results: Values = []
        due = timers.pop_due(timestamp)
        while due is not None:
            time, self.backend.key, _ = due
            state = self.kept.value()
            if state is not None and not state[1] and self._time(state[0]) == time:
                results.append(state[0] + AS_INSERT if self.spec.emits_kinds else state[0])
                self.kept.update((state[0], True))
            due = timers.pop_due(timestamp)
        self.emit(results)
        super().process_watermark(timestamp)


def deduplicate(spec: Deduplicate) -> KeyedTableOperator:
    """Return the operator for a deduplication."""
    first_by_event_time = spec.event_time and not spec.keep_last and not spec.emits_kinds
    return FirstRowByEventTimeOperator(spec) if first_by_event_time else DeduplicateOperator(spec)
