"""Tumbling and sliding windows after a `LocalWindowOperator`: their input is runs of combined records (`runs`).

Runs have no timestamps. Records that were not worth combining arrive one by one, with theirs. Open windows are kept in
memory, or in the tables of the general operator if state may be larger than memory. Results and their order are the same.
"""

from __future__ import annotations

from typing import Any

from headrace.operators.output import Timestamps, Values
from headrace.operators.windows.aligned import AlignedWindowOperator
from headrace.operators.windows.firing import WindowFunctionOperator
from headrace.operators.windows.folding import isolated
from headrace.operators.windows.operator import WindowOperator
from headrace.operators.windows.runs import Run

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
