"""Windows of the Table API that count rows: `size` rows of a key, starting every `slide` rows.

Rows are numbered per key. The window that begins with row n * slide is emitted when its last row came; a window that never
fills emits nothing.
"""

from __future__ import annotations

from typing import Any

from headrace.graph.table_specs import WindowAggregate
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.base import keys_of, rows_of
from headrace.operators.table.window_base import Row, WindowOperator


class RowCountOperator(WindowOperator):
    """By key: [number of rows so far, accumulators by the first row of each open window]."""

    def __init__(self, spec: WindowAggregate) -> None:
        super().__init__(spec)
        self._size = spec.window.size
        self._slide = spec.window.slide or spec.window.size

    def open(self) -> None:
        self._table = self.context.keyed_state.table("row_windows")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        rows = rows_of(values)
        if keys is None:
            keys = keys_of(rows, self.spec.keys)
        data, dirty, out = self._table.data, self._table.dirty, []
        records = iter(rows)
        try:
            for row, key in zip(records, keys):
                entry = data.get(key)
                if entry is None:
                    entry = data[key] = [0, {}]
                result = self._add(entry, row)
                if result is not None:
                    out.append((*self.key_columns(key), *result, *self.properties(0, 0)))
        except Exception as error:
            raise self.failure(error, rows, records) from error
        dirty.update(keys)
        self.output.emit(out, None)

    def _add(self, entry: list[Any], row: Row) -> Row | None:
        """Add a row to its windows. Return the results of the one that is full now, if there is one."""
        number, windows = entry
        if number % self._slide == 0:
            windows[number] = self.aggregates.create()
        for accumulators in windows.values():
            self.aggregates.add(accumulators, row)
        entry[0] = number + 1
        full = windows.pop(number + 1 - self._size, None)
        return None if full is None else self.aggregates.results(full)

    def fire(self, progress: int) -> None:
        """Windows of rows do not depend on time."""

    def next_end(self) -> int | None:
        return None
