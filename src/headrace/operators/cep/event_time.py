"""CEP in event time: events wait until the watermark has passed them, then run key by key in the order of their times.

Events of all keys wait in one list and are sorted together when a watermark arrives: most streams are nearly in order,
and then this is cheaper than a queue and a timer per key. At the end of an epoch, waiting events are filed by key.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import compress
from operator import le
from typing import Any

from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.operators.cep.operator import CepOperator, Event
from headrace.operators.output import Timestamps, Values


class EventTimeCepOperator(CepOperator):
    """Sorts events by time, drops or diverts late ones, and ends windows at watermarks."""

    def open(self) -> None:
        """Load the events that were waiting at the last checkpoint."""
        super().open()
        # With a comparator an event may run after one that arrived later: none can be left out early.
        self._starts = self.matcher.start_filter() if self._sort_key is None else None
        self._arrived: set[Any] = set()
        self._wait_times: list[int] = []
        self._wait_keys: list[Any] = []
        self._wait_values: Values = []
        for key, events in self.queue.data.items():
            for time, value in events:
                self._wait_times.append(time)
                self._wait_keys.append(key)
                self._wait_values.append(value)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Keep the records that are not late."""
        if keys is None:
            keys = [0] * len(values)
        if timestamps is None:
            times = [MIN_TIMESTAMP] * len(values)
        elif None in timestamps:
            times = [MIN_TIMESTAMP if t is None else t for t in timestamps]
        else:
            times = timestamps  # type: ignore[assignment]
        if values and min(times) <= self.watermark:
            mark = self.watermark
            late = [t <= mark for t in times]
            stamps = None if timestamps is None else list(compress(timestamps, late))
            self.late_to(self.spec.late_tag, list(compress(values, late)), stamps)
            in_time = [not x for x in late]
            values, times = list(compress(values, in_time)), list(compress(times, in_time))
            keys = list(compress(keys, in_time))
        self._wait_times += times
        self._wait_keys += keys
        self._wait_values += values
        self._arrived.update(keys)

    def process_watermark(self, timestamp: int) -> None:
        """Run due events, then pass the watermark on."""
        self.watermark = timestamp
        groups = self._due_events(timestamp) if self._wait_times else {}
        for key in self._due_keys(groups, timestamp):
            state = self.feed(key, groups.get(key, ()), timestamp)
            if state is not None and not self.timer_per_start:
                end = self.deadline(state)
                if end is not None and (state.timer is None or end < state.timer):
                    state.timer = end
                    self.register_end(key, end)
        self.emit_results()
        self.output.emit_watermark(timestamp)

    def register_end(self, key: Any, time: int) -> None:
        """Register a timer at the end of the window, unless the key's time is just moving beyond it."""
        if time > self.watermark:
            self.context.event_timers.register(time, key)

    def end_epoch(self) -> None:
        """File waiting events under their keys."""
        waiting: dict[Any, list[Event]] = {}
        for key, time, value in zip(self._wait_keys, self._wait_times, self._wait_values):
            waiting.setdefault(key, []).append((time, value))
        data, dirty, arrived = self.queue.data, self.queue.dirty, self._arrived
        for key in [k for k in data if k not in waiting]:
            del data[key]
            dirty.add(key)
        for key, events in waiting.items():
            # Without arrivals a queue can only have become shorter.
            if key in arrived or len(data.get(key, ())) != len(events):
                data[key] = events
                dirty.add(key)
        self._arrived = set()

    def _due_events(self, limit: int) -> dict[Any, list[Event]]:
        """Return events up to `limit` by key, keys in the order of their first event, without irrelevant events."""
        self._sort_waiting()
        times, keys, values = self._wait_times, self._wait_keys, self._wait_values
        cut = bisect_right(times, limit)
        if not cut:
            return {}
        self._wait_times, self._wait_keys, self._wait_values = times[cut:], keys[cut:], values[cut:]
        del times[cut:], keys[cut:], values[cut:]
        groups: dict[Any, list[Event]] = {}
        live = self.branches.data
        starts = self._starts
        if starts is None:
            for key, event in zip(keys, zip(times, values)):
                if key in groups:
                    groups[key].append(event)
                else:
                    groups[key] = [event]
        else:
            progress = iter(values)
            try:
                wanted = [starts(v) for v in progress]
            except Exception as error:
                raise self.failure(error, values, progress) from error
            if not live and not any(wanted):
                return {}
            for key, event, starting in zip(keys, zip(times, values), wanted):
                if key in groups:
                    groups[key].append(event)
                elif starting or key in live:
                    groups[key] = [event]
            if len(groups) > 1:
                # Keys run in the order of their first event, even if that was left out.
                groups = {key: groups[key] for key in dict.fromkeys(keys) if key in groups}
        if self._sort_key is not None:
            for events in groups.values():
                self.sorted_events(events)
        return groups

    def _sort_waiting(self) -> None:
        times = self._wait_times
        if all(map(le, times, times[1:])):
            return
        order = sorted(range(len(times)), key=times.__getitem__)
        self._wait_times = [times[i] for i in order]
        self._wait_keys = list(map(self._wait_keys.__getitem__, order))
        self._wait_values = list(map(self._wait_values.__getitem__, order))

    def _due_keys(self, groups: dict[Any, list[Event]], limit: int) -> list[Any]:
        """Return the keys with due events or timers, in the order of the first of these."""
        timers = self.context.event_timers
        live = self.branches.data
        alone: list[tuple[int, Any]] = []
        timer = timers.pop_due(limit)
        while timer is not None:
            time, key, _ = timer
            state = live.get(key)
            if state is not None:
                if state.timer is not None and state.timer <= time:
                    state.timer = None
                    self.branches.dirty.add(key)
                alone.append((time, key))
            timer = timers.pop_due(limit)
        if not alone:
            return list(groups)
        first = [(events[0][0], key) for key, events in groups.items()]
        return list(dict.fromkeys(key for _, key in sorted([*alone, *first], key=lambda entry: entry[0])))
