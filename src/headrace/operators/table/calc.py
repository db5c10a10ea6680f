"""Filter and project, and drop the first half of updates: operators that look at each row once."""

from __future__ import annotations

from typing import Any

from headrace.graph.table_specs import UPDATE_BEFORE, Calc, DropUpdateBefore
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.base import TableOperator, codec_of, rows_of
from headrace.operators.table.batches import SMALL, pyarrow
from headrace.types.column_run import as_columns


class CalcOperator(TableOperator):
    """Runs a program over each run of rows or columns."""

    takes_columns = True

    def __init__(self, spec: Calc) -> None:
        super().__init__()
        self._program, self._kinds = spec.program, spec.kinds
        self._codec = codec_of(spec.output_type, spec.kinds)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        run = as_columns(values)
        if run is None or len(run) < SMALL or self._codec is None:
            self.output.emit(self.guarded(self._program.rows, rows_of(values), self._kinds), None)
        else:
            self.output.emit(self.guarded(self._columns, run.columns), None)

    def process_watermark(self, timestamp: int) -> None:
        self._program.at_watermark(timestamp)
        super().process_watermark(timestamp)

    def _columns(self, batch: Any) -> Any:
        assert self._codec is not None
        return self._codec.of(self._program.columns(batch, self._kinds))


class DropUpdateBeforeOperator(TableOperator):
    """Leaves out -U rows."""

    takes_columns = True

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        run = as_columns(values)
        if run is None:
            self.output.emit([row for row in values if row[-1] != UPDATE_BEFORE], None)
        else:
            kept = pyarrow("pyarrow.compute").not_equal(run.columns.columns[-1], UPDATE_BEFORE)
            self.output.emit(run.kept(kept), None)  # type: ignore[arg-type]


OPERATORS = {Calc: CalcOperator, DropUpdateBefore: lambda spec: DropUpdateBeforeOperator()}
