"""OVER in processing time: rows are added as they arrive.

Unbounded preceding and bounded ROWS emit each row at once, bounded RANGE when the clock has passed its millisecond. State
of bounded RANGE is removed when the clock is 1.5 frames behind the key's last row.
"""

from __future__ import annotations

from typing import Any

from headrace.operators.output import Timestamps, Values
from headrace.operators.table.keyed import Row, value_state
from headrace.operators.table.over import OverOperator, slide
from headrace.state.interfaces import ValueState

_CLEAN_UP = 1


class ProcessingTimeOverOperator(OverOperator):
    """Unbounded preceding; RANGE emits like ROWS. The memory is the list of accumulators."""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        backend = self.backend
        results: Values = []
        progress = iter(values)
        try:
            for row, key in zip(progress, backend.in_turn(self.keys_of(self.selector, values, keys))):
                backend.key = key
                self.advance(row, results)
        except Exception as error:
            raise self.failure(error, values, progress) from error
        self.emit(results)

    def advance(self, row: Row, results: Values) -> None:
        """Add a row of the current key."""
        accumulators = self.memory.value() or self.calls.create()
        self.calls.add(accumulators, row)
        results.append(row + self.calls.results(accumulators))
        self.memory.update(accumulators)


class ProcessingTimeRowsOverOperator(ProcessingTimeOverOperator):
    """Bounded ROWS. The memory is (accumulators, rows in the frame)."""

    def advance(self, row: Row, results: Values) -> None:
        accumulators, frame = self.memory.value() or (self.calls.create(), [])
        slide(self.calls, accumulators, frame, [row], self.preceding, results)
        self.memory.update((accumulators, frame))


class ProcessingTimeRangeOverOperator(ProcessingTimeOverOperator):
    """Bounded RANGE. The memory is the list of accumulators; rows stay until they leave the frame."""

    _removal: ValueState[Any]

    def open(self) -> None:
        """Get the states, with the time at which a key's state is removed."""
        super().open()

        self._removal = value_state(self.backend, "removal")

    def advance(self, row: Row, results: Values) -> None:
        now, timers, key = self.context.clock.now(), self.context.processing_timers, self.backend.key
        present = self.rows.get(now) or []
        present.append(row)
        self.rows.put(now, present)
        timers.register(now + 1, key)
        planned = self._removal.value()
        if planned is None or planned < now + self.preceding + 1:
            removal = now + self.preceding * 3 // 2 + 1
            timers.register(removal, key, _CLEAN_UP)
            self._removal.update(removal)

    def advance_processing_time(self, now: int) -> None:
        timers, backend = self.context.processing_timers, self.backend
        results: Values = []
        due = timers.pop_due(now)
        while due is not None:
            time, backend.key, namespace = due
            if namespace == _CLEAN_UP:
                planned = self._removal.value()
                if planned is not None and planned <= time:
                    self.rows.clear()
                    self.memory.clear()
                    self._removal.clear()
            else:
                self._fire(time - 1, results)
            due = timers.pop_due(now)
        self.emit(results)

    def _fire(self, time: int, results: Values) -> None:
        rows = self.rows.get(time)
        if not rows:
            return
        calls, limit = self.calls, time - self.preceding
        accumulators = self.memory.value() or calls.create()
        in_order = sorted(self.rows.items())
        for then, kept in in_order:
            if then < limit:
                if calls.can_retract:
                    for row in kept:
                        calls.retract(accumulators, row)
                self.rows.remove(then)
        if not calls.can_retract:
            accumulators = calls.create()
            for row in [row for then, kept in in_order if limit <= then < time for row in kept]:
                calls.add(accumulators, row)
        for row in rows:
            calls.add(accumulators, row)
        values = calls.results(accumulators)
        results += [row + values for row in rows]
        self.memory.update(accumulators)
