"""Interval join: pairs of two keyed inputs with left + lower <= right <= left + upper in event time.

A record behind the watermark is late. Any other record: 1. is kept until no partner can come any more; 2. is paired with the
kept records of the other side. It is dropped as soon as the watermark reaches the latest time of a partner, so a key without
recent records keeps nothing.

Working memory and state: during an epoch only dicts change, key -> (left, right), each a dict timestamp -> values. At the
end of the epoch, those of changed keys are written to the keyed table. For state that may exceed memory, everything is kept
in the keyed table and in timers.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK, MIN_TIMESTAMP
from headrace.errors import InvalidProgramError
from headrace.graph.specs import IntervalJoin
from headrace.operators.base import FunctionOperator, OperatorWithLateRecords
from headrace.operators.output import Timestamps, Values, emit_tagged

_Side = dict[int, list[Any]]
_Sides = tuple[_Side, _Side]
_Kept = tuple[Any, _Side, int]
"""(key, the side's dict, timestamp): the records of one key and side with one timestamp."""


class JoinContext:
    """The `ctx` of `process_element(left, right, ctx)`: the timestamps of the pair."""

    left = right = MIN_TIMESTAMP

    def get_left_timestamp(self) -> int:
        return self.left

    def get_right_timestamp(self) -> int:
        return self.right

    def get_timestamp(self) -> int:
        return max(self.left, self.right)

    timestamp = get_timestamp


class IntervalJoinOperator(FunctionOperator, OperatorWithLateRecords):
    """The operator behind `keyed.interval_join(other)`."""

    def __init__(self, spec: IntervalJoin) -> None:
        super().__init__(spec.function)
        self._spec = spec
        self._live: dict[Any, _Sides] = {}
        self._touched: set[Any] = set()
        # Kept records by the time when they expire, in buckets of some milliseconds; the heap holds the bucket numbers.
        self._expiring: dict[int, list[_Kept]] = {}
        self._buckets: list[int] = []
        self._bucket = max(1, (spec.upper - spec.lower) // 64)
        self._kept_for = (max(spec.upper, 0), max(-spec.lower, 0))

    def open(self) -> None:
        self._table = self.context.keyed_state.table("_interval_join")
        self.take_up()
        self._join_context = JoinContext()
        super().open()

    def take_up(self) -> None:
        """Load the table's records into working memory. Discard timers that an operator for large state registered."""
        timers = self.context.event_timers
        while timers.pop_due(MAX_WATERMARK) is not None:
            pass
        self._live = dict(self._table.data)
        for key, sides in self._live.items():
            for side, kept_for in zip(sides, self._kept_for):
                for time in side:
                    self._expire_at(time + kept_for, (key, side, time))

    # -- elements -------------------------------------------------------------------------------------------------

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self._run(0, values, timestamps, keys)

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self._run(1, values, timestamps, keys)

    def _run(self, own: int, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        assert keys is not None
        if timestamps is None or None in timestamps:
            raise self.failure_for(_missing_timestamp(), values[0])
        stamps: list[int] = timestamps  # type: ignore[assignment]  # no None in it
        spec, live, watermark = self._spec, self._live, self.watermark
        low, high = (spec.lower, spec.upper) if own == 0 else (-spec.upper, -spec.lower)
        kept_for, bucket, expiring = self._kept_for[own], self._bucket, self._expiring
        backend, context, call = self.context.keyed_state, self._join_context, self.func.process_element
        results: Values = []
        times: list[int | None] = []
        late: list[int] = []
        records = iter(values)
        try:
            for i, (time, key, value) in enumerate(zip(stamps, keys, records)):
                if time < watermark:
                    late.append(i)
                    continue
                sides = live.get(key)
                if sides is None:
                    sides = live[key] = ({}, {})
                same = sides[own]
                if time in same:
                    same[time].append(value)
                else:
                    same[time] = [value]
                    due = expiring.get((time + kept_for) // bucket)
                    if due is None:
                        self._expire_at(time + kept_for, (key, same, time))
                    else:
                        due.append((key, same, time))
                for other_time, others in sides[1 - own].items():
                    if not low <= other_time - time <= high:
                        continue
                    backend.key = key
                    context.left, context.right = (time, other_time) if own == 0 else (other_time, time)
                    for other in others:
                        produced = call(value, other, context) if own == 0 else call(other, value, context)
                        if produced is not None:
                            results.extend(produced)
                    times.extend([context.get_timestamp()] * (len(results) - len(times)))
        except Exception as error:
            raise self.failure(error, values, records) from error
        self._touched.update(keys)
        emit_tagged(self.output, results, times)
        if late:
            self._late(own, [values[i] for i in late], [timestamps[i] for i in late])

    def _late(self, own: int, values: Values, timestamps: list[int | None]) -> None:
        tag = self._spec.right_late_tag if own else self._spec.left_late_tag
        self.late_to(tag, values, timestamps)

    # -- time -----------------------------------------------------------------------------------------------------

    def process_watermark(self, timestamp: int) -> None:
        """Drop records that cannot find a partner any more, then forward the watermark."""
        self.watermark = timestamp
        limit = timestamp // self._bucket
        while self._buckets and self._buckets[0] < limit:
            self._drop(self._expiring.pop(heappop(self._buckets)))
        if self._buckets and self._buckets[0] == limit:
            left, right = self._kept_for
            kept = self._expiring[limit]
            live = self._live
            over = [e for e in kept if e[2] + (left if e[1] is live[e[0]][0] else right) <= timestamp]
            if len(over) == len(kept):
                del self._expiring[heappop(self._buckets)]
            else:
                self._expiring[limit] = [
                    e for e in kept if e[2] + (left if e[1] is live[e[0]][0] else right) > timestamp
                ]
            self._drop(over)
        self.output.emit_watermark(timestamp)

    def _drop(self, entries: list[_Kept]) -> None:
        """Drop expired records, and keys without records."""
        live, touched = self._live, self._touched
        for key, side, time in entries:
            del side[time]
            touched.add(key)
            if not side:
                sides = live[key]
                if not sides[0] and not sides[1]:
                    del live[key]

    def _expire_at(self, time: int, entry: _Kept) -> None:
        bucket = time // self._bucket
        if bucket not in self._expiring:
            self._expiring[bucket] = []
            heappush(self._buckets, bucket)
        self._expiring[bucket].append(entry)

    # -- state ----------------------------------------------------------------------------------------------------

    def end_epoch(self) -> None:
        data, dirty = self._table.data, self._table.dirty
        for key in self._touched:
            sides = self._live.get(key)
            if sides is not None:
                data[key] = sides
                dirty.add(key)
            elif key in data:
                del data[key]
                dirty.add(key)
        self._touched.clear()


def _missing_timestamp() -> InvalidProgramError:
    return InvalidProgramError(
        "Elements used in interval stream joins need to have meaningful timestamps.",
        seen="an element without a timestamp",
        remedy="call assign_timestamps_and_watermarks(...) on both streams before key_by(...), with a timestamp assigner",
    )


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
