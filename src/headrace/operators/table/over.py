"""OVER in event time, row by row: rows wait until the watermark reaches their time, then they are added in time order.

Decides which rows are late and when state is removed, as Flink does:

| frame | late | removed |
| --- | --- | --- |
| unbounded preceding | time <= watermark | by the time to live |
| bounded ROWS | time <= time of the key's last results | by the time to live |
| bounded RANGE | the same | when the watermark is 1.5 frames behind the key's last row |

ROWS adds rows of the same time one by one, in the order of arrival. RANGE adds all of them before it emits any.
"""

from __future__ import annotations

from typing import Any

from headrace.graph.table_specs import OverAggregate, TableKey
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.keyed import KeyedTableOperator, Row, map_state, value_state
from headrace.operators.table.over_calls import OverCalls

_CLEAN_UP = 1
"""The namespace of timers that remove state."""


class OverOperator(KeyedTableOperator):
    """Base of the operators of `OverAggregate` in streaming mode."""

    def __init__(self, spec: OverAggregate) -> None:
        super().__init__()
        self.spec = spec
        self.selector = TableKey(spec.keys)
        order = (spec.time,) if spec.time is not None else tuple(o.column for o in spec.order_by)
        self.calls = OverCalls(spec.calls, order)
        self.preceding = 0 if spec.frame.start is None else -spec.frame.start

    def open(self) -> None:
        """Get the states: rows by time in milliseconds, and what the key remembers of rows that were added."""
        self.backend = self.context.keyed_state
        self.rows = map_state(self.backend, "rows")
        self.memory = value_state(self.backend, "memory", self.spec.ttl)

    def added(self, accumulators: list[Any], rows: list[Row], results: Values) -> None:
        """Add rows of one time and emit each of them."""
        calls = self.calls
        if self.spec.frame.rows:
            for row in rows:
                calls.add(accumulators, row)
                results.append(row + calls.results(accumulators))
        else:
            for row in rows:
                calls.add(accumulators, row)
            values = calls.results(accumulators)
            results += [row + values for row in rows]


class EventTimeOverOperator(OverOperator):
    """Unbounded preceding. The memory is the list of accumulators."""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        backend, column, rows, timers = self.backend, self.spec.time, self.rows, self.context.event_timers
        assert column is not None
        late = 0
        for row, key in zip(values, backend.in_turn(self.keys_of(self.selector, values, keys))):
            backend.key = key
            time = row[column] // 1000
            if self.is_late(time):
                late += 1
                continue
            present = rows.get(time)
            if present is None:
                present = []
                timers.register(time, key)
                self.expect(time, key)
            present.append(row)
            rows.put(time, present)
        self.drop_late(late)

    def is_late(self, time: int) -> bool:
        """Return whether a row of the current key comes too late."""
        return time <= self.watermark

    def expect(self, time: int, key: Any) -> None:
        """Prepare for rows of a new time."""

    def process_watermark(self, timestamp: int) -> None:
        """Add and emit the rows whose time has come, then forward the watermark."""
        timers, backend = self.context.event_timers, self.backend
        results: Values = []
        due = timers.pop_due(timestamp)
        while due is not None:
            time, backend.key, namespace = due
            if namespace == _CLEAN_UP:
                self.clean_up(time)
            else:
                rows = self.rows.get(time)
                if rows:
                    try:
                        self.advance(time, rows, results)
                    except Exception as error:
                        raise self.failure_for(error, rows[0]) from error
            due = timers.pop_due(timestamp)
        self.emit(results)
        super().process_watermark(timestamp)

    def advance(self, time: int, rows: list[Row], results: Values) -> None:
        """Add the rows of the current key with this time."""
        accumulators = self.memory.value() or self.calls.create()
        self.added(accumulators, rows, results)
        self.memory.update(accumulators)
        self.rows.remove(time)

    def clean_up(self, time: int) -> None:
        """Remove the state of the current key if nothing needs it any more."""


class BoundedRowsOverOperator(EventTimeOverOperator):
    """Bounded ROWS. The memory is (accumulators, time of the last results, rows in the frame)."""

    def is_late(self, time: int) -> bool:
        memory = self.memory.value()
        return bool(time <= (0 if memory is None else memory[1]))

    def advance(self, time: int, rows: list[Row], results: Values) -> None:
        accumulators, _, frame = self.memory.value() or (self.calls.create(), 0, [])
        slide(self.calls, accumulators, frame, rows, self.preceding, results)
        self.memory.update((accumulators, time, frame))
        self.rows.remove(time)


def slide(
    calls: OverCalls, accumulators: list[Any], frame: list[Row], rows: list[Row], preceding: int, results: Values
) -> None:
    """Add rows one by one to a frame of at most `preceding` rows and the current one, and emit each."""
    for row in rows:
        frame.append(row)
        if len(frame) > preceding + 1:
            leaving = frame.pop(0)
            if calls.can_retract:
                calls.retract(accumulators, leaving)
            else:
                accumulators[:] = calls.create()
                for kept in frame[:-1]:
                    calls.add(accumulators, kept)
        calls.add(accumulators, row)
        results.append(row + calls.results(accumulators))


class BoundedRangeOverOperator(EventTimeOverOperator):
    """Bounded RANGE. The memory is (accumulators, time of the last results); rows stay until they leave the frame."""

    def open(self) -> None:
        """Get the states, with the time at which a key's state is removed."""
        super().open()
        self._removal = value_state(self.backend, "removal")

    def is_late(self, time: int) -> bool:
        memory = self.memory.value()
        return bool(time <= (0 if memory is None else memory[1]))

    def expect(self, time: int, key: Any) -> None:
        planned = self._removal.value()
        if planned is None or planned < time + self.preceding + 1:
            removal = time + self.preceding * 3 // 2 + 1
            self.context.event_timers.register(removal, key, _CLEAN_UP)
            self._removal.update(removal)

    def advance(self, time: int, rows: list[Row], results: Values) -> None:
        accumulators, _ = self.memory.value() or (self.calls.create(), 0)
        limit = time - self.preceding
        leaving = sorted([(t, kept) for t, kept in self.rows.items() if t < limit])
        calls = self.calls
        if leaving and not calls.can_retract:
            accumulators = calls.create()
            for _, kept in sorted([(t, kept) for t, kept in self.rows.items() if limit <= t < time]):
                for row in kept:
                    calls.add(accumulators, row)
        for then, kept in leaving:
            if calls.can_retract:
                for row in kept:
                    calls.retract(accumulators, row)
            self.rows.remove(then)
        self.added(accumulators, rows, results)
        self.memory.update((accumulators, time))

    def clean_up(self, time: int) -> None:
        planned = self._removal.value()
        if planned is not None and planned <= time:
            self.rows.clear()
            self.memory.clear()
            self._removal.clear()
