"""The operators before and after the exchange of tumbling and sliding windows whose records are combined by key and pane.

A key with most of the data then costs the operator after the exchange no more than any other key. Results do not change:

1. Combined records are sent before a watermark that ends one of their windows, before the stream becomes idle, and at the
   end of an epoch. The operator after the exchange always continues with the input whose watermark is lowest, so it is
   never ahead of this one's watermark while records wait here: no record becomes late.
2. Runs keep the order of records as far as windows can show it (`runs`), and their number of records, for the count of
   dropped ones.
3. A function's `merge` is not relied on before it was tried (`merge_check`).

If most keys have only one or two records, combining costs more than it saves: then records are sent as they are, and
combining is tried again later. The same applies to sliding windows whose contents can be changed in place, because each
window needs its own copy.
"""

from __future__ import annotations

from math import gcd
from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.graph.specs import LocalWindowAggregate
from headrace.operators.base import Operator
from headrace.operators.output import Timestamps, Values
from headrace.operators.windows.aligned import AlignedWindowOperator
from headrace.operators.windows.firing import WindowFunctionOperator
from headrace.operators.windows.folding import contents_for, is_immutable, isolated
from headrace.operators.windows.merge_check import MergeCheck
from headrace.operators.windows.operator import WindowOperator
from headrace.operators.windows.runs import Run, Runs
from headrace.state.opaque_key import hashable_keys
from headrace.types.codecs import codec_for
from headrace.windows.assigner import missing_timestamp
from headrace.windows.window_types import first_end

_TRIAL = 4_096
"""Number of records after which it is decided whether combining pays."""
_PAUSE = 262_144
"""Number of records that are sent as they are before combining is tried again."""
_MOST_RUNS = 65_536
"""The greatest number of runs to hold."""


class LocalWindowOperator(Operator):
    """Runs of one subtask before they are sent."""

    def __init__(self, spec: LocalWindowAggregate) -> None:
        super().__init__()
        self._spec = spec
        assigner = spec.windows.assigner
        self._size: int = assigner.size
        self._slide: int = getattr(assigner, "slide", self._size)
        self._offset: int = assigner.offset
        self._pane = gcd(self._size, self._slide)
        self._coerce = codec_for(spec.input_type).coerce
        self._pause = 0
        self._next_end = MAX_WATERMARK

    def open(self) -> None:
        """Start without runs. The key selector is opened and closed with the edge, which uses it too."""
        contents = contents_for(self._spec.windows)
        self._runs = Runs(contents)
        self._check = MergeCheck(contents)

    # -- elements -------------------------------------------------------------------------------------------------

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Combine a run of records, or pass it on."""
        try:
            values = self._coerce(values)
        except Exception as error:
            raise self.failure_for(error, None) from error
        if timestamps is None or None in timestamps:
            nameless = next(v for v, t in zip(values, timestamps or [None] * len(values)) if t is None)
            raise self.failure_for(missing_timestamp(nameless), nameless)
        select = self._spec.selector
        records = iter(values)
        try:
            keys = hashable_keys([select(v) for v in records])
            if self._pause > 0:
                self._pause -= len(values)
                self.output.emit(values, timestamps, keys)
                return
            pane, offset = self._pane, self._offset
            panes = [t - (t - offset) % pane for t in timestamps]  # type: ignore[operator]
            if not self._check.passes(keys, panes, values):
                self.output.emit(values, timestamps, keys)
                return
            records = iter(values)
            self._runs.add(keys, panes, records)
        except Exception as error:
            raise self.failure(error, values, records) from error
        self._next_end = min(self._next_end, first_end(min(panes), self._size, self._slide, offset))
        if self._runs.records >= _TRIAL and not self._pays():
            self._pause = _PAUSE
            self._send()
        elif len(self._runs.runs) >= _MOST_RUNS:
            self._send()

    def _pays(self) -> bool:
        runs = self._runs.runs
        if 2 * len(runs) > self._runs.records:
            return False
        return self._slide >= self._size or is_immutable(runs[-1][2])

    def _send(self) -> None:
        keys, runs = self._runs.take()
        self._next_end = MAX_WATERMARK
        self.output.emit(runs, None, keys)

    # -- time -----------------------------------------------------------------------------------------------------

    def process_watermark(self, timestamp: int) -> None:
        """Send everything if a window ends, then pass the watermark on."""
        self.watermark = timestamp
        if timestamp >= self._next_end - 1:
            self._send()
        self.output.emit_watermark(timestamp)

    def process_idle(self, idle: bool) -> None:
        """Send everything: the receiver may continue without this input."""
        self._send()
        self.output.emit_idle(idle)

    def process_clock(self, now: int) -> None:
        """Send everything: tests watch what happens between two moves of the clock."""
        self._send()
        super().process_clock(now)

    def end_epoch(self) -> None:
        """Send everything: nothing is held when a checkpoint is taken."""
        self._send()

    def finish(self) -> None:
        self._send()


_NOTHING = object()


class _RunsOperator(WindowFunctionOperator):
    """Takes runs; another base class takes records."""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        if timestamps is not None:
            super().process_batch(values, timestamps, keys)
            return
        assert keys is not None
        try:
            self.drop_late(self.merge_runs(keys, values))
        except Exception as error:
            raise self.failure_for(error, None) from error

    def merge_runs(self, keys: list[Any], runs: list[Run]) -> int:
        """Add runs to the windows that are still open. Return the number of records that were late."""
        raise NotImplementedError


class CombiningWindowOperator(_RunsOperator, AlignedWindowOperator):
    """Merges runs into windows in memory."""

    merge_runs = AlignedWindowOperator.merge_runs


class LargeCombiningWindowOperator(_RunsOperator, WindowOperator):
    """Merges runs into windows in tables, with a timer per key and window."""

    def merge_runs(self, keys: list[Any], runs: list[Run]) -> int:
        data, dirty, merge = self._table.data, self._table.dirty, self.contents.merge
        register = self.context.event_timers.register
        by_pane: dict[int, list[Any]] = {}
        late = 0
        for key, (pane, count, part) in zip(keys, runs):
            windows = by_pane.get(pane)
            if windows is None:
                windows = by_pane[pane] = self._open_windows(pane)
            if not windows:
                late += count
            shared = len(windows) > 1
            for window in windows:
                entry = (key, window)
                given = isolated(part) if shared else part
                kept = data.get(entry, _NOTHING)
                if kept is _NOTHING:
                    data[entry] = given
                    register(window.max_timestamp(), key, window)
                else:
                    data[entry] = merge(kept, given)
                dirty.add(entry)
        return late

    def _open_windows(self, pane: int) -> list[Any]:
        """Return the open windows of a pane, the earliest first."""
        found = self._assigner.assign_windows(None, pane, self._assigning)
        return sorted(window for window in found if window.max_timestamp() > self.watermark)
