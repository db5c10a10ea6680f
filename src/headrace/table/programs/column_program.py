"""A filter and projections over a record batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace.operators.table.batches import empty_columns, numpy, pyarrow
from headrace.table.functions.definition import Session
from headrace.table.plan.rex import Call, Rex
from headrace.table.programs.column_code import Batch, ColumnCode
from headrace.table.programs.failing import can_fail


class ColumnProgram:
    """The column form of a `Program`.

    The parts of the filter that cannot fail are evaluated for the whole batch. A part that can fail is evaluated for the
    rows that passed the parts before it.
    """

    def __init__(self, expressions: Sequence[Rex] | None, condition: Rex | None, session: Session) -> None:
        """Without `expressions`, columns pass unchanged."""
        code = ColumnCode(session)
        parts = [] if condition is None else conjuncts(condition)
        self._tests = [(code.array(each), can_fail(each)) for each in parts]
        self._results = None if expressions is None else [code.array(each) for each in expressions]

    def __call__(self, batch: Any, kinds: bool) -> Any:
        """Return the results for a record batch; with `kinds`, the last column is carried over."""
        columns = batch.columns
        rows = self._filtered(Batch(batch.num_rows, columns))
        if self._results is None:
            if rows.size == batch.num_rows:
                return batch
            arrays = [rows.column(index) for index in range(len(columns))]
            return pyarrow().RecordBatch.from_arrays(arrays, names=batch.schema.names)
        arrays = [compute(rows) for compute in self._results]
        names = [f"{place}" for place in range(len(arrays))]
        if kinds:
            arrays.append(rows.column(len(columns) - 1))
            names.append(batch.schema.names[-1])
        return pyarrow().RecordBatch.from_arrays(arrays, names=names) if arrays else empty_columns(rows.size)

    def _filtered(self, rows: Batch) -> Batch:
        compute = pyarrow("pyarrow.compute")
        passed = None
        for test, fallible in self._tests:
            if fallible and passed is not None:
                rows, passed = _kept(rows, passed), None
            found = test(rows)
            passed = found if passed is None else compute.and_kleene(passed, found)
        return rows if passed is None else _kept(rows, passed)


def _kept(rows: Batch, passed: Any) -> Batch:
    values = passed.fill_null(False) if passed.null_count else passed
    places = numpy().flatnonzero(values.to_numpy(zero_copy_only=False))
    return rows if len(places) == rows.size else rows.at(pyarrow().array(places))


def conjuncts(condition: Rex) -> list[Rex]:
    """Return the conditions that a condition joins by AND."""
    if isinstance(condition, Call) and condition.function.name == "AND":
        return [part for each in condition.arguments for part in conjuncts(each)]
    return [condition]
