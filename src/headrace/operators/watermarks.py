"""`assign_timestamps_and_watermarks` in the middle of a stream."""

from __future__ import annotations

from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK, WatermarkStrategy
from headrace.operators.base import Operator
from headrace.operators.event_time import EventTime
from headrace.operators.output import Timestamps, Values


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
