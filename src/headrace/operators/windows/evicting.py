"""The window operator with an evictor: elements are kept with their timestamps, and some are taken out at each firing.

With elements that know their side it also joins two inputs in one window.
"""

from __future__ import annotations

from typing import Any

from headrace.graph.specs import WindowOperation
from headrace.operators.base import method_of
from headrace.operators.output import Timestamps, Values
from headrace.operators.windows.folding import Contents
from headrace.operators.windows.operator import WindowOperator
from headrace.state.opaque_key import unwrap_key
from headrace.windows.evictors import TimestampedValue


class EvictingWindowOperator(WindowOperator):
    """Reduce and aggregate are computed from the remaining elements, at each firing again."""

    def __init__(self, spec: WindowOperation) -> None:
        super().__init__(spec)
        self._evictor = spec.evictor
        self.side = 0

    def open(self) -> None:
        """Keep the elements themselves, whatever the operation."""
        super().open()
        self._combined = self.contents
        self.contents = Contents()

    def _put(self, key: Any, place: Any, value: Any, stamp: int | None) -> None:
        super()._put(key, place, TimestampedValue(value, stamp, self.side), None)

    def _emit_window(self, key: Any, window: Any, place: Any, contents: Any) -> None:
        elements: list[TimestampedValue] = list(contents)
        context = self.firing.at(key, window)
        if self._evictor is not None:
            self._evictor.evict_before(elements, len(elements), window, context)
        self.fire_elements(key, window, elements)
        if self._evictor is not None:
            self._evictor.evict_after(elements, len(elements), window, self.firing.at(key, window))
        if len(elements) != len(contents):
            if elements:
                contents[:] = elements
            else:
                self._table.data.pop((key, place), None)
            self._table.dirty.add((key, place))

    def fire_elements(self, key: Any, window: Any, elements: list[TimestampedValue]) -> None:
        """Call the window function with the remaining elements."""
        combined = self._combined
        values = [element.value for element in elements]
        if not combined.single:
            self.fire(key, window, values)
            return
        if not values:
            # Nothing remains to be reduced; an aggregate function has a result without elements too.
            if self.spec.kind == "aggregate":
                self.fire(key, window, [combined.result(self.spec.combiner.create_accumulator())])
            return
        kept = combined.first(values[0])
        for value in values[1:]:
            kept = combined.add(value, kept)
        self.fire(key, window, [combined.result(kept)])


class CoGroupOperator(EvictingWindowOperator):
    """The operator of `stream.join(other)`, every pair, and `stream.co_group(other)`, both groups, also if one is empty."""

    def open(self) -> None:
        super().open()
        self._call = method_of(self.spec.function, "co_group" if self.spec.calls == "co_group" else "join")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self.side = 0
        super().process_batch(values, timestamps, keys)

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self.side = 1
        super().process_batch(values, timestamps, keys)

    def fire_elements(self, key: Any, window: Any, elements: list[TimestampedValue]) -> None:
        first = [e.value for e in elements if e.side == 0]
        second = [e.value for e in elements if e.side == 1]
        results, call = self.results, self._call
        self.context.keyed_state.key = key
        try:
            if self.spec.calls == "join":
                results.extend(call(left, right) for left in first for right in second)
            else:
                groups = [(first, second)] if self.spec.calls == "co_group" else [(a, b) for a in first for b in second]
                for left, right in groups:
                    produced = call(left, right)
                    if produced is not None:
                        results.extend(produced)
        except Exception as error:
            raise self.failure_for(error, f"window {window!r} of key {unwrap_key(key)!r}") from error
        self.stamp(window)
