"""Interval join over state that may be larger than memory: nothing is kept beside the keyed table and the timers.

The table is that of the quick operator. What it drops by buckets in memory, event-time timers drop here, with the side of
the record as namespace.
"""

from __future__ import annotations

from typing import Any

from headrace.operators.interval_join import IntervalJoinOperator
from headrace.operators.output import Timestamps, Values

__all__ = ["LargeIntervalJoinOperator"]


class LargeIntervalJoinOperator(IntervalJoinOperator):
    """The operator behind `keyed.interval_join(other)` with the disk backend."""

    def take_up(self) -> None:
        """Records of a former quick operator have no timers yet."""
        self._live = self._table.data
        if len(self.context.event_timers) == 0:
            for key, sides in self._live.items():
                for number, side in enumerate(sides):
                    for time in side:
                        self.context.event_timers.register(time + self._kept_for[number], key, number)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Joins left records."""
        super().process_batch(values, timestamps, keys)
        self._mark()

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Joins right records."""
        super().process_batch2(values, timestamps, keys)
        self._mark()

    def _mark(self) -> None:
        """Before anything can leave memory: what has changed."""
        live = self._live
        self._table.dirty.update(key for key in self._touched if key in live)
        self._touched.clear()

    def process_watermark(self, timestamp: int) -> None:
        """Drops what cannot find a partner any more, then hands the watermark on."""
        self.watermark = timestamp
        timers, live, dirty = self.context.event_timers, self._live, self._table.dirty
        due = timers.pop_due(timestamp)
        while due is not None:
            time, key, number = due
            sides = live[key]
            del sides[number][time - self._kept_for[number]]
            dirty.add(key)
            if not sides[0] and not sides[1]:
                del live[key]
            due = timers.pop_due(timestamp)
        self.output.emit_watermark(timestamp)

    def _expire_at(self, time: int, entry: Any) -> None:
        key, side, _ = entry
        self.context.event_timers.register(time, key, 0 if side is self._live[key][0] else 1)

    def end_epoch(self) -> None:
        """The table has everything already."""
