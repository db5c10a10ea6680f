"""Calc: rows of small runs, columns of large ones, kinds carried over."""

from __future__ import annotations

import pyarrow.compute as pc

from headrace.graph.table_specs import Calc, DropUpdateBefore
from headrace.operators.table.batches import SMALL, TableColumns
from headrace.testing import OperatorHarness
from headrace.types import logical_types as t
from headrace.types.column_run import as_columns

TYPE = t.RowType((t.RowField("x", t.BigIntType()),))


class KeepEven:
    """SELECT x FROM t WHERE x % 2 = 0."""

    def __init__(self):
        self.forms = []

    def rows(self, rows, kinds=False):
        self.forms.append("rows")
        return [row for row in rows if row[0] % 2 == 0]

    def columns(self, batch, kinds=False):
        self.forms.append("columns")
        return batch.filter(pc.equal(pc.bit_wise_and(batch.column(0), 1), 0))


def fed(values, kinds=False):
    program = KeepEven()
    h = OperatorHarness(Calc(program, kinds, output_type=TYPE))
    seen = []
    h.operator.output.main[0].takes_columns = True
    process = h.operator.output.main[0].process_batch
    h.operator.output.main[0].process_batch = lambda v, t, k: (seen.append(as_columns(v) is not None), process(v, t, k))
    h.operator.process_batch(values, None, None)
    return [value for value, _ in h.output], program.forms, seen


def test_rows_and_small_runs_row_by_row():
    assert fed([(1,), (2,)]) == ([(2,)], ["rows"], [False])
    assert fed(TableColumns(TYPE).run([(1,), (2,)])) == ([(2,)], ["rows"], [False])


def test_columns_stay_columns():
    rows = [(i, i % 4) for i in range(2 * SMALL)]
    assert fed(TableColumns(TYPE, kinds=True).run(rows), kinds=True) == (rows[::2], ["columns"], [True])


def test_drop_update_before():
    rows = [(1, 0), (1, 1), (2, 2), (2, 3)]
    for values in (rows, TableColumns(TYPE, kinds=True).run(rows)):
        h = OperatorHarness(DropUpdateBefore())
        h.operator.process_batch(values, None, None)
        assert [value for value, _ in h.output] == [(1, 0), (2, 2), (2, 3)]
