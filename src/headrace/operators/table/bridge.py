"""Between streams and tables: elements with timestamps become rows in internal form, and back."""

from __future__ import annotations

from typing import Any

from headrace.graph.table_specs import FromStream, TableSpec, ToStream
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.base import TableOperator, rows_of


class FromStreamOperator(TableOperator):
    """Converts elements of a stream to rows; their timestamps may become a column."""

    def __init__(self, spec: FromStream) -> None:
        super().__init__()
        self._convert, self._time = spec.convert, spec.time

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        convert, place = self._convert, self._time
        records = iter(values)
        try:
            rows = [convert(value) for value in records]
        except Exception as error:
            raise self.failure(error, values, records) from error
        if place is not None:
            stamps = timestamps if timestamps is not None else [None] * len(rows)
            rows = [
                (*row[:place], None if stamp is None else stamp * 1000, *row[place:])
                for row, stamp in zip(rows, stamps)
            ]
        self.output.emit(rows, None)


class ToStreamOperator(TableOperator):
    """Converts rows to elements of a stream; a time attribute becomes their timestamp."""

    def __init__(self, spec: ToStream) -> None:
        super().__init__()
        self._convert, self._time = spec.convert, spec.time

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        rows = rows_of(values)
        stamps: Any = None
        if self._time is not None:
            time = self._time
            stamps = [None if row[time] is None else row[time] // 1000 for row in rows]
        records = iter(rows)
        try:
            elements = [self._convert(row) for row in records]
        except Exception as error:
            raise self.failure(error, rows, records) from error
        self.output.emit(elements, stamps)


OPERATORS: dict[type[TableSpec], Any] = {FromStream: FromStreamOperator, ToStream: ToStreamOperator}
