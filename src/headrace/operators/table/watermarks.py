"""Watermarks from the rows of a table, by Flink's rules, but as few as possible.

Flink emits a watermark after a row that raises the greatest value by more than the interval, and now and then by the clock.
Here a watermark follows each run of rows. Inside a run it matters only where a later row is late, so the run is divided
right before such a row if Flink's assigner would have emitted a watermark by then: rows that Flink drops are dropped.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.errors import TypeMismatchError
from headrace.graph.table_specs import AssignWatermarks
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.base import TableOperator, rows_of
from headrace.operators.table.batches import SMALL, numpy
from headrace.types.column_run import as_columns

INTERVAL = 200
"""Flink's default `pipeline.auto-watermark-interval`, in milliseconds."""


class WatermarkOperator(TableOperator):
    """Emits the greatest watermark so far, and idleness if no row comes in time."""

    takes_columns = True

    def __init__(self, spec: AssignWatermarks) -> None:
        super().__init__()
        self._spec = spec
        self._highest = 0  # Flink's assigner starts at 0 too: it never emits a negative watermark
        self._emitted = 0
        self._idle = False
        self._last_row = 0

    def open(self) -> None:
        """Continue from the watermark of the restored operator."""
        self._highest = self._emitted = max(self._emitted, self.watermark)
        self._last_row = self.context.clock.now()

    # -- rows -----------------------------------------------------------------------------------------------------

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        if self._idle:
            self._idle = False
            self.output.emit_idle(False)
        self._last_row = self.context.clock.now()
        run = as_columns(values)
        if run is None or len(run) < SMALL:
            places = self._rows(rows_of(values))
        else:
            places = self.guarded(self._columns, run.columns)
        for (start, _), (end, mark) in pairwise([(0, 0), *places]):
            self.output.emit(values[start:end] if len(places) > 1 else values, None)
            self._emit(mark)

    def _rows(self, rows: list[tuple[Any, ...]]) -> list[tuple[int, int]]:
        """Return where watermarks are emitted: (number of rows before it, watermark)."""
        time, value = self._spec.time, self._spec.watermark.value
        highest, emitted, passed_on = self._highest, self._emitted, self._emitted
        places = []
        records = iter(rows)
        try:
            for i, row in enumerate(records):
                at = row[time]
                if at is None:
                    raise _no_time()
                if passed_on < emitted and at // 1000 <= emitted:
                    places.append((i, emitted))
                    passed_on = emitted
                mark = value(row)
                if mark is not None and mark // 1000 > highest:
                    highest = mark // 1000
                    if highest - emitted > INTERVAL:
                        emitted = highest
        except Exception as error:
            raise self.failure(error, rows, records) from error
        self._highest = highest
        return [*places, (len(rows), highest)]

    def _columns(self, batch: Any) -> list[tuple[int, int]]:
        np = numpy()
        times = batch.columns[self._spec.time]
        if times.null_count:
            raise _no_time()
        marks = self._spec.watermark.column(batch)
        if marks.null_count:
            marks = marks.fill_null(-(2**63))
        running = np.maximum.accumulate(marks.to_numpy() // 1000)
        np.maximum(running, self._highest, out=running)
        self._highest = int(running[-1])
        at = times.to_numpy() // 1000
        places: list[tuple[int, int]] = []
        suspects = np.flatnonzero(at[1:] <= running[:-1]) + 1
        if len(suspects):
            places = self._divided(running, suspects, at)
        return [*places, (len(at), self._highest)]

    def _divided(self, running: Any, suspects: Any, at: Any) -> list[tuple[int, int]]:
        """Return the watermarks inside a run: in front of each late row, if Flink would have emitted one since the last."""
        np = numpy()
        emitted, passed_on, start = self._emitted, self._emitted, 0
        places: list[tuple[int, int]] = []
        for i in suspects.tolist():
            while start < i:  # follow the rows that raise the mark by more than the interval
                rise = int(np.searchsorted(running[start:i], emitted + INTERVAL, side="right"))
                start += rise
                if start < i:
                    emitted = int(running[start])
            if passed_on < emitted and at[i] <= emitted:
                places.append((i, emitted))
                passed_on = emitted
        return places

    def _emit(self, mark: int) -> None:
        if mark > self._emitted:
            self._emitted = self.watermark = mark
            self.output.emit_watermark(mark)

    # -- time -----------------------------------------------------------------------------------------------------

    def process_watermark(self, timestamp: int) -> None:
        """Ignore watermarks of the input, except for the end of event time."""
        if timestamp == MAX_WATERMARK and self.watermark < MAX_WATERMARK:
            self._emitted = self._highest = MAX_WATERMARK
            super().process_watermark(timestamp)

    def process_idle(self, idle: bool) -> None:
        """Ignore the idleness of the input: the timeout decides, if there is one."""
        if self._spec.idle_timeout is None:
            super().process_idle(idle)

    def next_processing_timer(self) -> int | None:
        timeout = self._spec.idle_timeout
        return None if timeout is None or self._idle else self._last_row + timeout

    def advance_processing_time(self, now: int) -> None:
        due = self.next_processing_timer()
        if due is not None and due <= now:
            self._idle = True
            self.output.emit_idle(True)


def _no_time() -> TypeMismatchError:
    return TypeMismatchError(
        "The rowtime of a row is null",
        seen=None,
        expected="a timestamp in the column of the WATERMARK",
        remedy="filter out rows without a time, or compute the column with COALESCE",
    )


OPERATORS = {AssignWatermarks: WatermarkOperator}
