"""Join of rows whose times are close: left.time + lower <= right.time <= left.time + upper.

Decides which rows are kept for how long, as Flink does. A row is paired with the kept rows of the other side, even if it is
late. It is kept if partners can still come: rows of the other side are expected up to the end of its interval.
In an outer join, a row that found no partner is emitted with nulls when its interval has passed. Rows are removed by a timer
per key and side, at the latest half an interval after that. Because results can be that old, watermarks are held back by
the greater part of the interval.

The state of a key is a list of two sides, each [times, rows, flags, timer]: three lists in time order (flags: whether the
row found a partner, only kept in outer joins) and the time of the clean-up timer, or None.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.graph.table_join_specs import IntervalJoin
from headrace.graph.table_specs import TableKey
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.join_side import never_equal
from headrace.operators.table.keyed import KeyedTableOperator, Row

_Side = list[Any]
_TIMES, ROWS, _FLAGS, _TIMER = range(4)


class IntervalJoinOperator(KeyedTableOperator):
    """The operator of `IntervalJoin`, in event time and in processing time."""

    def __init__(self, spec: IntervalJoin) -> None:
        super().__init__()
        self._spec = spec
        self._event_time = spec.event_time
        self._selectors = (TableKey(spec.left.keys), TableKey(spec.right.keys))
        self._strict = (never_equal(spec.left), never_equal(spec.right))
        self._columns = (spec.left.time, spec.right.time)
        self._outer = (spec.kind in ("LEFT", "FULL"), spec.kind in ("RIGHT", "FULL"))
        self._nulls = ((None,) * spec.left.width, (None,) * spec.right.width)
        # How long after its own time a row of a side can have partners.
        self._reach = (spec.upper, -spec.lower)
        self._slack = max(0, (spec.upper - spec.lower) // 2)
        self._delay = max(spec.upper, -spec.lower, 0)

    def open(self) -> None:
        """Get the table."""
        self._table = self.context.keyed_state.table("rows")
        context = self.context
        self._timers = context.event_timers if self._event_time else context.processing_timers

    def _now(self) -> int:
        return self.watermark if self._event_time else self.context.clock.now()

    # -- rows -----------------------------------------------------------------------------------------------------

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self._run(0, values, keys)

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self._run(1, values, keys)

    def _run(self, own: int, values: Values, keys: list[Any] | None) -> None:
        spec, now, strict, column = self._spec, self._now(), self._strict[own], self._columns[own]
        data, other = self._table.data, 1 - own
        low, high = (spec.lower, spec.upper) if own == 0 else (-spec.upper, -spec.lower)
        expired = self._expired(other, now)
        reach, timed = self._reach[own], self._event_time
        results: Values = []
        keys = self.keys_of(self._selectors[own], values, keys)
        progress = iter(values)
        try:
            for row, key in zip(progress, keys):
                time = row[column] // 1000 if timed else now
                sides = data.get(key)
                if sides is None:
                    sides = data[key] = new_sides()
                found = False
                times = sides[other][_TIMES]
                if times and expired < time + high and not (strict and any([row[c] is None for c in strict])):
                    first, last = bisect_left(times, time + low), bisect_right(times, time + high)
                    if first < last:
                        found = self._pairs(own, row, sides[other], first, last, results)
                if times and times[0] <= expired:
                    self._remove(other, sides[other], expired, results)
                if now < time + reach:
                    self._keep(own, sides[own], key, time, row, found)
                elif not found and self._outer[own]:
                    results.append(self._padded(own, row))
                if not sides[0][_TIMES] and not sides[1][_TIMES] and sides[0][_TIMER] is sides[1][_TIMER] is None:
                    del data[key]
        except Exception as error:
            raise self.failure(error, values, progress) from error
        self._table.dirty.update(keys)
        self.emit(results)

    def _pairs(self, own: int, row: Row, other: _Side, first: int, last: int, results: Values) -> bool:
        """Emit a row with those of the other side's rows, from `first` to before `last`, that meet the condition."""
        partners = other[ROWS][first:last]
        condition = self._spec.condition
        if condition is not None or self._outer[1 - own]:
            met = range(first, last)
            if condition is not None:
                pair = condition.pair
                met = [i for i, p in zip(met, partners) if (pair(row, p) if own == 0 else pair(p, row))]  # type: ignore[assignment]
                partners = [other[ROWS][i] for i in met]
            if self._outer[1 - own]:
                for i in met:
                    other[_FLAGS][i] = True
        results += [row + p for p in partners] if own == 0 else [p + row for p in partners]
        return bool(partners)

    def _keep(self, own: int, side: _Side, key: Any, time: int, row: Row, found: bool) -> None:
        times = side[_TIMES]
        at = len(times) if not times or times[-1] <= time else bisect_right(times, time)
        times.insert(at, time)
        side[ROWS].insert(at, row)
        if self._outer[own]:
            side[_FLAGS].insert(at, found)
        if side[_TIMER] is None:
            self._plan(own, side, key, time)

    def _padded(self, own: int, row: Row) -> Row:
        return row + self._nulls[1] if own == 0 else self._nulls[0] + row

    # -- removal --------------------------------------------------------------------------------------------------

    def _expired(self, own: int, now: int) -> int:
        """Return the time up to which rows of a side cannot find partners any more."""
        return now if now >= MAX_WATERMARK else now - self._reach[own] - 1

    def _plan(self, own: int, side: _Side, key: Any, time: int) -> None:
        side[_TIMER] = time + self._reach[own] + self._slack + 1
        self._timers.register(side[_TIMER], key, own)

    def _remove(self, own: int, side: _Side, expired: int, results: Values) -> None:
        count = bisect_right(side[_TIMES], expired)
        if self._outer[own]:
            results += [self._padded(own, r) for r, found in zip(side[ROWS][:count], side[_FLAGS]) if not found]
        for part in (side[_TIMES], side[ROWS], side[_FLAGS]):
            del part[:count]

    def _fire(self, limit: int) -> None:
        data, dirty, timers = self._table.data, self._table.dirty, self._timers
        results: Values = []
        due = timers.pop_due(limit)
        while due is not None:
            time, key, own = due
            sides = data.get(key)
            if sides is not None and sides[own][_TIMER] == time:
                side = sides[own]
                self._remove(own, side, self._expired(own, limit), results)
                side[_TIMER] = None
                if side[_TIMES]:
                    self._plan(own, side, key, side[_TIMES][0])
                elif not sides[1 - own][_TIMES] and sides[1 - own][_TIMER] is None:
                    del data[key]
                dirty.add(key)
            due = timers.pop_due(limit)
        self.emit(results)

    def process_watermark(self, timestamp: int) -> None:
        """Remove rows without further partners, then forward the watermark, held back if results can be older."""
        self.watermark = timestamp
        if not self._event_time:
            self.output.emit_watermark(timestamp)
            return
        self._fire(timestamp)
        self.output.emit_watermark(timestamp if timestamp >= MAX_WATERMARK else timestamp - self._delay)

    def advance_processing_time(self, now: int) -> None:
        if not self._event_time:
            self._fire(now)


def new_sides() -> list[_Side]:
    """Return the state of a key without rows."""
    return [[[], [], [], None], [[], [], [], None]]
