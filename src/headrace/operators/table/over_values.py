"""OVER in streaming mode, ordered by columns that are not a time: a new row changes the results of the rows behind it.

Decides which changes a row causes. All rows of a key are kept in order, with their results. A new row is emitted with its
own kind, one that leaves as -D. Rows behind it whose results change are replaced (-U, +U), in order. With RANGE, so are its
peers, which come first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from headrace.graph.table_specs import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, OverAggregate
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.keyed import KINDS, Row
from headrace.operators.table.ordering import sort_key
from headrace.operators.table.over import OverOperator

_Memory = list[list[Any]]


class ValueOverOperator(OverOperator):
    """From the first row to the current one. The memory is [sort keys, rows, results], three lists in order."""

    def __init__(self, spec: OverAggregate) -> None:
        super().__init__(spec)
        self._sort_key = sort_key(spec.order_by)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        backend, kinds = self.backend, self.spec.kinds
        results: Values = []
        progress = iter(values)
        try:
            for record, key in zip(progress, backend.in_turn(self.keys_of(self.selector, values, keys))):
                backend.key = key
                row, kind = (record[:-1], record[-1]) if kinds else (record, INSERT)
                memory: _Memory = self.memory.value() or [[], [], []]
                if kind in (UPDATE_BEFORE, DELETE):
                    self._remove(memory, row, results)
                else:
                    self._add(memory, row, kind, results)
                if memory[1]:
                    self.memory.update(memory)
                else:
                    self.memory.clear()
        except Exception as error:
            raise self.failure(error, values, progress) from error
        self.emit(results)

    def _add(self, memory: _Memory, row: Row, kind: int, results: Values) -> None:
        keys, rows, values = memory
        key = self._sort_key(row)
        at = bisect_right(keys, key)
        keys.insert(at, key)
        rows.insert(at, row)
        values.insert(at, None)
        now = self._values(keys, rows)
        self._replaced(rows, values, now, range(bisect_left(keys, key), at), results)
        results.append(row + now[at] + KINDS[kind])
        self._replaced(rows, values, now, range(at + 1, len(rows)), results)
        memory[2] = now

    def _remove(self, memory: _Memory, row: Row, results: Values) -> None:
        keys, rows, values = memory
        key = self._sort_key(row)
        first = bisect_left(keys, key)
        try:
            at = rows.index(row, first, bisect_right(keys, key))
        except ValueError:
            return  # its time to live has passed
        del keys[at], rows[at]
        results.append(row + values.pop(at) + KINDS[DELETE])
        now = self._values(keys, rows)
        self._replaced(rows, values, now, range(first, len(rows)), results)
        memory[2] = now

    def _values(self, keys: list[Any], rows: list[Row]) -> list[Row]:
        """Return the results of all rows."""
        calls = self.calls
        accumulators = calls.create()
        values: list[Row] = []
        for start, row in enumerate(rows):
            calls.add(accumulators, row)
            if self.spec.frame.rows or start + 1 == len(rows) or keys[start + 1] != keys[start]:
                found = calls.results(accumulators)
                values += [found] * (start + 1 - len(values))
        return values

    def _replaced(self, rows: list[Row], values: list[Row], now: list[Row], places: range, results: Values) -> None:
        for at in places:
            if values[at] != now[at]:
                results.append(rows[at] + values[at] + KINDS[UPDATE_BEFORE])
                results.append(rows[at] + now[at] + KINDS[UPDATE_AFTER])
