"""Operators with two inputs: CoMap, CoFlatMap, CoProcess (keyed or not)."""

from __future__ import annotations

from typing import Any

from headrace.operators.base import FunctionOperator
from headrace.operators.emission import expand
from headrace.operators.output import Timestamps, Values
from headrace.operators.process import TimedFunctionOperator


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


class CoProcessOperator(TimedFunctionOperator):
    """`process_element1` and `process_element2`; keyed inputs share state and timers."""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self.run_elements(self.func.process_element1, self.element_context, values, timestamps, keys)

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self.run_elements(self.func.process_element2, self.element_context, values, timestamps, keys)
