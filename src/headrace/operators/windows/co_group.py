"""Two inputs in one window: join (every pair) and co_group (both groups, also if one is empty).

The window operator with elements that know their side. Contents are dropped by the watermark like those of any window.
"""

from __future__ import annotations

from typing import Any

from headrace.operators.base import method_of
from headrace.operators.output import Timestamps, Values
from headrace.operators.windows.evicting import EvictingWindowOperator
from headrace.state.opaque_key import unwrap_key
from headrace.windows.evictors import TimestampedValue


class CoGroupOperator(EvictingWindowOperator):
    """The operator behind `stream.join(other)` and `stream.co_group(other)`."""

    def open(self) -> None:
        """Bind the function."""
        super().open()
        self._call = method_of(self.spec.function, "co_group" if self.spec.calls == "co_group" else "join")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Add records of the first input."""
        self.side = 0
        super().process_batch(values, timestamps, keys)

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Add records of the second input."""
        self.side = 1
        super().process_batch(values, timestamps, keys)

    def fire_elements(self, key: Any, window: Any, elements: list[TimestampedValue]) -> None:
        """Call the function with both groups, or with every pair of them."""
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
