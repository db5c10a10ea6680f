"""The window operator with an evictor: elements are kept with their timestamps, and some are taken out at each firing."""

from __future__ import annotations

from typing import Any

from headrace.graph.specs import WindowOperation
from headrace.operators.windows.contents import Contents
from headrace.operators.windows.operator import WindowOperator
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
