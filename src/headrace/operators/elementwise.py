"""map, flat_map, filter, their forms for two inputs, and running reduce, over whole batches.

A record costs the call of the user's function and a few bytecodes. On a keyed stream a rich function may use keyed state,
so the current key is set before each call. Functions of columns receive a run of rows as a record batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress
from typing import Any, Protocol, cast

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.operators.base import FunctionOperator, Place, method_of
from headrace.operators.output import Timestamps, Values, expand
from headrace.types.column_run import ColumnRun, as_columns

_NOTHING = object()


class MapOperator(FunctionOperator):
    """One result per record."""

    def open(self) -> None:
        super().open()
        self._map = method_of(self.func, "map")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        call = self._map
        records = iter(values)
        try:
            if keys is None or not self.is_rich:
                results = [call(v) for v in records]
            else:
                backend = self.context.keyed_state
                turns = backend.in_turn(keys)
                results = []
                for backend.key, v in zip(turns, records):
                    results.append(call(v))
        except Exception as error:
            raise self.failure(error, values, records) from error
        self.output.emit(results, timestamps)


class FilterOperator(FunctionOperator):
    """Keeps the records for which the function is true."""

    def open(self) -> None:
        super().open()
        self._filter = method_of(self.func, "filter")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        call = self._filter
        records = iter(values)
        try:
            if keys is None or not self.is_rich:
                if timestamps is None:
                    self.output.emit([v for v in records if call(v)], None)
                    return
                kept = [call(v) for v in records]
            else:
                backend = self.context.keyed_state
                turns = backend.in_turn(keys)
                kept = []
                for backend.key, v in zip(turns, records):
                    kept.append(call(v))
        except Exception as error:
            raise self.failure(error, values, records) from error
        self.output.emit(list(compress(values, kept)), None if timestamps is None else list(compress(timestamps, kept)))


class FlatMapOperator(FunctionOperator):
    """Any number of results per record: returned, yielded, or None."""

    def open(self) -> None:
        super().open()
        self._flat_map = method_of(self.func, "flat_map")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        records = iter(values)
        backend = self.context.keyed_state if keys is not None and self.is_rich else None
        try:
            results, times = expand(self._flat_map, records, timestamps, keys, backend)
        except Exception as error:
            raise self.failure(error, values, records) from error
        self.output.emit(results, times)


class CoFlatMapOperator(FunctionOperator):
    """`flat_map1` on the first input, `flat_map2` on the second."""

    methods = ("flat_map1", "flat_map2")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self._run(getattr(self.func, self.methods[0]), values, timestamps, keys)

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self._run(getattr(self.func, self.methods[1]), values, timestamps, keys)

    def _run(self, call: Any, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        records = iter(values)
        backend = self.context.keyed_state if keys is not None and self.is_rich else None
        try:
            results, times = expand(self.shaped(call), records, timestamps, keys, backend)
        except Exception as error:
            raise self.failure(error, values, records) from error
        self.output.emit(results, times)

    def shaped(self, call: Any) -> Any:
        """Return a function whose result is None or an iterable of results."""
        return call


class CoMapOperator(CoFlatMapOperator):
    """`map1` on the first input, `map2` on the second; a result of None is dropped, like in PyFlink."""

    methods = ("map1", "map2")

    def shaped(self, call: Any) -> Any:

        def one(value: Any) -> Any:
            result = call(value)
            return None if result is None else (result,)

        return one


class KeyedReduceOperator(FunctionOperator):
    """Running reduce per key: emits `reduce(last result, value)`, and the first value of a key as it is.

    In batch mode it emits only the final result of each key, at the end.
    """

    def open(self) -> None:
        super().open()
        self._reduce = method_of(self.func, "reduce")
        self._table = self.context.keyed_state.table("_reduce_state")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        assert keys is not None
        call = self._reduce
        data = self._table.data
        get = data.get
        records = iter(values)
        results: Values = []
        append = results.append
        try:
            for key, value in zip(self._announced(keys) if self.is_rich else keys, records):
                before = get(key, _NOTHING)
                if before is not _NOTHING:
                    value = call(before, value)
                data[key] = value
                append(value)
        except Exception as error:
            raise self.failure(error, values, records) from error
        self._table.dirty.update(keys)
        if not self.context.task.batch:
            self.output.emit(results, timestamps)

    def _announced(self, keys: list[Any]) -> Iterator[Any]:
        """Yield the keys, each after making it the current key."""
        backend = self.context.keyed_state
        turns = backend.in_turn(keys)
        for backend.key in turns:
            yield backend.key

    def process_watermark(self, timestamp: int) -> None:
        """In batch mode, emit the final value at the end of a key."""
        if self.context.task.batch and timestamp == MAX_WATERMARK:
            finals = list(self._table.data.values())
            self._table.dirty.update(self._table.data)
            self._table.data.clear()
            self.output.emit(finals, [MAX_WATERMARK] * len(finals))
        super().process_watermark(timestamp)


class RowColumns(Protocol):
    """Converts rows of one type to columns and back."""

    def run(self, rows: list[Any]) -> ColumnRun: ...

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
