"""CEP in processing time: an event runs when it arrives; with a comparator, together with those of the same millisecond."""

from __future__ import annotations

from typing import Any

from headrace.operators.cep.operator import CepOperator
from headrace.operators.output import Timestamps, Values


class ProcessingTimeCepOperator(CepOperator):
    """Events get their time from the clock; timers end windows one millisecond after their last one."""

    def open(self) -> None:
        super().open()
        self._starts = self.matcher.start_filter()

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Feed every record at once, or put it into the queue of its key."""
        if keys is None:
            keys = [0] * len(values)
        now = self.context.clock.now
        if self._sort_key is not None:
            for key, value in zip(keys, values):
                self._wait(key, now(), value)
            return
        live, starts = self.branches.data, self._starts
        for key, value in zip(keys, values):
            if starts is not None and key not in live and not self._can_start(value):
                continue
            self.feed(key, ((now(), value),), None)
        self.emit_results()

    def advance_processing_time(self, now: int) -> None:
        """Run queued events and end windows of the keys whose timers are due."""
        timers = self.context.processing_timers
        timer = timers.pop_due(now)
        if timer is None:
            return
        queue = self.queue
        while timer is not None:
            key = timer[1]
            events = queue.data.pop(key, [])
            if events:
                queue.dirty.add(key)
            if events or key in self.branches.data:
                self.feed(key, self.sorted_events(events), now)
            timer = timers.pop_due(now)
        self.emit_results()

    def register_end(self, key: Any, time: int) -> None:
        """Register a timer one millisecond after the end of the window."""
        self.context.processing_timers.register(time + 1, key)

    def next_processing_timer(self) -> int | None:
        return self.context.processing_timers.next_timestamp()

    def _can_start(self, value: Any) -> Any:
        assert self._starts is not None
        try:
            return self._starts(value)
        except Exception as error:
            raise self.failure_for(error, value) from error

    def _wait(self, key: Any, now: int, value: Any) -> None:
        queue = self.queue
        if key not in queue.data:
            queue.data[key] = []
        queue.data[key].append((now, value))
        queue.dirty.add(key)
        self.context.processing_timers.register(now + 1, key)
