"""Top N in streaming mode: the rows with the ranks `start` to `end` of each key, as a changelog.

Decides which changes a row causes, as Flink does. Results with the rank as a column, or with an offset, are updated rank by
rank: each row that moves is replaced by its neighbour. Without rank, one row goes (-D) and one comes (+I). Three forms:

| input | rows that are kept |
| --- | --- |
| inserts only (`AppendRankOperator`) | the first N |
| upserts whose sort key only improves (`UpsertRankOperator`) | the first N |
| any changes (`RetractRankOperator`) | all |

If only the first row is asked for and rows need not be kept, it is replaced by -U and +U (`FirstRowOperator`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from headrace.graph.table_sort_specs import Rank
from headrace.graph.table_specs import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, TableKey
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.keyed import KINDS, KeyedTableOperator, Row, value_state
from headrace.operators.table.ordering import sort_key

_NEVER = 1 << 62


class RankOperator(KeyedTableOperator):
    """Base of the forms. The memory of a key is [sort keys, rows, end], both lists in order."""

    def __init__(self, spec: Rank) -> None:
        super().__init__()
        self.spec = spec
        self._selector = TableKey(spec.keys)
        self.sort_key = sort_key(spec.order_by)
        self.numbered = spec.rank_column or spec.start > 1
        self.end = _NEVER
        self.results: Values = []

    def open(self) -> None:
        """Get the state."""
        self.memory = value_state(self.context.keyed_state, "ranks", self.spec.ttl)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        backend, kinds, fixed = self.context.keyed_state, self.spec.kinds, self.spec.end_column is None
        self.results = []
        progress = iter(values)
        kind = INSERT
        try:
            for record, key in zip(progress, backend.in_turn(self.keys_of(self._selector, values, keys))):
                backend.key = key
                row = record
                if kinds:
                    row, kind = record[:-1], record[-1]
                memory = self.memory.value()
                if memory is None:
                    memory = [[], [], self.spec.end if fixed else row[self.spec.end_column] or 0]
                self.end = _NEVER if memory[2] is None else memory[2]
                if self.end < 1:
                    continue
                if kind in (UPDATE_BEFORE, DELETE):
                    self.retract(memory[0], memory[1], row)
                else:
                    self.add(memory[0], memory[1], row)
                if memory[1] or not fixed:
                    self.memory.update(memory)
                else:
                    self.memory.clear()
        except Exception as error:
            raise self.failure(error, values, progress) from error
        results, self.results = self.results, []
        self.emit(results)

    def add(self, keys: list[Any], rows: list[Row], row: Row) -> None:
        """Add a row to those of the current key."""
        raise NotImplementedError

    def retract(self, keys: list[Any], rows: list[Row], row: Row) -> None:
        """Remove a row of the current key."""
        raise AssertionError("The input of this rank has no deletions")

    # -- changes --------------------------------------------------------------------------------------------------

    def change(self, kind: int, row: Row, rank: int) -> None:
        """Emit a change of the row at a rank, if the rank is asked for."""
        spec = self.spec
        if (kind != UPDATE_BEFORE or spec.update_before) and spec.start <= rank <= self.end:
            self.results.append(row + ((rank,) if spec.rank_column else ()) + KINDS[kind])

    def replace(self, old: Row, new: Row, rank: int) -> None:
        """Emit that a row takes the place of another one."""
        self.change(UPDATE_BEFORE, old, rank)
        self.change(UPDATE_AFTER, new, rank)

    def shift(self, current: Row, followers: list[Row], rank: int) -> tuple[Row, int]:
        """Emit that `current` takes the first of these places, whose rows move on by one; return the last and its rank."""
        for follower in followers:
            if rank > self.end:
                break
            self.replace(follower, current, rank)
            current = follower
            rank += 1
        return current, rank


class AppendRankOperator(RankOperator):
    """Only inserts arrive: rows beyond the last rank are forgotten."""

    def add(self, keys: list[Any], rows: list[Row], row: Row) -> None:
        key, end = self.sort_key(row), self.end
        if len(rows) >= end and not key < keys[-1]:
            return
        at = bisect_right(keys, key)
        keys.insert(at, key)
        rows.insert(at, row)
        if self.numbered:
            last, rank = self.shift(row, rows[at + 1 :], at + 1)
            if rank <= end:
                self.change(INSERT, last, rank)
            del keys[end:], rows[end:]
        else:
            if len(rows) > end:
                keys.pop()
                self.change(DELETE, rows.pop(), end)
            self.change(INSERT, row, 1)


class UpsertRankOperator(AppendRankOperator):
    """Rows replace their former versions, which never had a better sort key."""

    def add(self, keys: list[Any], rows: list[Row], row: Row) -> None:
        columns = self.spec.upsert_key or ()
        own = [row[column] for column in columns]
        before = next((i for i, r in enumerate(rows) if [r[column] for column in columns] == own), None)
        key, end = self.sort_key(row), self.end
        if before is None:
            super().add(keys, rows, row)
            return
        old = rows[before]
        if keys[before] == key:
            rows[before] = row
            self.replace(old, row, before + 1)
            return
        del keys[before], rows[before]
        at = bisect_right(keys, key)
        keys.insert(at, key)
        rows.insert(at, row)
        if not self.numbered:
            self.replace(old, row, 1)
        elif at <= before:
            last, rank = self.shift(row, rows[at + 1 : before + 1], at + 1)
            if rank <= end:
                self.replace(old, last, rank)
        else:  # a worse sort key, which the planner excludes: neighbours move up
            for i in range(before, at + 1):
                self.replace(old if i == before else rows[i - 1], rows[i], i + 1)


class FirstRowOperator(RankOperator):
    """Only the first row is asked for, and a row is never removed."""

    def add(self, keys: list[Any], rows: list[Row], row: Row) -> None:
        key = self.sort_key(row)
        if not rows:
            self.change(INSERT, row, 1)
        elif key < keys[0] or (key == keys[0] and self._same(rows[0], row)):
            self.replace(rows[0], row, 1)
        else:
            return
        keys[:], rows[:] = [key], [row]

    def _same(self, old: Row, row: Row) -> bool:
        columns = self.spec.upsert_key
        return columns is not None and all(old[column] == row[column] for column in columns)


class RetractRankOperator(RankOperator):
    """Any changes arrive: all rows are kept."""

    def add(self, keys: list[Any], rows: list[Row], row: Row) -> None:
        key, end = self.sort_key(row), self.end
        at = bisect_right(keys, key)
        keys.insert(at, key)
        rows.insert(at, row)
        if self.numbered:
            last, rank = self.shift(row, rows[at + 1 :], at + 1)
            if rank <= end:
                self.change(INSERT, last, rank)
        elif at < end:
            if len(rows) > end:
                self.change(DELETE, rows[end], end)
            self.change(INSERT, row, at + 1)

    def retract(self, keys: list[Any], rows: list[Row], row: Row) -> None:
        key, end = self.sort_key(row), self.end
        at = bisect_left(keys, key)
        try:
            at = rows.index(row, at, bisect_right(keys, key))
        except ValueError:
            return  # it expired
        del keys[at], rows[at]
        if self.numbered:
            gone, rank = row, at + 1
            for follower in rows[at:]:
                if rank > end:
                    return
                self.replace(gone, follower, rank)
                gone = follower
                rank += 1
            if rank <= end:
                self.change(DELETE, gone, rank)
        elif at < end:
            self.change(DELETE, row, at + 1)
            if len(rows) >= end:
                self.change(INSERT, rows[end - 1], end)
