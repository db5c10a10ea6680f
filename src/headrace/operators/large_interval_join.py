"""Interval join over state that may exceed memory: everything is kept in the keyed table and in timers.

The table has the same format as in `interval_join`. Instead of buckets in memory, event-time timers drop old records, with
the side of the record as namespace.
"""

from __future__ import annotations

from typing import Any

from headrace.operators.interval_join import IntervalJoinOperator
from headrace.operators.output import Timestamps, Values


class LargeIntervalJoinOperator(IntervalJoinOperator):
    """The operator behind `keyed.interval_join(other)` with the disk backend."""

    def take_up(self) -> None:
        """Register timers for records that an in-memory operator left in the table."""
        self._live = self._table.data
        if len(self.context.event_timers) == 0:
            for key, sides in self._live.items():
                for number, side in enumerate(sides):
                    for time in side:
                        self.context.event_timers.register(time + self._kept_for[number], key, number)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        super().process_batch(values, timestamps, keys)
        self._mark()

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        super().process_batch2(values, timestamps, keys)
        self._mark()

    def _mark(self) -> None:
        """Mark the changed keys before anything can leave memory."""
        live = self._live
        self._table.dirty.update(key for key in self._touched if key in live)
        self._touched.clear()

    def process_watermark(self, timestamp: int) -> None:
        """Drop records that cannot find a partner any more, then forward the watermark."""
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
        """Do nothing: the table is up to date."""
