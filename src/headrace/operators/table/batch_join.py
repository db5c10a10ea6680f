"""Join of two bounded tables: rows are kept by key until the input ends, then each key is joined once."""

from __future__ import annotations

from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.graph.table_join_specs import RegularJoin
from headrace.graph.table_specs import Condition, TableKey
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.join_side import never_equal
from headrace.operators.table.keyed import AS_INSERT, KeyedTableOperator, Row


class BatchJoinOperator(KeyedTableOperator):
    """The operator of `RegularJoin` in batch mode. All results are inserts."""

    def __init__(self, spec: RegularJoin) -> None:
        super().__init__()
        self._spec = spec
        self._selectors = (TableKey(spec.left.keys), TableKey(spec.right.keys))
        self._strict = never_equal(spec.left), never_equal(spec.right)

    def open(self) -> None:
        """Get the table: key -> (left rows, right rows)."""
        self._table = self.context.keyed_state.table("rows")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self._keep(0, values, self.keys_of(self._selectors[0], values, keys))

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self._keep(1, values, self.keys_of(self._selectors[1], values, keys))

    def _keep(self, own: int, values: Values, keys: list[Any]) -> None:
        data = self._table.data
        for row, key in zip(values, keys):
            sides = data.get(key)
            if sides is None:
                sides = data[key] = ([], [])
            sides[own].append(row)
        self._table.dirty.update(keys)

    def process_watermark(self, timestamp: int) -> None:
        """Join at the end of the input, then forward the watermark."""
        if timestamp == MAX_WATERMARK:
            data, dirty = self._table.data, self._table.dirty
            for key in list(self._table.keys()):
                self.emit(self._joined(*data.pop(key)))
                dirty.add(key)
        super().process_watermark(timestamp)

    def _joined(self, left: list[Row], right: list[Row]) -> Values:
        spec = self._spec
        mark = AS_INSERT if spec.emits_kinds else ()
        cut_left, cut_right = spec.left.kinds, spec.right.kinds
        left = [row[:-1] for row in left] if cut_left else left
        right = [row[:-1] for row in right] if cut_right else right
        matches = not left or not right or not any(left[0][column] is None for column in self._strict[0])
        return join_rows(
            spec.kind, spec.condition if matches else _NEVER, left, right, spec.left.width, spec.right.width, mark
        )


class _Never:
    def pair(self, left: Row, right: Row) -> bool:
        return False


_NEVER = _Never()


def join_rows(
    kind: str, condition: Condition | None, left: list[Row], right: list[Row], left_width: int, right_width: int,
    mark: Row = (),
) -> list[Row]:  # fmt: skip
    """Return the join of rows with equal keys, each with `mark` at its end.

    >>> join_rows("FULL", None, [], [(1,)], 2, 1), join_rows("SEMI", None, [(1,), (2,)], [(1,)], 1, 1)
    ([(None, None, 1)], [(1,), (2,)])
    """
    pair = None if condition is None else condition.pair
    if kind in ("SEMI", "ANTI"):
        wanted = kind == "SEMI"
        return [row + mark for row in left if (any(pair(row, r) for r in right) if pair else bool(right)) == wanted]
    results: list[Row] = []
    paired: set[int] = set()
    nulls = (None,) * right_width + mark
    for row in left:
        found = [i for i, r in enumerate(right) if pair(row, r)] if pair else range(len(right))
        results += [row + right[i] + mark for i in found]
        paired.update(found)
        if not found and kind in ("LEFT", "FULL"):
            results.append(row + nulls)
    if kind in ("RIGHT", "FULL"):
        results += [(None,) * left_width + row + mark for i, row in enumerate(right) if i not in paired]
    return results
