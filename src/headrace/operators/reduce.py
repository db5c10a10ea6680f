"""Running reduce per key: the accumulator is the last result. In batch mode only finals are emitted, at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.operators.base import FunctionOperator, method_of
from headrace.operators.output import Timestamps, Values

_NOTHING = object()


class KeyedReduceOperator(FunctionOperator):
    """`reduce(accumulated, value)`; the first value of a key is emitted as it is."""

    def open(self) -> None:
        """Binds the function's `reduce` and the state table."""
        super().open()
        self._reduce = method_of(self.func, "reduce")
        self._table = self.context.keyed_state.table("_reduce_state")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Folds every record into its key's value and emits that."""
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
        """The keys, each made the current one before it is given."""
        backend = self.context.keyed_state
        turns = backend.in_turn(keys)
        for backend.key in turns:
            yield backend.key

    def process_watermark(self, timestamp: int) -> None:
        """In batch mode, at the end of a key: its final value."""
        if self.context.task.batch and timestamp == MAX_WATERMARK:
            finals = list(self._table.data.values())
            self._table.dirty.update(self._table.data)
            self._table.data.clear()
            self.output.emit(finals, [MAX_WATERMARK] * len(finals))
        super().process_watermark(timestamp)
