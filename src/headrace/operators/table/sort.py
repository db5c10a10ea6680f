"""Sort and limit: by time as it passes, of a bounded input at its end, or simply the first rows."""

from __future__ import annotations

from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.graph.table_sort_specs import Limit, Sort, TemporalSort
from headrace.graph.table_specs import DELETE, UPDATE_BEFORE, TableKey
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.keyed import AS_INSERT, KeyedTableOperator, map_state, value_state
from headrace.operators.table.ordering import sort_rows

_ALL = TableKey(())
_SLACK = 1000


class _SortOfAll(KeyedTableOperator):
    """Base: all rows have the same key."""

    def key_all(self, values: Values, keys: list[Any] | None) -> None:
        """Make the only key the current one."""
        self.context.keyed_state.key = self.keys_of(_ALL, values[:1], keys)[0]


class EventTimeSortOperator(_SortOfAll):
    """Emits rows when the watermark reaches their time; rows of one time in the order of the other columns.

    Like in Flink, a row is dropped if rows with its time or a later one were emitted before.
    """

    def __init__(self, spec: TemporalSort) -> None:
        super().__init__()
        self._spec = spec
        self._others = tuple(order for order in spec.order_by if order.column != spec.time)

    def open(self) -> None:
        """Get the states: rows by time, and the time of the last results."""
        self._rows = map_state(self.context.keyed_state, "rows")
        self._last = value_state(self.context.keyed_state, "last")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self.key_all(values, keys)
        last, column, timers = self._last.value(), self._spec.time, self.context.event_timers
        by_time: dict[int, Values] = {}
        late = 0
        for row in values:
            time = row[column] // 1000
            if last is not None and time <= last:
                late += 1
            else:
                by_time.setdefault(time, []).append(row)
        for time, rows in by_time.items():
            present = self._rows.get(time)
            if present is None:
                timers.register(time, self.context.keyed_state.key)
            self._rows.put(time, rows if present is None else present + rows)
        self.drop_late(late)

    def process_watermark(self, timestamp: int) -> None:
        """Emit the rows whose time has come, then forward the watermark."""
        timers = self.context.event_timers
        results: Values = []
        due = timers.pop_due(timestamp)
        while due is not None:
            time, self.context.keyed_state.key, _ = due
            results += sort_rows(self._rows.get(time) or [], self._others)
            self._rows.remove(time)
            self._last.update(time)
            due = timers.pop_due(timestamp)
        self.emit(results)
        super().process_watermark(timestamp)


class ProcessingTimeSortOperator(_SortOfAll):
    """Emits rows in the order of the other columns when the clock has passed their millisecond."""

    def __init__(self, spec: TemporalSort) -> None:
        super().__init__()
        self._others = tuple(order for order in spec.order_by if order.column != spec.time)

    def open(self) -> None:
        """Get the state."""
        self._rows = value_state(self.context.keyed_state, "rows")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        if not self._others:
            self.emit(values)
            return
        self.key_all(values, keys)
        self._rows.update([*(self._rows.value() or []), *values])
        self.context.processing_timers.register(self.context.clock.now() + 1, self.context.keyed_state.key)

    def advance_processing_time(self, now: int) -> None:
        timers = self.context.processing_timers
        due = timers.pop_due(now)
        while due is not None:
            _, self.context.keyed_state.key, _ = due
            rows = self._rows.value() or []
            self._rows.clear()
            self.emit(sort_rows(rows, self._others))
            due = timers.pop_due(now)

    def process_watermark(self, timestamp: int) -> None:
        """Emit the rows that are left at the end of the input, then forward the watermark."""
        if timestamp == MAX_WATERMARK:
            self.advance_processing_time(MAX_WATERMARK)
        super().process_watermark(timestamp)


class SortOperator(_SortOfAll):
    """Emits all rows, or those that OFFSET and LIMIT leave, at the end of the input."""

    def __init__(self, spec: Sort) -> None:
        super().__init__()
        self._spec = spec
        self._needed = None if spec.limit is None or spec.kinds else spec.offset + spec.limit

    def open(self) -> None:
        """Get the table with the only list of rows."""
        self._table = self.context.keyed_state.table("rows")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        key = self.keys_of(_ALL, values[:1], keys)[0]
        rows = self._table.data.setdefault(key, [])
        self._table.dirty.add(key)
        if not self._spec.kinds:
            rows += values
        else:
            for row in values:
                if row[-1] in (UPDATE_BEFORE, DELETE):
                    rows.remove(row[:-1])
                else:
                    rows.append(row[:-1])
        needed = self._needed
        if needed is not None and len(rows) > 2 * needed + _SLACK:
            rows[:] = sort_rows(rows, self._spec.order_by)[:needed]

    def process_watermark(self, timestamp: int) -> None:
        """Emit the rows at the end of the input, then forward the watermark."""
        if timestamp == MAX_WATERMARK:
            spec, mark = self._spec, AS_INSERT if self._spec.kinds else ()
            for key in list(self._table.keys()):
                rows = sort_rows(self._table.data.pop(key), spec.order_by)
                self._table.dirty.add(key)
                rows = rows[spec.offset : None if spec.limit is None else spec.offset + spec.limit]
                self.emit([row + mark for row in rows] if mark else rows)
        super().process_watermark(timestamp)


class LimitOperator(_SortOfAll):
    """Emits the first rows that arrive."""

    def __init__(self, spec: Limit) -> None:
        super().__init__()
        self._spec = spec

    def open(self) -> None:
        """Get the state: the number of rows so far."""
        self._seen = value_state(self.context.keyed_state, "seen")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self.key_all(values, keys)
        seen, spec = self._seen.value() or 0, self._spec
        end = None if spec.limit is None else spec.offset + spec.limit
        if end is None or seen < end:
            self._seen.update(seen + len(values))
            self.emit(values[max(spec.offset - seen, 0) : None if end is None else end - seen])


def temporal_sort(spec: TemporalSort) -> KeyedTableOperator:
    """Return the operator for a sort by time."""
    return EventTimeSortOperator(spec) if spec.event_time else ProcessingTimeSortOperator(spec)
