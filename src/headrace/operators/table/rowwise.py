"""Operators that look at each row once: GROUPING SETS, table functions, and the checks in front of a sink."""

from __future__ import annotations

from typing import Any

from headrace.errors import BadRecordError
from headrace.graph.table_specs import CheckNotNull, Correlate, Expand
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.keyed import KeyedTableOperator, Row


class ExpandOperator(KeyedTableOperator):
    """Emits each row once per projection."""

    def __init__(self, spec: Expand) -> None:
        super().__init__()
        self._spec = spec

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        spec = self._spec
        projected = [self.guarded(program.rows, values, spec.kinds) for program in spec.programs]
        self.emit([row for rows in zip(*projected) for row in rows])


class CorrelateOperator(KeyedTableOperator):
    """Emits each row with the rows that a table function returns for it. LEFT JOIN pads rows without results."""

    def __init__(self, spec: Correlate) -> None:
        super().__init__()
        self._spec = spec
        self._nulls = (None,) * spec.width

    def open(self) -> None:
        """Open the function, if it can be opened."""
        opener = getattr(self._spec.function, "open", None)
        if callable(opener):
            self.guarded(opener)

    def close(self) -> None:
        """Close the function, if it can be closed."""
        closer = getattr(self._spec.function, "close", None)
        if callable(closer):
            self.guarded(closer)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        spec, function, condition = self._spec, self._spec.function, self._spec.condition
        results: Values = []
        progress = iter(values)
        try:
            for record in progress:
                row, mark = (record[:-1], record[-1:]) if spec.kinds else (record, ())
                count = len(results)
                for other in function(row):
                    if condition is None or condition.pair(row, other):
                        results.append(row + other + mark)
                if spec.left_outer and len(results) == count:
                    results.append(row + self._nulls + mark)
        except Exception as error:
            raise self.failure(error, values, progress) from error
        self.emit(results)


class CheckNotNullOperator(KeyedTableOperator):
    """Fails on rows with null in a NOT NULL column of the sink, or drops them; fits text and bytes to their length."""

    def __init__(self, spec: CheckNotNull) -> None:
        super().__init__()
        self._spec = spec

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        spec = self._spec
        results: Values = []
        for row in values:
            missing = [name for column, name in spec.columns if row[column] is None]
            if not missing:
                results.append(self._fitted(row) if spec.lengths else row)
            elif not spec.drop:
                raise self.failure_for(_null_in(missing[0], row), row)
        self.emit(results)

    def _fitted(self, row: Row) -> Row:
        fitted = list(row)
        for column, length, pad in self._spec.lengths:
            value = row[column]
            if value is not None:
                fitted[column] = value[:length]
                if pad and len(value) < length:
                    fitted[column] = value.ljust(length, b"\0" if isinstance(value, bytes) else " ")
        return tuple(fitted)


def _null_in(name: str, row: Row) -> BadRecordError:
    return BadRecordError(
        f"Column {name!r} is NOT NULL, however, a null value is being written into it",
        seen=row,
        remedy="set 'table.exec.sink.not-null-enforcer' to 'DROP' to drop such records silently, or declare the column "
        "without NOT NULL",
    )


OPERATORS = {Expand: ExpandOperator, Correlate: CorrelateOperator, CheckNotNull: CheckNotNullOperator}
