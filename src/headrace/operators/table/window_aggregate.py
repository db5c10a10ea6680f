"""Aggregates over TUMBLE, HOP and CUMULATE windows, row by row, for all aggregate functions.

Rows are added to the slice of their time; a window's result is merged from its slices when the window ends, and a slice is
removed with its last window. A row is late if all windows of its slice have fired. Windows of a key without rows emit
nothing. Within an epoch only dicts change; at its end the changed entries are put into the keyed table, as
(key, slice) -> [accumulators, number of rows].
"""

from __future__ import annotations

from typing import Any

from headrace.errors import InvalidProgramError
from headrace.graph.table_specs import WindowAggregate
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.base import keys_of, rows_of
from headrace.operators.table.batches import has_columns
from headrace.operators.table.column_aggregates import can_use_columns, in_any_order
from headrace.operators.table.column_sessions import ColumnSessionOperator
from headrace.operators.table.column_windows import SLICES, ColumnWindowOperator
from headrace.operators.table.count_windows import RowCountOperator
from headrace.operators.table.key_slots import can_be_encoded
from headrace.operators.table.session_aggregate import SessionOperator
from headrace.operators.table.window_base import RETRACTIONS, Row, WindowOperator
from headrace.operators.table.windows import Given, Slicing, Window, slicing


class SlicedWindowOperator(WindowOperator):
    """Slices by start, each with an entry for each key: [*accumulators, number of rows]."""

    def __init__(self, spec: WindowAggregate) -> None:
        super().__init__(spec)
        self._slicing = self.slicing()
        self._live: dict[Any, dict[Any, list[Any]]] = {}
        self._touched: dict[Any, set[Any]] = {}
        self._windows: set[Window] = set()  # those that have not fired

    def slicing(self) -> Slicing:
        """Return how windows are divided."""
        return slicing(self.spec.window)

    def open(self) -> None:
        """Load the slices of the table."""
        self._table = self.context.keyed_state.table(SLICES, namespaced=True)
        for (key, start), entry in self._table.data.items():
            self._live.setdefault(start, {})[key] = entry
        for start in self._live:
            self._windows.update(self._open_windows(start))
        self._next = self._next_end()

    # -- rows -----------------------------------------------------------------------------------------------------

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        rows = rows_of(values)
        if keys is None:
            keys = keys_of(rows, self.spec.keys)
        slice_of, late = self._slicing.slice_of, 0
        grouped: dict[Any, list[int]] = {}
        for i, time in enumerate(self.times(rows)):
            start = slice_of(time)
            numbers = grouped.get(start)
            if numbers is None:
                grouped[start] = [i]
            else:
                numbers.append(i)
        for start, numbers in grouped.items():
            entries = self.entries(start)
            if entries is None:
                late += len(numbers) if self._slicing.windows(start) else 0
            else:
                self._add(start, entries, [rows[i] for i in numbers], [keys[i] for i in numbers])
        self.drop_late(late)

    def entries(self, start: Any) -> dict[Any, list[Any]] | None:
        """Return the entries of a slice by key; None if it belongs to no window that can still fire."""
        entries = self._live.get(start)
        if entries is None:
            windows = self._open_windows(start)
            if not windows:
                return None
            self._windows.update(windows)
            self._next = self._next_end()
            entries = self._live[start] = {}
        return entries

    def _add(self, start: Any, entries: dict[Any, list[Any]], rows: list[Row], keys: list[Any]) -> None:
        add, retract, create, kinds = self.aggregates.add, self.aggregates.retract, self._create, self.spec.kinds
        records = iter(rows)
        try:
            for row, key in zip(records, keys):
                entry = entries.get(key)
                if entry is None:
                    entry = entries[key] = create()
                if kinds and row[-1] in RETRACTIONS:
                    retract(entry, row)
                    entry[-1] -= 1
                else:
                    add(entry, row)
                    entry[-1] += 1
        except Exception as error:
            raise self.failure(error, rows, records) from error
        self.touch(start, keys)

    def touch(self, start: Any, keys: list[Any]) -> None:
        """Note that entries of a slice changed."""
        self._touched.setdefault(start, set()).update(keys)

    def _create(self) -> list[Any]:
        return [*self.aggregates.create(), 0]

    # -- time -----------------------------------------------------------------------------------------------------

    def _open_windows(self, start: Any) -> list[Window]:
        """Return the windows of a slice that have not fired."""
        epoch, progress = self.zone.epoch, self.progress()
        return [window for window in self._slicing.windows(start) if epoch(window[0] - 1) > progress]

    def _next_end(self) -> int | None:
        return self.zone.epoch(min(self._windows)[0] - 1) if self._windows else None

    def next_end(self) -> int | None:
        return self._next

    def fire(self, progress: int) -> None:
        if self._next is None or progress < self._next:
            return
        epoch = self.zone.epoch
        for window in sorted(window for window in self._windows if epoch(window[0] - 1) <= progress):
            self._windows.remove(window)
            self.output.emit(self._results(window), None)
            for start in self._slicing.slices(window):
                if start in self._live and self._slicing.windows(start)[-1] <= window:
                    self._remove(start)
        self._next = self._next_end()

    def _results(self, window: Window) -> list[Row]:
        end, start = window
        described, results, columns = self.properties(start, end), self.aggregates.results, self.key_columns
        slices = [self._live[each] for each in self._slicing.slices(window) if each in self._live]
        if len(slices) == 1:
            merged = slices[0]
        else:
            merged = {}
            for entries in slices:
                for key, entry in entries.items():
                    total = merged.get(key)
                    if total is None:
                        total = merged[key] = self._create()
                    self.merge(total, entry)
        return [(*columns(key), *results(entry), *described) for key, entry in merged.items() if entry[-1]]

    def merge(self, entry: list[Any], other: list[Any]) -> None:
        """Add the rows of another entry, which stays unchanged."""
        self.aggregates.merge(entry, other)
        entry[-1] += other[-1]

    def _remove(self, start: Any) -> None:
        data, dirty = self._table.data, self._table.dirty
        self._touched.pop(start, None)
        for key in self._live.pop(start):
            if (key, start) in data:
                del data[key, start]
                dirty.add((key, start))

    # -- state ----------------------------------------------------------------------------------------------------

    def end_epoch(self) -> None:
        """Put changed entries into the table."""
        data, dirty = self._table.data, self._table.dirty
        for start, touched in self._touched.items():
            entries = self._live[start]
            for key in touched:
                data[key, start] = entries[key]
                dirty.add((key, start))
        self._touched.clear()


class AttachedWindowOperator(SlicedWindowOperator):
    """Aggregates over windows that the rows already have: each window is its own slice."""

    def slicing(self) -> Slicing:
        return Given()

    def times(self, rows: list[Row]) -> list[Any]:
        assert self.spec.attached is not None
        start, end = self.spec.attached
        return [(row[end] // 1000, row[start] // 1000) for row in rows]


def _create(spec: WindowAggregate) -> WindowOperator:
    if spec.early_fire or spec.late_fire or spec.allowed_lateness:
        raise InvalidProgramError("Windows with early or late firing, or with allowed lateness, are not supported")
    if spec.by_rows:
        return RowCountOperator(spec)
    on_columns = _on_columns(spec)
    if spec.window.kind == "SESSION" and spec.attached is None:
        return ColumnSessionOperator(spec) if on_columns and in_any_order(spec.calls) else SessionOperator(spec)
    if on_columns:
        return ColumnWindowOperator(spec)
    return SlicedWindowOperator(spec) if spec.attached is None else AttachedWindowOperator(spec)


def _on_columns(spec: WindowAggregate) -> bool:
    """Return whether all calls and keys of an aggregation have forms for columns."""
    if spec.kinds or not spec.types or spec.output_type is None or not can_use_columns(spec.calls):
        return False
    return all(can_be_encoded(spec.types[0].fields[column].data_type) for column in spec.keys) and has_columns()


OPERATORS = {WindowAggregate: _create}
