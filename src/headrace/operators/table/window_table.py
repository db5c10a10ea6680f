"""Window table functions that are not merged into an aggregation: each row with the start, end and time of its windows.

TUMBLE, HOP and CUMULATE emit a row at once, for each of its windows. Rows of SESSION wait until their session ends. Event
time drops no rows here: the operators behind it decide what is late, except for rows of sessions that have ended.
"""

from __future__ import annotations

from typing import Any

from headrace.graph.table_specs import AggregateSpec, WindowAggregate, WindowTable
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.base import TableOperator, codec_of, rows_of
from headrace.operators.table.batches import SMALL, numpy, pyarrow
from headrace.operators.table.session_aggregate import SessionOperator
from headrace.operators.table.windows import Tumbling, slicing
from headrace.operators.table.zones import Zone
from headrace.types.column_run import as_columns

Row = tuple[Any, ...]


class WindowTableOperator(TableOperator):
    """Adds window_start, window_end and window_time; a row that is in several windows is repeated."""

    takes_columns = True

    def __init__(self, spec: WindowTable) -> None:
        super().__init__()
        self._spec = spec
        self._zone = Zone("UTC" if spec.local else spec.time_zone)
        self._slicing = slicing(spec.window)
        self._codec = codec_of(spec.output_type, spec.kinds)
        self._known: dict[int, list[Row]] = {}

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        run = as_columns(values)
        tumbles = isinstance(self._slicing, Tumbling) and self._zone.plain
        if run is not None and len(run) >= SMALL and self._codec is not None and tumbles:
            self.output.emit(self._columns(run.columns), None)
        else:
            self.output.emit(self._rows(rows_of(values)), None)

    def _rows(self, rows: list[Row]) -> list[Row]:
        spec, slice_of, local, known = self._spec, self._slicing.slice_of, self._zone.local, self._known
        now = self.context.clock.now()
        out: list[Row] = []
        for row in rows:
            if spec.event_time:
                at = row[spec.time]
                if at is None:  # Flink leaves such rows out
                    continue
                start = slice_of(local(at // 1000))
            else:
                start = slice_of(local(now))
            windows = known.get(start)
            if windows is None:
                windows = known[start] = self._windows(start)
            for added in windows:
                out.append((*row[:-1], *added, row[-1]) if spec.kinds else (*row, *added))
        if len(known) > _MOST_KNOWN:
            known.clear()
        return out

    def _windows(self, slice_start: int) -> list[Row]:
        windows = self._slicing.windows(slice_start)
        if self._spec.window.kind == "HOP":  # Flink assigns the latest of these windows first
            windows = windows[::-1]
        return [(start * 1000, end * 1000, self._zone.epoch(end - 1) * 1000) for end, start in windows]

    def _columns(self, batch: Any) -> Any:
        """Do the same for TUMBLE, where each row has one window."""
        assert self._codec is not None
        np, pa, spec = numpy(), pyarrow(), self._spec
        if spec.event_time and batch.columns[spec.time].null_count:
            batch = batch.filter(batch.columns[spec.time].is_valid())
        size, offset = self._slicing.length * 1000, self._slicing.offset * 1000
        if spec.event_time:
            times = batch.columns[spec.time].to_numpy()
        else:
            times = np.full(batch.num_rows, self.context.clock.now() * 1000)
        start = times - (times - offset) % size
        added = [pa.array(start), pa.array(start + size), pa.array(start + (size - 1000))]
        columns = batch.columns
        columns = [*columns[:-1], *added, columns[-1]] if spec.kinds else [*columns, *added]
        return self._codec.of_arrays(columns)


_MOST_KNOWN = 10_000


class _Rows:
    """The aggregate of a session that keeps its rows."""

    can_retract = True

    def create(self) -> list[Row]:
        return []

    def add(self, accumulator: list[Row], *arguments: Any) -> list[Row]:
        accumulator.append(arguments)
        return accumulator

    def retract(self, accumulator: list[Row], *arguments: Any) -> list[Row]:
        accumulator.append(arguments)
        return accumulator

    def merge(self, accumulator: list[Row], other: list[Row]) -> list[Row]:
        accumulator.extend(other)
        return accumulator

    def result(self, accumulator: list[Row]) -> list[Row]:
        return accumulator


class SessionTableOperator(SessionOperator):
    """SESSION as a table function: the rows of a session, in order, when it ends."""

    def __init__(self, spec: WindowTable) -> None:
        width = len(spec.types[0]) + (1 if spec.kinds else 0)
        super().__init__(
            WindowAggregate(
                spec.window,
                spec.time,
                spec.partition_by,
                (AggregateSpec(_Rows(), tuple(range(width))),),
                ("start", "end", "rowtime"),
                event_time=spec.event_time,
                time_zone=spec.time_zone,
                local=spec.local,
            )
        )
        self._kinds = spec.kinds

    def result(self, key: Any, entry: list[Any], start: int, end: int) -> list[Row]:
        added = self.properties(start, end)
        if self._kinds:
            return [(*row[:-1], *added, row[-1]) for row in entry[0]]
        return [(*row, *added) for row in entry[0]]


OPERATORS = {
    WindowTable: lambda spec: (SessionTableOperator if spec.window.kind == "SESSION" else WindowTableOperator)(spec)
}
