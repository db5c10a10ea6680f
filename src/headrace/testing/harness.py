"""Drives one operator by hand: no executor, no Spark, a manual clock.

Results are kept as they come, with their timestamps, and watermarks between them, so that a test can look at the order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.graph.specs import OperatorSpec
from headrace.operators.clock import ManualClock
from headrace.operators.context import OperatorContext, TaskInfo
from headrace.operators.factory import create_operator
from headrace.operators.output import Timestamps, Values
from headrace.state.delta import OperatorState
from headrace.state.heap import HeapKeyedBackend
from headrace.state.opaque_key import hashable_keys
from headrace.state.operator_state import OperatorStateBackend


class _Recorder:
    """A consumer that keeps everything."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        stamps = timestamps if timestamps is not None else [None] * len(values)
        self.items.extend(zip(values, stamps))

    def process_watermark(self, timestamp: int) -> None:
        self.items.append(("watermark", timestamp))

    def process_idle(self, idle: bool) -> None:
        self.items.append(("idle" if idle else "active",))

    def process_clock(self, now: int) -> None:
        """The clock is the harness's own."""


class _Driver:
    """Keeps what print and collect sinks send."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.collected: list[Any] = []

    def print_lines(self, lines: list[str], stderr: bool) -> None:
        self.lines += lines

    def collect(self, collect_id: str, values: list[Any]) -> None:
        self.collected += values


class OperatorHarness:
    """One operator under test.

    >>> from headrace.graph.specs import Map
    >>> harness = OperatorHarness(Map(str.upper))
    >>> harness.process_element("a", 7)
    >>> harness.output
    [('A', 7)]
    """

    def __init__(
        self,
        spec: OperatorSpec,
        key_selector: Callable[[Any], Any] | None = None,
        key_selector2: Callable[[Any], Any] | None = None,
        side_outputs: tuple[str, ...] = (),
        *,
        subtask: int = 0,
        parallelism: int = 1,
        batch: bool = False,
        state: OperatorState | None = None,
        clock: int = 0,
    ) -> None:
        """Builds and opens the operator, from a former `snapshot` if `state` is given."""
        self.clock = ManualClock(clock)
        self.driver = _Driver()
        self._keys = (key_selector, key_selector2)
        task = TaskInfo("0" * 32, "harness", "harness", subtask, parallelism, 128, 0, batch=batch)
        self._context = OperatorContext(
            task, "operator", "operator", None, HeapKeyedBackend(128, range(128)), OperatorStateBackend(),
            self.clock, self.driver,
        )  # fmt: skip
        if state is not None:
            self._context.keyed_state.apply(state.keyed)
            self._context.operator_state.restore(state.plain["operator_state"])
        self.operator = create_operator(spec)
        self.operator.setup(self._context)
        self._main = _Recorder()
        self.operator.output.main.append(self._main)
        self._sides = {tag: _Recorder() for tag in side_outputs}
        for tag, recorder in self._sides.items():
            self.operator.output.sides[tag] = [recorder]
        self.operator.open()

    @property
    def output(self) -> list[Any]:
        """Everything of the main output: (value, timestamp), ("watermark", timestamp)."""
        return self._main.items

    def side_output(self, tag: str) -> list[Any]:
        """The records of a side output, without its watermarks."""
        return [item for item in self._sides[tag].items if len(item) == 2 and item[0] != "watermark"]

    def take_output(self) -> list[Any]:
        """The main output so far; forgets it."""
        taken, self._main.items = self._main.items, []
        return taken

    def process_element(self, value: Any, timestamp: int | None = None) -> None:
        """A record of the first input."""
        self._element(0, value, timestamp)

    def process_element2(self, value: Any, timestamp: int | None = None) -> None:
        """A record of the second input."""
        self._element(1, value, timestamp)

    def process_watermark(self, timestamp: int) -> None:
        """Event time reaches `timestamp`."""
        self.operator.process_watermark(timestamp)

    def set_processing_time(self, now: int) -> None:
        """The clock reaches `now`."""
        self.operator.process_clock(now)

    def end_epoch(self) -> None:
        """An epoch ends."""
        self.operator.end_epoch()

    def finish(self) -> None:
        """All input has ended."""
        self.operator.finish()

    def snapshot(self) -> OperatorState:
        """The operator's state, for a second harness."""
        plain = {"operator_state": self._context.operator_state.snapshot()}
        return OperatorState(self._context.keyed_state.snapshot_full(), plain)

    def close(self) -> None:
        """Closes the function."""
        self.operator.close()

    def _element(self, number: int, value: Any, timestamp: int | None) -> None:
        select = self._keys[number]
        keys = None if select is None else hashable_keys([select(value)])
        call = self.operator.process_batch if number == 0 else self.operator.process_batch2
        call([value], None if timestamp is None else [timestamp], keys)
