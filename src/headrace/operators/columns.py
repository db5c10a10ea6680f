"""map and filter on columns: the function receives a run of rows as a record batch.

Runs that already are columns, such as those from columnar files, stay columns. Rows from other operators are converted.
"""

from __future__ import annotations

from itertools import compress
from typing import Any, Protocol, cast

from headrace.operators.base import FunctionOperator, Place
from headrace.operators.output import Timestamps, Values
from headrace.types.column_run import ColumnRun, as_columns


class RowColumns(Protocol):
    """Converts rows of one type to columns and back."""

    def run(self, rows: list[Any]) -> ColumnRun:
        """Convert rows to columns."""
        ...

    def mapped(self, result: Any, count: int) -> ColumnRun:
        """Check the columns that a function returned for `count` rows."""
        ...

    def mask(self, result: Any, count: int) -> Any:
        """Check the truth values that a function returned for `count` rows."""
        ...


class _ColumnsOperator(FunctionOperator):
    takes_columns = True

    def __init__(self, func: Any, taken: RowColumns) -> None:
        super().__init__(func)
        self._taken = taken

    def _columns(self, values: Values) -> ColumnRun:
        run = as_columns(values)
        return self.guarded(self._taken.run, values) if run is None else run

    def _called(self, run: ColumnRun) -> Any:
        try:
            return self.func(run.columns)
        except Exception as error:
            raise self.failure_for(error, Place(f"columns of {len(run)} rows, the first of them {run[0]!r}")) from error


class MapColumnsOperator(_ColumnsOperator):
    """Replaces the columns; the number of rows stays the same."""

    def __init__(self, func: Any, taken: RowColumns, given: RowColumns) -> None:
        super().__init__(func, taken)
        self._given = given

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        run = self._columns(values)
        result = self.guarded(self._given.mapped, self._called(run), len(run))
        self.output.emit(cast("Values", result), timestamps)


class FilterColumnsOperator(_ColumnsOperator):
    """Keeps the rows for which the function returns true."""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        run = self._columns(values)
        mask = self.guarded(self._taken.mask, self._called(run), len(run))
        times = None if timestamps is None else list(compress(timestamps, mask.to_pylist()))
        self.output.emit(cast("Values", run.kept(mask)), times)
