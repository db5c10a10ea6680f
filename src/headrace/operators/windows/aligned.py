"""The fast operator for tumbling and sliding windows of event time.

For windows with the default trigger, no evictor and no allowed lateness. All keys share the same windows, so windows are
kept as window -> key -> contents, in plain dicts, without a timer per key: when the watermark passes the end of a window,
its keys fire in the order in which they arrived, windows in the order of their ends. The general operator produces the
same results, at many times the cost per record.

Working memory and state: within an epoch only the dicts change. At its end the changed entries are put into the keyed
table as (key, start) -> (place in the window's order, contents). A window that opens and fires within one epoch never
reaches the table.

Sliding windows: elements of one pane (the longest time span that no window's end divides) belong to the same windows. If a
run has several records of most keys, those of a key and pane are combined first (`runs`). While overlapping windows share
one immutable object as their contents, an element is added to it once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress, islice, repeat
from math import gcd
from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.graph.specs import WindowOperation
from headrace.operators.output import Timestamps, Values
from headrace.operators.windows.firing import WindowFunctionOperator
from headrace.operators.windows.folding import Windows, fold_into, grouped, merge_into, share_into
from headrace.operators.windows.merge_check import MergeCheck
from headrace.operators.windows.pre_aggregation import can_combine
from headrace.operators.windows.runs import Run, Runs
from headrace.operators.windows.state_migration import ALIGNED, WINDOW_SIZE, take_over_as_aligned
from headrace.state.opaque_key import OpaqueKey
from headrace.windows.assigner import missing_timestamp
from headrace.windows.window_types import TimeWindow, time_reached


class AlignedWindowOperator(WindowFunctionOperator):
    """Windows shared by all keys."""

    def __init__(self, spec: WindowOperation) -> None:
        super().__init__(spec)
        assigner = spec.assigner
        self._size: int = assigner.size
        self._slide: int = getattr(assigner, "slide", self._size)
        self._offset: int = assigner.offset
        self._pane = gcd(self._size, self._slide)
        self._live: dict[int, dict[Any, Any]] = {}
        self._touched: dict[int, set[Any]] = {}
        self._filed: dict[int, int] = {}  # start -> number of the window's keys that are in the table
        self._next_end = MAX_WATERMARK
        self._can_combine = can_combine(spec.kind, spec.combiner)

    def open(self) -> None:
        super().open()
        self._check = MergeCheck(self.contents)
        take_over_as_aligned(self.context)
        self._table = self.context.keyed_state.table(ALIGNED, namespaced=True)
        self.context.facts[WINDOW_SIZE] = self._size
        restored: dict[int, list[tuple[int, Any, Any]]] = {}
        for (key, start), (number, contents) in self._table.data.items():
            restored.setdefault(start, []).append((number, key, contents))
        for start, entries in restored.items():
            entries.sort(key=lambda entry: entry[0])
            self._live[start] = {key: contents for _, key, contents in entries}
            self._filed[start] = len(entries)
        self._set_next_end()

    # -- elements -------------------------------------------------------------------------------------------------

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        assert keys is not None
        if timestamps is None or None in timestamps:
            nameless = next(v for v, t in zip(values, timestamps or [None] * len(values)) if t is None)
            raise self.failure_for(missing_timestamp(nameless), nameless)
        stamps: list[int] = timestamps  # type: ignore[assignment]
        pane, offset = self._pane, self._offset
        low, high = min(stamps), max(stamps)
        first = low - (low - offset) % pane
        if high < first + pane:
            self._add(first, values, stamps, keys, None)
            return
        panes = [t - (t - offset) % pane for t in stamps]
        if self._size <= self._slide:  # panes share no window: add one after the other
            for start, some, their_stamps, their_keys in grouped(panes, values, stamps, keys):
                self._add(start, some, their_stamps, their_keys, None)
        else:
            self._add(first, values, stamps, keys, panes)

    def _add(self, pane: int, values: Values, stamps: list[int], keys: list[Any], panes: list[int] | None) -> None:
        """Add records, all of one pane, or each of its pane in `panes`."""
        records = iter(values)
        distinct = set(keys)
        try:
            if panes is None:
                windows = self._windows_of(pane, distinct)
                if not windows:
                    self._skip(values, stamps)
                elif len(windows) == 1:
                    fold_into(windows[0], self.spec.kind, self.contents, keys, records)
                elif self._combines(distinct, keys, panes := [pane] * len(keys), values):
                    self._add_runs(keys, panes, records)
                else:
                    share_into(repeat(windows), self.contents, keys, records)
                return
            found = {start: self._windows_of(start, distinct) for start in dict.fromkeys(panes)}
            over = [start for start, windows in found.items() if not windows]
            if over:
                late = [start in over for start in panes]
                self._skip(list(compress(values, late)), list(compress(stamps, late)))
            if self._combines(distinct, keys, panes, values):
                self._add_runs(keys, panes, records)
            else:
                share_into(map(found.__getitem__, panes), self.contents, keys, records)
        except Exception as error:
            raise self.failure(error, values, records) from error

    def _combines(self, distinct: set[Any], keys: list[Any], panes: list[int], values: Values) -> bool:
        """Return whether there are so few keys that combining their records first pays, and cannot change results."""
        return self._can_combine and 2 * len(distinct) <= len(keys) and self._check.passes(keys, panes, values)

    def _add_runs(self, keys: list[Any], panes: list[int], records: Iterator[Any]) -> None:
        """Combine the records of each pane first, so that the cost of a record does not grow with its number of windows."""
        runs = Runs(self.contents)
        runs.add(keys, panes, records)
        self.merge_runs(*runs.take())

    def merge_runs(self, keys: list[Any], runs: list[Run]) -> int:
        """Add combined records to the windows that are still open. Return the number of records that were late."""
        by_pane: dict[int, set[Any]] = {}
        for key, run in zip(keys, runs):
            by_pane.setdefault(run[0], set()).add(key)
        found = {start: self._windows_of(start, distinct) for start, distinct in by_pane.items()}
        merge_into((found[run[0]] for run in runs), self.contents, keys, (run[2] for run in runs))
        return sum(run[1] for run in runs if not found[run[0]]) if () in found.values() else 0

    def _windows_of(self, pane: int, keys: set[Any]) -> Windows:
        """Return the open windows of a pane, the earliest first; `keys` are about to be added to them."""
        size, slide = self._size, self._slide
        last = pane - (pane - self._offset) % slide
        open_after = time_reached(self.watermark) - size + 1  # a window is open if its start is greater
        windows: list[dict[Any, Any]] = []
        for start in range(last, pane - size, -slide):
            if start <= open_after:
                break
            window = self._live.get(start)
            if window is None:
                window = self._live[start] = {}
                if start + size - 1 < self._next_end:  # never later than the highest watermark
                    self._next_end = start + size - 1
            windows.append(window)
            touched = self._touched.get(start)
            if touched is None:
                self._touched[start] = set(keys)
            else:
                touched.update(keys)
        windows.reverse()
        return windows or ()

    def _skip(self, values: Values, stamps: list[int]) -> None:
        """Handle records of panes without an open window: they are late, unless they are in a gap between windows."""
        late = [t <= self.watermark for t in stamps]
        self.late(list(compress(values, late)), list(compress(stamps, late)))

    # -- time -----------------------------------------------------------------------------------------------------

    def process_watermark(self, timestamp: int) -> None:
        """Fire the windows that have ended, in the order of their ends, then pass the watermark on."""
        self.watermark = timestamp
        if timestamp >= self._next_end:
            limit = time_reached(timestamp) - self._size + 1
            for start in sorted(start for start in self._live if start <= limit):
                self._fire_window(start)
                self._remove(start)
            self._set_next_end()
        self.output.emit_watermark(timestamp)

    def _fire_window(self, start: int) -> None:
        contents = self._live[start]
        window = TimeWindow(start, start + self._size)
        spec, result = self.spec, self.contents.result
        single = self.contents.single
        if not spec.calls and single:
            self.results += map(result, contents.values())
            self.times += [window.max_timestamp()] * len(contents)
        elif spec.calls == "process" and single and not spec.over_all:
            self._process_singles(window, contents)
        else:
            for key, kept in contents.items():
                self.fire(key, window, [result(kept)] if single else result(kept))
        if self.clears:
            for key in contents:
                self.clear_window(key, window)
        self.emit_results()

    def _process_singles(self, window: TimeWindow, contents: dict[Any, Any]) -> None:
        """Run the loop of `fire` for the common case, without its branches."""
        backend, context = self.context.keyed_state, self.firing
        process, result, at = self.spec.function.process, self.contents.result, context.at
        results = self.results
        extend = results.extend
        key: Any = None
        at(key, window)
        try:
            for key, kept in contents.items():
                backend.key = key
                if context.uses_state:
                    at(key, window)
                produced = process(key.value if type(key) is OpaqueKey else key, context, [result(kept)])
                if produced is not None:
                    extend(produced)
        except Exception as error:
            raise self.failure_for(error, f"window {window!r} of key {key!r}") from error
        self.times += [window.max_timestamp()] * (len(results) - len(self.times))

    def _remove(self, start: int) -> None:
        contents = self._live.pop(start)
        self._touched.pop(start, None)
        known = self._filed.pop(start, 0)
        if known:
            data, dirty = self._table.data, self._table.dirty
            for key in islice(contents, known):
                del data[key, start]
                dirty.add((key, start))

    def _set_next_end(self) -> None:
        self._next_end = min(min(self._live, default=MAX_WATERMARK) + self._size - 1, MAX_WATERMARK)

    # -- state ----------------------------------------------------------------------------------------------------

    def end_epoch(self) -> None:
        data, dirty = self._table.data, self._table.dirty
        for start, touched in self._touched.items():
            contents = self._live[start]
            known = self._filed.get(start, 0)
            for number, key in enumerate(islice(contents, known, None), known):
                data[key, start] = (number, contents[key])
                dirty.add((key, start))
            if known:
                for key in touched.intersection(islice(contents, known)):
                    entry = (key, start)
                    data[entry] = (data[entry][0], contents[key])
                    dirty.add(entry)
            self._filed[start] = len(contents)
        self._touched.clear()
