"""RANK and DENSE_RANK in streaming mode, and all ranks in batch mode: ranks of all rows of a key, computed at once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.graph.table_sort_specs import Rank
from headrace.graph.table_specs import DELETE, INSERT, TableKey
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.keyed import KINDS, KeyedTableOperator, Row
from headrace.operators.table.ordering import sort_key
from headrace.operators.table.rank import RankOperator


def ranks(function: str, keys: list[Any]) -> list[int]:
    """Return the ranks of rows with these sort keys, which are in order.

    >>> [ranks(name, [1, 1, 2]) for name in ("ROW_NUMBER", "RANK", "DENSE_RANK")]
    [[1, 2, 3], [1, 1, 3], [1, 1, 2]]
    """
    result: list[int] = []
    for i, key in enumerate(keys):
        if function == "ROW_NUMBER" or not i:
            result.append(i + 1)
        elif key == keys[i - 1]:
            result.append(result[-1])
        else:
            result.append(i + 1 if function == "RANK" else result[-1] + 1)
    return result


class ValueRankOperator(RankOperator):
    """RANK or DENSE_RANK of changing rows: emits what differs between the results before and after each change."""

    def add(self, keys: list[Any], rows: list[Row], row: Row) -> None:
        before = self._ranked(keys, rows)
        key = self.sort_key(row)
        at = bisect_right(keys, key)
        keys.insert(at, key)
        rows.insert(at, row)
        self._differences(before, self._ranked(keys, rows))

    def retract(self, keys: list[Any], rows: list[Row], row: Row) -> None:
        before = self._ranked(keys, rows)
        key = self.sort_key(row)
        try:
            at = rows.index(row, bisect_left(keys, key), bisect_right(keys, key))
        except ValueError:
            return  # it expired
        del keys[at], rows[at]
        self._differences(before, self._ranked(keys, rows))

    def _ranked(self, keys: list[Any], rows: list[Row]) -> list[tuple[Row, int]]:
        found = zip(rows, ranks(self.spec.function, keys))
        return [(row, rank) for row, rank in found if self.spec.start <= rank <= self.end]

    def _differences(self, before: list[tuple[Row, int]], after: list[tuple[Row, int]]) -> None:
        numbered = self.spec.rank_column
        gone = [entry if numbered else (entry[0], self.spec.start) for entry in before]
        for row, rank in after:
            entry = (row, rank if numbered else self.spec.start)
            if entry in gone:
                gone.remove(entry)
            else:
                self.change(INSERT, row, rank)
        added, self.results = self.results, []
        for row, rank in gone:
            self.change(DELETE, row, rank)
        self.results += added


class BatchRankOperator(KeyedTableOperator):
    """The operator of `Rank` in batch mode: rows of each key are sorted at the end of the input."""

    def __init__(self, spec: Rank) -> None:
        super().__init__()
        self._spec = spec
        self._selector = TableKey(spec.keys)
        self._sort_key = sort_key(spec.order_by)

    def open(self) -> None:
        """Get the table: key -> rows."""
        self._table = self.context.keyed_state.table("rows")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        data = self._table.data
        keys = self.keys_of(self._selector, values, keys)
        for row, key in zip(values, keys):
            data.setdefault(key, []).append(row)
        self._table.dirty.update(keys)

    def process_watermark(self, timestamp: int) -> None:
        """Emit the results at the end of the input, then forward the watermark."""
        if timestamp == MAX_WATERMARK:
            for key in list(self._table.keys()):
                rows = self._table.data.pop(key)
                self._table.dirty.add(key)
                self.emit(self._ranked(rows))
        super().process_watermark(timestamp)

    def _ranked(self, rows: list[Row]) -> Values:
        spec, mark = self._spec, KINDS[INSERT] if self._spec.kinds else ()
        rows = [row[:-1] for row in rows] if spec.kinds else rows
        end = spec.end if spec.end_column is None else rows[0][spec.end_column] or 0
        keyed = sorted([(self._sort_key(row), i) for i, row in enumerate(rows)])
        numbered = zip([rows[i] for _, i in keyed], ranks(spec.function, [key for key, _ in keyed]))
        return [
            row + ((rank,) if spec.rank_column else ()) + mark
            for row, rank in numbered
            if spec.start <= rank and (end is None or rank <= end)
        ]
