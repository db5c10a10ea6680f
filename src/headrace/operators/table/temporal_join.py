"""Each left row with the version of the right row that is valid at its time.

In event time left rows wait until the watermark reaches their time. Then each is joined with the latest version that is not
newer, in the order of arrival. Versions are removed once the watermark has passed a newer one; the last version stays. In
processing time a left row is joined at once with the version that arrived last. Results have the kind of the left row.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from headrace.graph.table_join_specs import TemporalJoin
from headrace.graph.table_specs import DELETE, UPDATE_BEFORE, TableKey
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.join_side import never_equal
from headrace.operators.table.keyed import KeyedTableOperator, Row, map_state, value_state


class TemporalJoinOperator(KeyedTableOperator):
    """Base: the pairing of a left row with at most one right row."""

    def __init__(self, spec: TemporalJoin) -> None:
        super().__init__()
        self.spec = spec
        self.selectors = (TableKey(spec.left.keys), TableKey(spec.right.keys))
        self._strict = never_equal(spec.left)
        self._nulls = (None,) * spec.right.width

    def joined(self, record: Row, right: Row | None, results: Values) -> None:
        """Emit a left row, with its kind if it has one, together with a right row or nulls."""
        row, mark = (record[:-1], record[-1:]) if self.spec.left.kinds else (record, ())
        condition = self.spec.condition
        if right is not None and any([row[column] is None for column in self._strict]):
            right = None
        if right is not None and (condition is None or condition.pair(row, right)):
            results.append(row + right + mark)
        elif self.spec.kind == "LEFT":
            results.append(row + self._nulls + mark)

    def right_row(self, record: Row) -> tuple[Row, bool]:
        """Return a right row without its kind, and whether it is present from now on."""
        if not self.spec.right.kinds:
            return record, True
        return record[:-1], record[-1] not in (UPDATE_BEFORE, DELETE)


class EventTimeTemporalJoinOperator(TemporalJoinOperator):
    """The operator of `TemporalJoin` in event time."""

    def open(self) -> None:
        """Get the states: left rows by number, versions by time, and [the next number, the time of the timer]."""
        backend = self.context.keyed_state
        self._left = map_state(backend, "left", self.spec.left.ttl)
        self._versions = map_state(backend, "versions", self.spec.right.ttl)
        self._counter = value_state(backend, "counter", self.spec.left.ttl)
        self._timer = value_state(backend, "timer")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        backend, column = self.context.keyed_state, self.spec.left.time
        assert column is not None
        for record, key in zip(values, backend.in_turn(self.keys_of(self.selectors[0], values, keys))):
            backend.key = key
            number = self._counter.value() or 0
            self._left.put(number, record)
            self._counter.update(number + 1)
            self._wake(record[column] // 1000)

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        backend, column = self.context.keyed_state, self.spec.right.time
        assert column is not None
        for record, key in zip(values, backend.in_turn(self.keys_of(self.selectors[1], values, keys))):
            backend.key = key
            row, present = self.right_row(record)
            time = row[column] // 1000
            self._versions.put(time, (row, present))
            self._wake(time)

    def _wake(self, time: int) -> None:
        """Let the current key be processed when the watermark reaches `time`, or earlier."""
        planned, timers, key = self._timer.value(), self.context.event_timers, self.context.keyed_state.key
        if planned is None or time < planned:
            if planned is not None:
                timers.delete(planned, key)
            timers.register(time, key)
            self._timer.update(time)

    def process_watermark(self, timestamp: int) -> None:
        """Join the left rows whose time has come, then forward the watermark."""
        timers, backend = self.context.event_timers, self.context.keyed_state
        results: Values = []
        due = timers.pop_due(timestamp)
        while due is not None:
            _, backend.key, _ = due
            self._timer.clear()
            self._advance(timestamp, results)
            due = timers.pop_due(timestamp)
        self.emit(results)
        super().process_watermark(timestamp)

    def _advance(self, watermark: int, results: Values) -> None:
        column = self.spec.left.time
        assert column is not None
        versions = sorted(self._versions.items())
        times = [time for time, _ in versions]
        waiting = sorted(self._left.items())
        rest: list[int] = []
        for number, record in waiting:
            time = record[column] // 1000
            if time > watermark:
                rest.append(time)
                continue
            self._left.remove(number)
            at = bisect_right(times, time) - 1
            right, present = versions[at][1] if at >= 0 else ((), False)
            self.joined(record, right if present else None, results)
        if not rest:
            self._counter.clear()
        for time in times[: max(bisect_right(times, watermark) - 1, 0)]:
            self._versions.remove(time)
        if rest:
            self._wake(min(rest))


class ProcessingTimeTemporalJoinOperator(TemporalJoinOperator):
    """The operator of `TemporalJoin` in processing time."""

    def open(self) -> None:
        """Get the state: the latest right row."""
        self._latest = value_state(self.context.keyed_state, "latest", self.spec.right.ttl)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        backend = self.context.keyed_state
        results: Values = []
        for record, key in zip(values, backend.in_turn(self.keys_of(self.selectors[0], values, keys))):
            backend.key = key
            self.joined(record, self._latest.value(), results)
        self.emit(results)

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        backend = self.context.keyed_state
        for record, key in zip(values, backend.in_turn(self.keys_of(self.selectors[1], values, keys))):
            backend.key = key
            row, present = self.right_row(record)
            self._latest.update(row if present else None)


def temporal_join(spec: TemporalJoin) -> TemporalJoinOperator:
    """Return the operator for a temporal join."""
    return EventTimeTemporalJoinOperator(spec) if spec.event_time else ProcessingTimeTemporalJoinOperator(spec)
