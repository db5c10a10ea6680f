"""Join of two changing tables: INNER, LEFT, RIGHT and FULL.

Decides which changes a row of one side causes. Both sides are kept for as long as their time to live says. A row that
arrives is paired with all rows of the other side that have its key. In an outer join, a row without a partner is
emitted with nulls. When its first partner arrives, that result is deleted before the pair is inserted; when its last
partner goes, it is inserted again. Like in Flink, pairs of an inner join carry the kind of the row that caused them.
"""

from __future__ import annotations

from typing import Any

from headrace.graph.table_join_specs import RegularJoin
from headrace.graph.table_specs import DELETE, INSERT, UPDATE_BEFORE, TableKey
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.join_side import KeptSide, Match, kept_side, meeting, never_equal
from headrace.operators.table.keyed import KINDS, KeyedTableOperator, Row


class RegularJoinOperator(KeyedTableOperator):
    """The operator of `RegularJoin` in streaming mode, for the kinds whose results have columns of both sides."""

    def __init__(self, spec: RegularJoin) -> None:
        super().__init__()
        self.spec = spec
        self.sides = (spec.left, spec.right)
        self.selectors = (TableKey(spec.left.keys), TableKey(spec.right.keys))
        self.strict = (never_equal(spec.left), never_equal(spec.right))
        self._outer = (spec.kind in ("LEFT", "FULL"), spec.kind in ("RIGHT", "FULL"))
        self._nulls = ((None,) * spec.left.width, (None,) * spec.right.width)
        self._marks = KINDS if spec.emits_kinds else ((),) * 4

    def open(self) -> None:
        """Get the state of both sides."""
        backend = self.context.keyed_state
        self.kept: tuple[KeptSide, KeptSide] = (
            kept_side(backend, "left", self.spec.left),
            kept_side(backend, "right", self.spec.right),
        )

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self._run(0, values, keys)

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self._run(1, values, keys)

    def _run(self, own: int, values: Values, keys: list[Any] | None) -> None:
        backend, kinds, strict, condition = (
            self.context.keyed_state,
            self.sides[own].kinds,
            self.strict[own],
            self.spec.condition,
        )
        other_side = self.kept[1 - own]
        results: Values = []
        kind = INSERT
        progress = iter(values)
        try:
            for record, key in zip(progress, backend.in_turn(self.keys_of(self.selectors[own], values, keys))):
                backend.key = key
                row = record
                if kinds:
                    row, kind = record[:-1], record[-1]
                matches: list[Match] = []
                if not any([row[column] is None for column in strict]):
                    matches = meeting(condition, row, own == 0, other_side.matches())
                if kind in (UPDATE_BEFORE, DELETE):
                    self.retract(own, row, kind, matches, results)
                else:
                    self.add(own, row, kind, matches, results)
        except Exception as error:
            raise self.failure(error, values, progress) from error
        if not self.spec.update_before and self.spec.emits_kinds:
            results = [result for result in results if result[-1] != UPDATE_BEFORE]
        self.emit(results)

    # -- one row ---------------------------------------------------------------------------------------------------

    def add(self, own: int, row: Row, kind: int, matches: list[Match], results: Values) -> None:
        """Add a row of the side `own`, which has these matches on the other side."""
        side, other = self.kept[own], self.kept[1 - own]
        marks, outer, other_outer = self._marks, self._outer[own], self._outer[1 - own]
        side.add(row, len(matches) if outer else 0)
        if not matches:
            if outer:
                results.append(self._padded(own, row, marks[INSERT]))
            return
        if other_outer:
            for match, partners in matches:
                if partners == 0:
                    results.append(self._padded(1 - own, match, marks[DELETE]))
                other.set_partners(match, partners + 1)
        self._pairs(own, row, matches, marks[INSERT if outer or other_outer else kind], results)

    def retract(self, own: int, row: Row, kind: int, matches: list[Match], results: Values) -> None:
        """Remove a row of the side `own`, which has these matches on the other side."""
        side, other = self.kept[own], self.kept[1 - own]
        marks, outer = self._marks, self._outer[own]
        side.retract(row)
        if not matches:
            if outer:
                results.append(self._padded(own, row, marks[DELETE]))
            return
        self._pairs(own, row, matches, marks[DELETE if outer else kind], results)
        if self._outer[1 - own]:
            for match, partners in matches:
                if partners == 1:
                    results.append(self._padded(1 - own, match, marks[INSERT]))
                other.set_partners(match, partners - 1)

    def _pairs(self, own: int, row: Row, matches: list[Match], mark: Row, results: Values) -> None:
        if own == 0:
            results += [row + match + mark for match, _ in matches]
        else:
            rest = row + mark
            results += [match + rest for match, _ in matches]

    def _padded(self, own: int, row: Row, mark: Row) -> Row:
        return row + self._nulls[1] + mark if own == 0 else self._nulls[0] + row + mark


class SemiJoinOperator(RegularJoinOperator):
    """SEMI emits the rows of the left side that have a partner, ANTI those that have none."""

    def __init__(self, spec: RegularJoin) -> None:
        super().__init__(spec)
        self._anti = spec.kind == "ANTI"

    def add(self, own: int, row: Row, kind: int, matches: list[Match], results: Values) -> None:
        self.kept[own].add(row, len(matches) if own == 0 else 0)
        if own == 0:
            self._left(row, kind, matches, results)
            return
        left, mark = self.kept[0], self._marks[DELETE if self._anti else kind]
        for match, partners in matches:
            if partners == 0:
                results.append(match + mark)
            left.set_partners(match, partners + 1)

    def retract(self, own: int, row: Row, kind: int, matches: list[Match], results: Values) -> None:
        self.kept[own].retract(row)
        if own == 0:
            self._left(row, kind, matches, results)
            return
        left, mark = self.kept[0], self._marks[INSERT if self._anti else kind]
        for match, partners in matches:
            if partners == 1:
                results.append(match + mark)
            left.set_partners(match, partners - 1)

    def _left(self, row: Row, kind: int, matches: list[Match], results: Values) -> None:
        if bool(matches) != self._anti:
            results.append(row + self._marks[kind])
