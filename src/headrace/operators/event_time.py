"""Apply a watermark strategy to one part of a stream: a source split, or an operator's input.

Periodic watermarks come every n records and at the end of an epoch, never by wall clock, so that a replay produces the same.
Only idleness depends on the clock, and only at the end of an epoch.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from operator import length_hint
from typing import Any

from headrace.common.watermark_strategy import (
    MAX_WATERMARK,
    MIN_TIMESTAMP,
    BoundedOutOfOrderness,
    CustomGenerator,
    MonotonousTimestamps,
    NoWatermarks,
    Watermark,
    WatermarkOutput,
    WatermarkStrategy,
)
from headrace.errors import TypeMismatchError
from headrace.operators.base import Operator
from headrace.operators.output import Timestamps, Values

EmitRun = Callable[[Values, Timestamps], None]
Failure = Callable[[Exception, Any], Exception]
"""failure(error, record) returns the error to raise for an exception of user code."""


class EventTime:
    """Passes runs of records through a strategy.

    `emit` receives the runs, split where a watermark is due; `changed` is called after `watermark` or `idle` changed;
    `failure` returns the error to raise when the user's assigner or generator fails.
    """

    def __init__(
        self,
        strategy: WatermarkStrategy,
        interval: int,
        now: int,
        emit: EmitRun,
        changed: Callable[[], None],
        failure: Failure,
        *,
        batch: bool = False,
    ) -> None:
        """With `batch`, only assign timestamps: there are no watermarks before the end."""
        self.watermark = MIN_TIMESTAMP
        self.idle = False
        self.last_timestamp: int | None = None
        """Timestamp of the last record, if it has one."""
        self._emit = emit
        self._changed = changed
        self._failure = failure
        self._interval = interval
        self._since = 0
        self._assigner = strategy.timestamp_assigner
        self._idle_timeout = None if batch else strategy.idle_timeout_ms
        self._last_record = now
        self._saw_records = False
        self._timed_out = False
        """Whether idle by timeout, which a record ends. Explicit idleness (from a generator or source) ends with a watermark."""
        try:
            self._generator = None if batch else _generator(strategy)
        except Exception as error:
            raise failure(error, None) from error

    def feed(self, values: Values, timestamps: Timestamps) -> None:
        """Assign timestamps to a run of records and emit it with the watermarks that become due in it."""
        if not values:
            return
        self._saw_records = True
        if self._timed_out:
            self._timed_out = False
            self.set_idle(False)
        times = self._assigned(values, timestamps)
        if times is not None and times[-1] != MIN_TIMESTAMP:
            self.last_timestamp = times[-1]
        if self._generator is None:
            self._emit(values, times)
            return
        stamps: list[Any] = times if times is not None else [MIN_TIMESTAMP] * len(values)
        if isinstance(self._generator, _Custom):
            self._feed_custom(self._generator, values, stamps)
            return
        start, total = 0, len(values)
        while start < total:
            end = min(total, start + self._interval - self._since)
            whole = start == 0 and end == total
            run = stamps if whole else stamps[start:end]
            self._emit(values if whole else values[start:end], run)
            self._generator.see(max(run))
            self._since += end - start
            if self._since >= self._interval:
                self.periodic()
            start = end

    def periodic(self) -> None:
        """Emit the generator's watermark if it rose."""
        self._since = 0
        if self._generator is None:
            return
        try:
            self._generator.on_periodic()
        except Exception as error:
            raise self._failure(error, None) from error
        self._take_over()

    def end(self) -> None:
        """End event time. Call the generator once more, but ignore its watermark.

        This matches Flink, where the highest watermark follows the last periodic one.
        """
        self.watermark = MAX_WATERMARK
        self.periodic()

    def end_epoch(self, now: int) -> None:
        """Emit the epoch's last watermark and decide about idleness."""
        self.periodic()
        if self._saw_records:
            self._saw_records = False
            self._last_record = now
        elif self._idle_timeout is not None and not self.idle and now - self._last_record >= self._idle_timeout:
            self._timed_out = True
            self.set_idle(True)

    def snapshot(self) -> dict[str, Any]:
        """Return what a successor needs so that event time does not go back."""
        highest = self._generator.highest if isinstance(self._generator, _Bounded) else None
        return {
            "watermark": self.watermark,
            "idle": self.idle,
            "timed_out": self._timed_out,
            "highest": highest,
            "since": self._since,
        }

    def restore(self, facts: dict[str, Any]) -> None:
        """Take over from `snapshot`."""
        self.watermark, self._since = facts["watermark"], facts["since"]
        self.idle, self._timed_out = facts["idle"], facts["timed_out"]
        if isinstance(self._generator, _Bounded) and facts["highest"] is not None:
            self._generator.highest = facts["highest"]

    def _assigned(self, values: Values, timestamps: Timestamps) -> Timestamps:
        if self._assigner is None:
            if timestamps is not None and None in timestamps and self._generator is not None:
                return [MIN_TIMESTAMP if t is None else t for t in timestamps]
            return timestamps
        extract = self._assigner.extract_timestamp
        records = iter(values)
        try:
            if timestamps is None:
                times: list[Any] = [extract(v, MIN_TIMESTAMP) for v in records]
            else:
                before = [MIN_TIMESTAMP if t is None else t for t in timestamps]
                times = [extract(v, t) for t, v in zip(before, records)]
        except Exception as error:
            raise self._failure(error, values[len(values) - length_hint(records) - 1]) from error
        try:
            array("q", times)
        except (TypeError, OverflowError):
            for value, stamp in zip(values, times):
                if not isinstance(stamp, int) or not MIN_TIMESTAMP <= stamp < 2**63:
                    raise self._failure(_bad_timestamp(value, stamp), value) from None
        return times

    def _feed_custom(self, generator: _Custom, values: Values, stamps: list[Any]) -> None:
        start = 0
        for i, (value, stamp) in enumerate(zip(values, stamps), 1):
            self._since += 1
            try:
                generator.on_event(value, stamp)
                if self._since >= self._interval:
                    self._since = 0
                    generator.on_periodic()
            except Exception as error:
                raise self._failure(error, value) from error
            if generator.output.said:
                self._emit(values[start:i], stamps[start:i])
                start = i
                self._take_over()
        if start < len(values):
            self._emit(values[start:], stamps[start:])

    def _take_over(self) -> None:
        """Apply what the generator emitted to the stream."""
        generator = self._generator
        if generator is None:
            return
        if isinstance(generator, _Custom):
            said, generator.output.said = generator.output.said, []
            for watermark, idle in said:
                if idle is not None:
                    self.set_idle(idle)
                elif watermark is not None:
                    self.raise_to(watermark)
        else:
            self.raise_to(generator.current())

    def raise_to(self, timestamp: int) -> None:
        """Raise the watermark, unless it is already higher. A rise ends idleness."""
        if timestamp > self.watermark:
            self.watermark = timestamp
            self.idle = False
            self._changed()

    def set_idle(self, idle: bool) -> None:
        """Mark the stream as idle or active."""
        if idle != self.idle:
            self.idle = idle
            self._changed()


class _Bounded:
    """The watermark trails the highest timestamp by `delay` + 1."""

    def __init__(self, delay: int) -> None:
        self._delay = delay
        self.highest = MIN_TIMESTAMP + delay + 1

    def see(self, timestamp: int) -> None:
        if timestamp > self.highest:
            self.highest = timestamp

    def on_periodic(self) -> None:
        """Nothing to prepare."""

    def current(self) -> int:
        return self.highest - self._delay - 1


class _Said(WatermarkOutput):
    """Records what a user's generator emits, in order: (watermark, None) or (None, idle)."""

    def __init__(self) -> None:
        self.said: list[tuple[int | None, bool | None]] = []

    def emit_watermark(self, watermark: Watermark) -> None:
        timestamp = getattr(watermark, "timestamp", None)
        if not isinstance(timestamp, int) or not MIN_TIMESTAMP <= timestamp < 2**63:
            raise TypeMismatchError(
                "A watermark generator must emit a Watermark with milliseconds since 1970-01-01 UTC as an int of 64 bits",
                seen=watermark,
                remedy="call output.emit_watermark(Watermark(timestamp)) with an int.",
            )
        self.said.append((timestamp, None))

    def mark_idle(self) -> None:
        self.said.append((None, True))

    def mark_active(self) -> None:
        self.said.append((None, False))


class _Custom:
    """A user's WatermarkGenerator."""

    def __init__(self, definition: CustomGenerator) -> None:
        self._generator = definition.create()
        self.output = _Said()

    def on_event(self, value: Any, timestamp: int | None) -> None:
        self._generator.on_event(value, MIN_TIMESTAMP if timestamp is None else timestamp, self.output)

    def on_periodic(self) -> None:
        self._generator.on_periodic_emit(self.output)


def _generator(strategy: WatermarkStrategy) -> _Bounded | _Custom | None:
    definition = strategy.generator
    if isinstance(definition, NoWatermarks):
        return None
    if isinstance(definition, BoundedOutOfOrderness):
        return _Bounded(definition.millis)
    if isinstance(definition, MonotonousTimestamps):
        return _Bounded(0)
    return _Custom(definition)


def _bad_timestamp(value: Any, stamp: Any) -> TypeMismatchError:
    return TypeMismatchError(
        "A timestamp assigner must return milliseconds since 1970-01-01 UTC as an int of 64 bits",
        seen=f"{stamp!r} ({type(stamp).__name__}) for record {value!r:.200}",
        remedy="return an int from extract_timestamp, e.g. int(seconds * 1000).",
    )


class AssignTimestampsOperator(Operator):
    """Replaces the timestamps and watermarks of its input with those of the strategy; only MAX passes through."""

    def __init__(self, strategy: WatermarkStrategy) -> None:
        super().__init__()
        self._strategy = strategy
        self._said_idle = False

    def open(self) -> None:
        task = self.context.task
        self._time = EventTime(
            self._strategy,
            task.watermark_records,
            self.context.clock.now(),
            self.output.emit,
            self._changed,
            self.failure_for,
            batch=task.batch,
        )
        facts = self.context.facts.get("event_time")
        if facts is not None:
            self._time.restore(facts)
            self.watermark, self._said_idle = self._time.watermark, self._time.idle

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self._time.feed(values, timestamps)

    def process_watermark(self, timestamp: int) -> None:
        """Ignore all watermarks except for the end of event time."""
        if timestamp == MAX_WATERMARK:
            super().process_watermark(timestamp)
            self._time.end()

    def process_idle(self, idle: bool) -> None:
        """Ignore it, like Flink: this strategy decides about idleness (`with_idleness`, `mark_idle`)."""

    def end_epoch(self) -> None:
        self._time.end_epoch(self.context.clock.now())
        self.context.facts["event_time"] = self._time.snapshot()

    def _changed(self) -> None:
        idle = self._time.idle
        if self._said_idle and not idle:
            self._said_idle = False
            self.output.emit_idle(False)
        if self._time.watermark > self.watermark:
            self.watermark = self._time.watermark
            self.output.emit_watermark(self.watermark)
        if idle and not self._said_idle:
            self._said_idle = True
            self.output.emit_idle(True)
