"""The general window operator: any assigner, any trigger, lateness, merging.

For each element: 1. the assigner returns its windows; 2. windows are merged if possible, with their contents and their
trigger's state; 3. windows that have ended (their end plus the allowed lateness is not after the watermark) are left out;
4. the element is added; 5. the trigger decides; 6. a timer is set that removes the window. An element that no window takes
is late. This is Flink's order, which programs can see through their triggers. Contents do not move when a window grows: they
stay with the first window, and the set of the key's open windows knows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK, MIN_TIMESTAMP
from headrace.errors import InvalidProgramError
from headrace.graph.specs import WindowOperation
from headrace.operators.output import Timestamps, Values
from headrace.operators.windows.contexts import AssignerContext, WindowTriggerContext
from headrace.operators.windows.firing import WindowFunctionOperator
from headrace.operators.windows.folding import isolated
from headrace.operators.windows.state_migration import CONTENTS, SETS, take_over_as_general
from headrace.state.opaque_key import unwrap_key
from headrace.state.table import Table
from headrace.windows.assigner import MergingWindowAssigner
from headrace.windows.trigger import TriggerResult

OnMerge = Callable[[Any, list[Any], Any, list[Any]], None]
"""on_merge(new window, windows that it is made of, window of its contents, windows of the other contents)."""


class _Found(MergingWindowAssigner.MergeCallback[Any]):
    """Notes what the assigner finds."""

    def __init__(self) -> None:
        self.merges: list[tuple[Any, list[Any]]] = []

    def merge(self, to_be_merged: Iterable[Any], merge_result: Any) -> None:
        self.merges.append((merge_result, list(to_be_merged)))


class MergingWindowSet:
    """The open windows of one key at a time: `table.data[key]` maps each to the window that its contents are filed under.

    >>> from headrace.windows.session_windows import EventTimeSessionWindows
    >>> from headrace.windows.window_types import TimeWindow
    >>> from headrace.state.heap_table import HeapTable
    >>> windows = MergingWindowSet(EventTimeSessionWindows(5), HeapTable("windows", "table"))
    >>> windows.add("a", TimeWindow(0, 5), print)
    TimeWindow(start=0, end=5)
    >>> show = lambda whole, parts, contents, others: print(whole, "keeps", contents)
    >>> windows.add("a", TimeWindow(3, 8), show)
    TimeWindow(start=0, end=8) keeps TimeWindow(start=0, end=5)
    TimeWindow(start=0, end=8)
    >>> windows.contents_of("a", TimeWindow(0, 8))
    TimeWindow(start=0, end=5)
    """

    def __init__(self, assigner: MergingWindowAssigner[Any, Any], table: Table) -> None:
        self._assigner = assigner
        self._data = table.data
        self._dirty = table.dirty

    def contents_of(self, key: Any, window: Any) -> Any:
        """Return the window under which the contents of an open window are filed, None if the window is not open."""
        return self._data.get(key, _NONE).get(window)

    def add(self, key: Any, window: Any, on_merge: OnMerge) -> Any:
        """Add a window. Return the one that it became part of (itself, if nothing is merged)."""
        found = _Found()
        mapping = self._data.get(key)
        if mapping is None:
            mapping = self._data[key] = {}
        self._dirty.add(key)
        self._assigner.merge_windows([*mapping, window], found)
        result, swallowed = window, False
        for whole, parts in found.merges:
            if window in parts:
                parts.remove(window)
                swallowed, result = True, whole
            contents = [mapping.pop(part) for part in parts if part in mapping]
            if not contents:
                # Only new windows were merged with each other: they cannot come from a single element.
                mapping[whole] = whole
                continue
            mapping[whole] = contents[0]
            if parts != [whole]:
                on_merge(whole, parts, contents[0], contents[1:])
        if not swallowed and window not in mapping:
            mapping[window] = window
        return result

    def retire(self, key: Any, window: Any) -> None:
        """Remove a window that has ended."""
        mapping = self._data.get(key)
        if mapping is not None and window in mapping:
            del mapping[window]
            if not mapping:
                del self._data[key]
            self._dirty.add(key)


_NONE: dict[Any, Any] = {}


_CONTINUE = TriggerResult.CONTINUE
_NOTHING = object()
_RESULTS = 4096
"""The greatest number of results of timers to send together, unless one window has more."""


class WindowOperator(WindowFunctionOperator):
    """Windows with an assigner and a trigger."""

    def __init__(self, spec: WindowOperation) -> None:
        super().__init__(spec)
        self._assigner = spec.assigner
        self._trigger = spec.trigger
        self._lateness = spec.allowed_lateness
        self._event_time: bool = spec.assigner.is_event_time()

    def open(self) -> None:
        super().open()
        backend = self.context.keyed_state
        take_over_as_general(self.context, getattr(self._assigner, "size", None))
        self._table = backend.table(CONTENTS, namespaced=True)
        self._assigning = AssignerContext(self)
        self._deciding = WindowTriggerContext(self)
        if self.merging:
            self._sets = MergingWindowSet(self._assigner, backend.table(SETS))

    # -- elements -------------------------------------------------------------------------------------------------

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        assert keys is not None
        stamps: list[int | None] = timestamps if timestamps is not None else [None] * len(values)
        records = iter(values)
        late: Values = []
        late_times: list[int | None] = []
        backend = self.context.keyed_state
        add = self._add_merging if self.merging else self._add
        turns = backend.in_turn(keys)
        try:
            for backend.key, stamp, value in zip(turns, stamps, records):
                skipped = add(backend.key, value, stamp)
                if skipped and self._event_time and self._is_late(stamp):
                    late.append(value)
                    late_times.append(stamp)
        except Exception as error:
            raise self.failure(error, values, records) from error
        self.emit_results()
        if late:
            self.late(late, late_times)

    def _is_late(self, stamp: int | None) -> bool:
        return min((MIN_TIMESTAMP if stamp is None else stamp) + self._lateness, MAX_WATERMARK) <= self.watermark

    def _add(self, key: Any, value: Any, stamp: int | None) -> bool:
        """Add an element. Return whether no window took it."""
        timestamp = MIN_TIMESTAMP if stamp is None else stamp
        skipped = True
        windows = self._assigner.assign_windows(value, timestamp, self._assigning)
        shared = self.spec.kind == "reduce" and len(windows) > 1
        for window in windows:
            if self._event_time and self._end_of(window) <= self.watermark:
                continue
            skipped = False
            self._put(key, window, isolated(value) if shared else value, stamp)
            self._decide(key, window, window, value, timestamp)
        return skipped

    def _add_merging(self, key: Any, value: Any, stamp: int | None) -> bool:
        timestamp = MIN_TIMESTAMP if stamp is None else stamp
        skipped = True
        for new in self._assigner.assign_windows(value, timestamp, self._assigning):
            window = self._sets.add(key, new, lambda *merge: self._merge(key, *merge))
            if self._event_time and self._end_of(window) <= self.watermark:
                self._sets.retire(key, window)
                continue
            skipped = False
            place = self._sets.contents_of(key, window)
            self._put(key, place, value, stamp)
            self._decide(key, window, place, value, timestamp)
        return skipped

    def _put(self, key: Any, place: Any, value: Any, stamp: int | None) -> None:
        entry = (key, place)
        data = self._table.data
        before = data.get(entry, _NOTHING)
        data[entry] = self.contents.first(value) if before is _NOTHING else self.contents.add(value, before)
        self._table.dirty.add(entry)

    def _decide(self, key: Any, window: Any, place: Any, value: Any, timestamp: int) -> None:
        result = self._trigger.on_element(value, timestamp, window, self._deciding.at(key, window))
        if result is not _CONTINUE:
            self._act(result, key, window, place)
        end = self._end_of(window)
        if end != MAX_WATERMARK:
            timers = self.context.event_timers if self._event_time else self.context.processing_timers
            timers.register(end, key, window)

    def _act(self, result: TriggerResult, key: Any, window: Any, place: Any) -> None:
        """Carry out the trigger's decision."""
        if result.is_fire():
            contents = self._table.data.get((key, place), _NOTHING)
            if contents is not _NOTHING:
                self._emit_window(key, window, place, contents)
        if result.is_purge():
            self._drop(key, place)

    def _emit_window(self, key: Any, window: Any, place: Any, contents: Any) -> None:
        result = self.contents.result(contents)
        self.fire(key, window, [result] if self.contents.single else result)

    def _drop(self, key: Any, place: Any) -> None:
        if self._table.data.pop((key, place), _NOTHING) is not _NOTHING:
            self._table.dirty.add((key, place))

    # -- merging --------------------------------------------------------------------------------------------------

    def _merge(self, key: Any, window: Any, parts: list[Any], place: Any, others: list[Any]) -> None:
        """Merge several windows into one: first the trigger, then timers, then contents."""
        self._check_merged(window)
        deciding = self._deciding.at(key, window)
        deciding.merged = parts
        self._trigger.on_merge(window, deciding)
        for part in parts:
            self._trigger.clear(part, deciding.at(key, part))
            self._cleanup_timers().delete(self._end_of(part), key, part)
        data, dirty, target = self._table.data, self._table.dirty, (key, place)
        for other in others:
            more = data.pop((key, other), _NOTHING)
            if more is not _NOTHING:
                dirty.update(((key, other), target))
                data[target] = self.contents.merge(data[target], more) if target in data else more

    def _check_merged(self, window: Any) -> None:
        now = self.watermark if self._event_time else self.context.clock.now()
        end = self._end_of(window) if self._event_time else window.max_timestamp()
        if end <= now:
            kind, clock = ("event", "watermark") if self._event_time else ("processing", "processing time")
            raise InvalidProgramError(
                f"The end timestamp of a{'n' if self._event_time else ''} {kind}-time window cannot become earlier than "
                f"the current {clock} by merging.",
                seen=f"current {clock}: {now}, window: {window!r}",
            )

    # -- time -----------------------------------------------------------------------------------------------------

    def _end_of(self, window: Any) -> int:
        """Return the time at which the window is removed."""
        last: int = window.max_timestamp()
        return min(last + self._lateness, MAX_WATERMARK) if self._event_time else last

    def _cleanup_timers(self) -> Any:
        return self.context.event_timers if self._event_time else self.context.processing_timers

    def process_watermark(self, timestamp: int) -> None:
        """Fire event-time timers, then pass the watermark on; in batch mode processing time ends with event time."""
        self.watermark = timestamp
        self._fire_timers(self.context.event_timers, timestamp, True)
        if timestamp == MAX_WATERMARK and self.context.task.batch:
            self._fire_timers(self.context.processing_timers, MAX_WATERMARK, False)
        self.output.emit_watermark(timestamp)

    def advance_processing_time(self, now: int) -> None:
        self._fire_timers(self.context.processing_timers, now, False)

    def next_processing_timer(self) -> int | None:
        return self.context.processing_timers.next_timestamp()

    def _fire_timers(self, queue: Any, limit: int, event: bool) -> None:
        backend = self.context.keyed_state
        due = queue.pop_due(limit)
        while due is not None:
            time, backend.key, window = due
            try:
                self._on_timer(time, backend.key, window, event)
            except Exception as error:
                where = f"timer at {time} of window {window!r} of key {unwrap_key(backend.key)!r}"
                raise self.failure_for(error, where) from error
            if len(self.results) >= _RESULTS:
                self.emit_results()  # one watermark may end more windows than fit into memory
            due = queue.pop_due(limit)
        self.emit_results()

    def _on_timer(self, time: int, key: Any, window: Any, event: bool) -> None:
        place = window
        if self.merging:
            place = self._sets.contents_of(key, window)
            if place is None:
                return  # a timer of a window that has become part of another one
        deciding = self._deciding.at(key, window)
        decide = self._trigger.on_event_time if event else self._trigger.on_processing_time
        result = decide(time, window, deciding)
        if result is not _CONTINUE:
            self._act(result, key, window, place)
        if event == self._event_time and time == self._end_of(window):
            self._drop(key, place)
            self._trigger.clear(window, self._deciding.at(key, window))
            self.clear_window(key, window)
            if self.merging:
                self._sets.retire(key, window)
