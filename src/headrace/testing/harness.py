"""Drive one operator in a test: no executor, no Spark, a manual clock.

Results are kept in order, with their timestamps and the watermarks between them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.graph.specs import OperatorSpec
from headrace.operators.batch import GroupedInput
from headrace.operators.clock import ManualClock
from headrace.operators.context import OperatorContext, TaskInfo
from headrace.operators.factory import create_operator
from headrace.operators.output import LatencyMarker, Timestamps, Values
from headrace.state.file_format import OperatorState
from headrace.state.heap import HeapKeyedBackend
from headrace.state.opaque_key import filed_keys
from headrace.state.operator_state import OperatorStateBackend
from headrace.testing.events import Event, Idle, Record, WatermarkTo
from headrace.worker.exchange.channels import Valve


class _Recorder:
    """A consumer that records everything."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        stamps = timestamps if timestamps is not None else [None] * len(values)
        self.events.extend(Record(v, t) for v, t in zip(values, stamps))

    def process_watermark(self, timestamp: int) -> None:
        self.events.append(WatermarkTo(timestamp))

    def process_idle(self, idle: bool) -> None:
        self.events.append(Idle(idle))

    def process_clock(self, now: int) -> None:
        """Ignore the clock: the test sets it."""

    def process_marker(self, marker: LatencyMarker) -> None:
        """Ignore markers: they are not output."""


class _Driver:
    """Records what print and collect sinks send."""

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
        watermark_records: int = 1000,
        inputs: int = 1,
    ) -> None:
        """Build and open the operator; `state` is a previous `snapshot` to start from."""
        self.clock = ManualClock(clock)
        self.driver = _Driver()
        self._keys = (key_selector, key_selector2)
        task = TaskInfo(
            job_id="0" * 32,
            job_name="harness",
            vertex_name="harness",
            subtask=subtask,
            parallelism=parallelism,
            max_parallelism=128,
            attempt=0,
            batch=batch,
            watermark_records=watermark_records,
        )
        self._context = OperatorContext(
            task, "operator", "operator", None, HeapKeyedBackend(128, range(128)), OperatorStateBackend(),
            self.clock, self.driver,
        )  # fmt: skip
        self._context.keyed = key_selector is not None
        self._valve = Valve({(number, 0): number for number in range(inputs)})
        self._checkpoints = 0
        self.operator = create_operator(spec)
        if state is not None:
            self._restore(state)
        self._receiver = GroupedInput(self.operator) if batch else self.operator
        self.operator.setup(self._context)
        self._main = _Recorder()
        self.operator.output.main.append(self._main)
        self._sides = {tag: _Recorder() for tag in side_outputs}
        for tag, recorder in self._sides.items():
            self.operator.output.sides[tag] = [recorder]
        self.operator.open()

    @property
    def output(self) -> list[Any]:
        """Return the main output: (value, timestamp), ("watermark", timestamp), ("idle",), ("active",)."""
        return [_plain(event) for event in self._main.events]

    @property
    def events(self) -> list[Event]:
        """Return the main output as events."""
        return self._main.events

    def side_output(self, tag: str) -> list[Any]:
        """Return the records of a side output, without its watermarks."""
        return [_plain(event) for event in self._sides[tag].events if isinstance(event, Record)]

    def take_output(self) -> list[Any]:
        """Return the main output so far, and clear it."""
        return [_plain(event) for event in self.take_events()]

    def take_events(self, tag: str | None = None) -> list[Event]:
        """Return the events so far of the main output, or of a side output, and clear them."""
        recorder = self._main if tag is None else self._sides[tag]
        taken, recorder.events = recorder.events, []
        return taken

    def process_element(self, value: Any, timestamp: int | None = None) -> None:
        """Process a record of the first input."""
        self._element(0, value, timestamp)

    def process_element2(self, value: Any, timestamp: int | None = None) -> None:
        """Process a record of the second input."""
        self._element(1, value, timestamp)

    def process_watermark(self, timestamp: int, number: int | None = None) -> None:
        """Advance event time to `timestamp` in both inputs, or only in the one with this number (0 or 1)."""
        for channel in self._channels(number):
            self._change(self._valve.watermark, channel, timestamp)

    def process_idle(self, idle: bool, number: int | None = None) -> None:
        """Make both inputs, or the one with this number (0 or 1), idle or active."""
        for channel in self._channels(number):
            self._change(self._valve.set_idle, channel, idle)

    def set_processing_time(self, now: int) -> None:
        """Advance the clock to `now`."""
        self._receiver.process_clock(now)

    def end_epoch(self) -> None:
        """End an epoch."""
        self.operator.end_epoch()

    def end_input(self) -> None:
        """End all input: advance event time to its end, then finish the function."""
        self.process_watermark(MAX_WATERMARK)
        self.finish()

    def finish(self) -> None:
        """Finish the function, after all input and event time have ended."""
        self.operator.finish()

    def snapshot(self) -> OperatorState:
        """End an epoch with a checkpoint and return the operator's state, from which a second harness can continue."""
        self.end_epoch()
        self._checkpoints += 1
        self.operator.snapshot(self._checkpoints, self.clock.now())
        context = self._context
        plain = {
            "operator_state": context.operator_state.snapshot(),
            "kinds": context.keyed_state.state_kinds(),
            "facts": dict(context.facts),
            "valve": self._valve.snapshot(),
            "watermark": self.operator.watermark,
            "checkpoint": self._checkpoints,
        }
        return OperatorState(context.keyed_state.snapshot_full(), plain)

    def _restore(self, state: OperatorState) -> None:
        self._context.keyed_state.apply(state.keyed, state.plain["kinds"])
        self._context.operator_state.restore(state.plain["operator_state"])
        self._context.facts.update(state.plain["facts"])
        self._valve.restore(state.plain["valve"])
        self.operator.watermark = state.plain["watermark"]
        self._checkpoints = self._context.restored_checkpoint = state.plain["checkpoint"]

    def close(self) -> None:
        """Close the function."""
        self.operator.close()

    def _element(self, number: int, value: Any, timestamp: int | None) -> None:
        select = self._keys[number]
        keys = None if select is None else filed_keys([select(value)])
        call = self._receiver.process_batch if number == 0 else self._receiver.process_batch2
        call([value], None if timestamp is None else [timestamp], keys)

    def _channels(self, number: int | None) -> list[tuple[int, int]]:
        return [channel for channel in self._valve.marks if number in (None, channel[0])]

    def _change(self, call: Callable[..., int | None], channel: tuple[int, int], value: int) -> None:
        """Pass a change of the valve to the operator, in the same order as a task."""
        was_idle = self._valve.all_idle
        risen = call(channel, value)
        if was_idle and not self._valve.all_idle:
            self._receiver.process_idle(False)
        if risen is not None:
            self._receiver.process_watermark(risen)
        if self._valve.all_idle and not was_idle:
            self._receiver.process_idle(True)


def _plain(event: Event) -> tuple[Any, ...]:
    match event:
        case Record(value, timestamp):
            return value, timestamp
        case WatermarkTo(timestamp):
            return "watermark", timestamp
        case Idle(idle):
            return ("idle" if idle else "active",)
        case _:
            raise TypeError(event)
