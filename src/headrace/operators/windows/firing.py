"""The base of all window operators: it calls the window function.

Decides how contents become results: as they are, by `apply`, or by `process` with its context. Results have the highest
timestamp of their window. Opens and closes the user's functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace.graph.specs import WindowOperation
from headrace.operators.base import OperatorWithLateRecords
from headrace.operators.context import TaskRuntimeContext
from headrace.operators.output import Values, emit_tagged
from headrace.operators.windows.contexts import FiringContext
from headrace.operators.windows.folding import contents_for
from headrace.state.opaque_key import unwrap_key
from headrace.windows.assigner import MergingWindowAssigner


class WindowFunctionOperator(OperatorWithLateRecords):
    """A window function, its context, and the results that wait to be emitted."""

    def __init__(self, spec: WindowOperation) -> None:
        super().__init__()
        self.spec = spec
        self.merging = isinstance(spec.assigner, MergingWindowAssigner)
        self._functions = [f for f in (spec.combiner, spec.function) if f is not None]

    def user_functions(self) -> Sequence[Any]:
        """Return the combining function and the window function, if there are any."""
        return self._functions

    def open(self) -> None:
        self.contents = contents_for(self.spec)
        self.firing = FiringContext(self, self.merging)
        self.results: Values = []
        self.times: list[int | None] = []
        self.initialize_functions()
        for function in self._functions:
            opener = getattr(function, "open", None)
            if callable(opener):
                self.guarded(opener, TaskRuntimeContext(self.context))
        clear = getattr(self.spec.function, "clear", None)
        self.clears = callable(clear) and not getattr(clear, "does_nothing", False)

    def close(self) -> None:
        for function in self._functions:
            closer = getattr(function, "close", None)
            if callable(closer):
                self.guarded(closer)

    def fire(self, key: Any, window: Any, elements: Any) -> None:
        """Call the function with the elements of a window; its results wait for `emit_results`."""
        results = self.results
        spec = self.spec
        backend = self.context.keyed_state
        backend.key = key
        if not spec.calls:
            results.extend(elements)
        else:
            try:
                if spec.calls == "process":
                    context = self.firing.at(key, window)
                    if spec.over_all:
                        produced = spec.function.process(context, elements)
                    else:
                        produced = spec.function.process(unwrap_key(key), context, elements)
                elif spec.over_all:
                    produced = spec.function.apply(window, elements)
                else:
                    produced = spec.function.apply(unwrap_key(key), window, elements)
                if produced is not None:
                    results.extend(produced)
            except Exception as error:
                raise self.failure_for(error, f"window {window!r} of key {unwrap_key(key)!r}") from error
        self.stamp(window)

    def stamp(self, window: Any) -> None:
        """Set the timestamp of the window on the results that have none yet."""
        missing = len(self.results) - len(self.times)
        if missing:
            self.times.extend([window.max_timestamp()] * missing)

    def clear_window(self, key: Any, window: Any) -> None:
        """Let a process function clear its own state of a window that is removed."""
        if self.clears:
            self.context.keyed_state.key = key
            self.guarded(self.spec.function.clear, self.firing.at(key, window))

    def emit_results(self) -> None:
        if self.results:
            results, times = self.results, self.times
            self.results, self.times = [], []
            emit_tagged(self.output, results, times)

    def late(self, values: Values, timestamps: list[int | None]) -> None:
        """Send late records to the side output, or drop and count them."""
        self.late_to(self.spec.late_tag, values, timestamps)
