"""The base of window aggregations: time, late rows, and the columns that describe a window in a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.graph.table_specs import DELETE, UPDATE_BEFORE, WindowAggregate
from headrace.operators.base import OperatorWithLateRecords
from headrace.operators.table.aggregates import Aggregates
from headrace.operators.table.base import TableOperator
from headrace.operators.table.zones import Zone
from headrace.state.opaque_key import unwrap_key

Row = tuple[Any, ...]
RETRACTIONS = frozenset((UPDATE_BEFORE, DELETE))


class WindowOperator(TableOperator, OperatorWithLateRecords):
    """An aggregation over windows. `progress` is the watermark or, for processing time, the clock."""

    takes_columns = True

    def __init__(self, spec: WindowAggregate) -> None:
        super().__init__()
        self.spec = spec
        self.zone = Zone("UTC" if spec.local else spec.time_zone)
        self.aggregates = Aggregates(spec.calls)
        self._properties = [self._property(name) for name in spec.properties]

    def _property(self, name: str) -> Callable[[int, int], int]:
        """Return the function of start and end (local milliseconds) that computes a column (microseconds)."""
        zone = self.zone
        return {
            "start": lambda start, end: start * 1000,
            "end": lambda start, end: end * 1000,
            "rowtime": lambda start, end: zone.epoch(end - 1) * 1000,
            "proctime": lambda start, end: self.context.clock.now() * 1000,
        }[name]

    def properties(self, start: int, end: int) -> Row:
        """Return the columns that describe a window."""
        return tuple([compute(start, end) for compute in self._properties])

    def key_columns(self, key: Any) -> Row:
        """Return the columns of a filed key."""
        key = unwrap_key(key)
        return (key,) if len(self.spec.keys) == 1 else key

    def progress(self) -> int:
        """Return the time up to which windows have fired."""
        return self.watermark if self.spec.event_time else self.context.clock.now()

    def times(self, rows: list[Row]) -> list[int]:
        """Return the time of each row, in the milliseconds of windows."""
        if not self.spec.event_time:
            return [self.zone.local(self.context.clock.now())] * len(rows)
        column, zone = self.spec.time, self.zone
        if zone.plain:
            return [row[column] // 1000 for row in rows]
        local = zone.local
        return [local(row[column] // 1000) for row in rows]

    # -- time -----------------------------------------------------------------------------------------------------

    def fire(self, progress: int) -> None:
        """Emit the windows that have ended, and remove them."""
        raise NotImplementedError

    def next_end(self) -> int | None:
        """Return the progress at which the next window ends."""
        raise NotImplementedError

    def process_watermark(self, timestamp: int) -> None:
        """Fire the windows of event time that have ended, then pass the watermark on."""
        self.watermark = timestamp
        if self.spec.event_time:
            self.fire(timestamp)
        self.output.emit_watermark(timestamp)

    def advance_processing_time(self, now: int) -> None:
        if not self.spec.event_time:
            self.fire(now)

    def next_processing_timer(self) -> int | None:
        return None if self.spec.event_time else self.next_end()
