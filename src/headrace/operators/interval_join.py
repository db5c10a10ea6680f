"""Interval join: pairs of two keyed inputs with left + lower <= right <= left + upper in event time.

For each record: 1. one that is behind the watermark is late; 2. it is kept until no partner can come any more; 3. it is paired
with the kept records of the other side. A record is dropped as soon as the watermark reaches the last time of its partners,
so that a key without recent records keeps nothing.

Working memory and state: within an epoch only the dicts are changed, key -> (left, right), each a dict timestamp -> values. At
its end those of touched keys are put into the keyed table.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

from headrace.common.errors import InvalidProgramError
from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.graph.specs import IntervalJoin
from headrace.operators.base import FunctionOperator
from headrace.operators.emission import emit_tagged
from headrace.operators.output import Timestamps, Values

__all__ = ["IntervalJoinOperator"]

_Sides = tuple[dict[int, list[Any]], dict[int, list[Any]]]


class JoinContext:
    """The `ctx` of `process_element(left, right, ctx)`: the timestamps of the pair."""

    left = right = MIN_TIMESTAMP

    def get_left_timestamp(self) -> int:
        """The timestamp of the left element."""
        return self.left

    def get_right_timestamp(self) -> int:
        """The timestamp of the right element."""
        return self.right

    def get_timestamp(self) -> int:
        """The timestamp of the result: the later one."""
        return max(self.left, self.right)

    timestamp = get_timestamp


class IntervalJoinOperator(FunctionOperator):
    """The operator behind `keyed.interval_join(other)`."""

    def __init__(self, spec: IntervalJoin) -> None:
        super().__init__(spec.function)
        self._spec = spec
        self._live: dict[Any, _Sides] = {}
        self._touched: set[Any] = set()
        # Buckets of keys by the time from which they have something to drop; the heap has the times of the buckets.
        self._expiring: dict[int, set[Any]] = {}
        self._times: list[int] = []
        self._bucket = max(1, (spec.upper - spec.lower) // 64)
        self._kept_for = (max(spec.upper, 0), max(-spec.lower, 0))
        self.late_dropped = 0

    def open(self) -> None:
        """Takes up what the table has, then opens the function."""
        self._table = self.context.keyed_state.table("_interval_join")
        self._live = dict(self._table.data)
        for key, sides in self._live.items():
            for side, kept_for in zip(sides, self._kept_for):
                for time in side:
                    self._expire_at(time + kept_for, key)
        self._join_context = JoinContext()
        super().open()

    # -- elements -------------------------------------------------------------------------------------------------

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Joins left records."""
        self._run(0, values, timestamps, keys)

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Joins right records."""
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
                    keys_due = expiring.get((time + kept_for) // bucket)
                    if keys_due is None:
                        self._expire_at(time + kept_for, key)
                    else:
                        keys_due.add(key)
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
        if tag is None:
            self.late_dropped += len(values)
        else:
            self.output.emit_side(tag, values, timestamps)

    # -- time -----------------------------------------------------------------------------------------------------

    def process_watermark(self, timestamp: int) -> None:
        """Drops what cannot find a partner any more, then hands the watermark on."""
        self.watermark = timestamp
        limit = timestamp // self._bucket
        while self._times and self._times[0] <= limit:
            due = heappop(self._times)
            keys = self._expiring.pop(due)
            if due == limit:
                waiting = {key for key in keys if not self._drop(key, timestamp, due)}
                if waiting:
                    self._expiring[due] = waiting
                    heappush(self._times, due)
                break
            for key in keys:
                self._drop(key, timestamp, due)
        self.output.emit_watermark(timestamp)

    def _drop(self, key: Any, watermark: int, bucket: int) -> bool:
        """Drops the key's records that are over; says whether none of this bucket is left."""
        sides = self._live.get(key)
        if sides is None:
            return True
        done = True
        for side, kept_for in zip(sides, self._kept_for):
            over = [time for time in side if time + kept_for <= watermark]
            if over:
                self._touched.add(key)
                for time in over:
                    del side[time]
            done = done and not any((time + kept_for) // self._bucket == bucket for time in side)
        if not sides[0] and not sides[1]:
            del self._live[key]
        return done

    def _expire_at(self, time: int, key: Any) -> None:
        due = time // self._bucket
        if due not in self._expiring:
            self._expiring[due] = set()
            heappush(self._times, due)
        self._expiring[due].add(key)

    # -- state ----------------------------------------------------------------------------------------------------

    def end_epoch(self) -> None:
        """Puts what was touched into the table."""
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
