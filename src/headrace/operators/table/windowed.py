"""Operators over rows that carry their window: rows wait until the window has ended, then it is processed as a whole.

Decides which rows are late: those whose window has ended already. The state is a table of rows by key and end of window, and
one timer for each of them.
"""

from __future__ import annotations

from typing import Any

from headrace.graph.table_join_specs import WindowJoin
from headrace.graph.table_sort_specs import WindowRank
from headrace.graph.table_specs import TableKey
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.batch_join import join_rows
from headrace.operators.table.join_side import never_equal
from headrace.operators.table.keyed import KeyedTableOperator, Row
from headrace.operators.table.ordering import sort_key
from headrace.operators.table.window_time import WindowEnds


class WindowedOperator(KeyedTableOperator):
    """Base: `inputs` are the key and the column of the window's end of each input."""

    def __init__(self, spec: Any, *inputs: tuple[tuple[int, ...], int]) -> None:
        super().__init__()
        self.event_time: bool = spec.event_time
        self._inputs = [(TableKey(keys), end) for keys, end in inputs]
        self._ends = WindowEnds(spec.time_zone, spec.local and spec.event_time)

    def open(self) -> None:
        """Get the table: (key, end) -> a list of rows for each input."""
        self._table = self.context.keyed_state.table("windows", namespaced=True)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self._keep(0, values, keys)

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self._keep(1, values, keys)

    def _keep(self, number: int, values: Values, keys: list[Any] | None) -> None:
        selector, column = self._inputs[number]
        context, data, dirty = self.context, self._table.data, self._table.dirty
        timers = context.event_timers if self.event_time else context.processing_timers
        progress = self.watermark if self.event_time else context.clock.now()
        fires: dict[int, int] = {}
        late = 0
        for row, key in zip(values, self.keys_of(selector, values, keys)):
            end = row[column]
            time = fires.get(end)
            if time is None:
                time = fires[end] = self._ends.timer(end)
            if time <= progress:
                late += 1
                continue
            window = (key, end)
            sides = data.get(window)
            if sides is None:
                sides = data[window] = tuple([[] for _ in self._inputs])
                timers.register(time, key, end)
            self.add(sides[number], row)
            dirty.add(window)
        self.drop_late(late)

    def add(self, rows: list[Row], row: Row) -> None:
        """Add a row to those of its window."""
        rows.append(row)

    def process_watermark(self, timestamp: int) -> None:
        """Process the windows that have ended, then forward the watermark."""
        if self.event_time:
            self._fire(self.context.event_timers, timestamp)
        super().process_watermark(timestamp)

    def advance_processing_time(self, now: int) -> None:
        if not self.event_time:
            self._fire(self.context.processing_timers, now)

    def _fire(self, timers: Any, limit: int) -> None:
        results: Values = []
        due = timers.pop_due(limit)
        while due is not None:
            _, key, end = due
            sides = self._table.data.pop((key, end))
            self._table.dirty.add((key, end))
            try:
                results += self.process(*sides)
            except Exception as error:
                raise self.failure_for(error, sides[0][0] if sides[0] else None) from error
            due = timers.pop_due(limit)
        self.emit(results)

    def process(self, *sides: list[Row]) -> list[Row]:
        """Return the results of one key and window."""
        raise NotImplementedError


class WindowJoinOperator(WindowedOperator):
    """The operator of `WindowJoin`."""

    def __init__(self, spec: WindowJoin) -> None:
        super().__init__(spec, (spec.left.keys, spec.left_end), (spec.right.keys, spec.right_end))
        self._spec = spec
        self._strict = never_equal(spec.left)

    def process(self, *sides: list[Row]) -> list[Row]:
        left, right = sides
        spec = self._spec
        sizes = spec.left.width, spec.right.width
        if left and right and any(left[0][column] is None for column in self._strict):
            return join_rows(spec.kind, None, left, [], *sizes) + join_rows(spec.kind, None, [], right, *sizes)
        return join_rows(spec.kind, spec.condition, left, right, *sizes)


class WindowRankOperator(WindowedOperator):
    """The operator of `WindowRank`: it keeps no more rows than the last rank needs."""

    def __init__(self, spec: WindowRank) -> None:
        super().__init__(spec, (spec.keys, spec.window_end))
        self._spec = spec
        self._sort_key = sort_key(spec.order_by)
        self._keep_last = _keeps_last(spec)

    def add(self, rows: list[Row], row: Row) -> None:
        rows.append(row)
        if len(rows) > 2 * self._spec.end + 16:
            rows[:] = self._first(rows)

    def _first(self, rows: list[Row]) -> list[Row]:
        if self._keep_last:
            return [min(reversed(rows), key=self._sort_key)]
        return sorted(rows, key=self._sort_key)[: self._spec.end]

    def process(self, *sides: list[Row]) -> list[Row]:
        spec = self._spec
        rows = self._first(sides[0])[spec.start - 1 :]
        return [(*row, spec.start + i) for i, row in enumerate(rows)] if spec.rank_column else rows


def _keeps_last(spec: WindowRank) -> bool:
    """Return whether this is a deduplication that keeps the last row: of rows with the same time, the last to arrive."""
    if (spec.start, spec.end, len(spec.order_by)) != (1, 1, 1) or not spec.order_by[0].descending or not spec.types:
        return False
    kind = spec.types[0].field_types()[spec.order_by[0].column]
    return getattr(kind, "time_attribute", None) is not None


OPERATORS = {WindowJoin: WindowJoinOperator, WindowRank: WindowRankOperator}
