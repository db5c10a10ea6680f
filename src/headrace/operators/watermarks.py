"""`assign_timestamps_and_watermarks` in the middle of a stream."""

from __future__ import annotations

from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK, WatermarkStrategy
from headrace.operators.base import Operator
from headrace.operators.event_time import EventTime
from headrace.operators.output import Timestamps, Values


class AssignTimestampsOperator(Operator):
    """Replaces timestamps and watermarks of its input by those of the strategy; only MAX passes through."""

    def __init__(self, strategy: WatermarkStrategy) -> None:
        super().__init__()
        self._strategy = strategy
        self._said_idle = False
        self._input_idle = False

    def open(self) -> None:
        """Starts event time."""
        task = self.context.task
        self._time = EventTime(
            self._strategy, task.watermark_records, self.context.clock.now(), self.output.emit, self._changed
        )
        facts = self.context.facts.get("event_time")
        if facts is not None:
            self._time.restore(facts)
            self.watermark = self._time.watermark

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Assigns timestamps and emits the run with the watermarks due in it."""
        try:
            self._time.feed(values, timestamps)
        except Exception as error:
            raise self.failure(error, values, None) from error

    def process_watermark(self, timestamp: int) -> None:
        """Ignored, but for the end of event time."""
        if timestamp == MAX_WATERMARK:
            self._time.periodic()
            super().process_watermark(timestamp)

    def process_idle(self, idle: bool) -> None:
        """Idle input makes the output idle."""
        self._input_idle = idle
        self._changed()

    def end_epoch(self) -> None:
        """Emits the epoch's last watermark."""
        if not self._input_idle:
            self._time.end_epoch(self.context.clock.now())
        self.context.facts["event_time"] = self._time.snapshot()

    def _changed(self) -> None:
        if self._time.watermark > self.watermark:
            self.watermark = self._time.watermark
            if not self.context.task.batch:
                self.output.emit_watermark(self.watermark)
        idle = self._time.idle or self._input_idle
        if idle != self._said_idle:
            self._said_idle = idle
            self.output.emit_idle(idle)
