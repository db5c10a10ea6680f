"""Records that come too late: to a side output, or dropped and counted. A base of operators of windows, joins and patterns."""

from __future__ import annotations

from headrace.operators.base import Operator
from headrace.operators.context import OperatorContext
from headrace.operators.output import Timestamps, Values

__all__ = ["LATE_RECORDS_DROPPED", "OperatorWithLateRecords"]

LATE_RECORDS_DROPPED = "numLateRecordsDropped"
"""Flink's name of the counter, in the operator's own metric group."""


class OperatorWithLateRecords(Operator):
    """An operator for which records can be late."""

    def setup(self, context: OperatorContext) -> None:
        """Makes the counter: it is there before anything is late."""
        super().setup(context)
        self._dropped = self.context.metrics.counter(LATE_RECORDS_DROPPED)

    @property
    def late_dropped(self) -> int:
        """How many records were late and had no side output to go to."""
        return self._dropped.get_count()

    def drop_late(self, number: int) -> None:
        """Counts records that are dropped."""
        if number:
            self._dropped.inc(number)

    def late_to(self, tag: str | None, values: Values, timestamps: Timestamps) -> None:
        """Sends late records to the side output `tag`; without one they are dropped."""
        if tag is None:
            self.drop_late(len(values))
        else:
            self.output.emit_side(tag, values, timestamps)
