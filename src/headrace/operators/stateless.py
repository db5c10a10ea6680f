"""map, flat_map and filter over whole batches.

A record costs the user's function call and a few bytecodes. On a keyed stream a rich function may use keyed state, so
there the current key is set before each call.
"""

from __future__ import annotations

from itertools import compress
from typing import Any

from headrace.operators.base import FunctionOperator, method_of
from headrace.operators.emission import expand
from headrace.operators.output import Timestamps, Values


class MapOperator(FunctionOperator):
    """One result per record."""

    def open(self) -> None:
        """Binds the function's `map`."""
        super().open()
        self._map = method_of(self.func, "map")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Maps every record."""
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
        """Binds the function's `filter`."""
        super().open()
        self._filter = method_of(self.func, "filter")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Filters the run."""
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
        """Binds the function's `flat_map`."""
        super().open()
        self._flat_map = method_of(self.func, "flat_map")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Expands every record."""
        records = iter(values)
        backend = self.context.keyed_state if keys is not None and self.is_rich else None
        try:
            results, times = expand(self._flat_map, records, timestamps, keys, backend)
        except Exception as error:
            raise self.failure(error, values, records) from error
        self.output.emit(results, times)
