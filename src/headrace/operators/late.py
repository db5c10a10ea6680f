"""Late records go to a side output, or are dropped and counted. The base of window, join and pattern operators."""

from __future__ import annotations

from headrace.operators.base import Operator
from headrace.operators.context import OperatorContext
from headrace.operators.output import Timestamps, Values

LATE_RECORDS_DROPPED = "numLateRecordsDropped"
"""Flink's name for the counter, in the operator's metric group."""


class OperatorWithLateRecords(Operator):
    """An operator for which records can be late."""

    def setup(self, context: OperatorContext) -> None:
        """Create the counter, so that it exists before any record is late."""
        super().setup(context)
        self._dropped = self.context.metrics.counter(LATE_RECORDS_DROPPED)

    @property
    def late_dropped(self) -> int:
        """Return how many late records were dropped."""
        return self._dropped.get_count()

    def drop_late(self, number: int) -> None:
        """Count dropped records."""
        if number:
            self._dropped.inc(number)

    def late_to(self, tag: str | None, values: Values, timestamps: Timestamps) -> None:
        """Send late records to the side output `tag`; drop them if there is none."""
        if tag is None:
            self.drop_late(len(values))
        else:
            self.output.emit_side(tag, values, timestamps)
