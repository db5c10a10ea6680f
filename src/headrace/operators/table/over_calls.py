"""The aggregates of OVER for one key: like those of a group, and RANK knows by which columns rows are ordered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headrace.graph.table_specs import AggregateSpec
from headrace.operators.table.aggregates import Aggregates


class OverCalls(Aggregates):
    """All aggregates of one operator."""

    def __init__(self, calls: Sequence[AggregateSpec], order: tuple[int, ...]) -> None:
        """Take the calls and the columns of ORDER BY, by which RANK and DENSE_RANK recognize peers."""
        super().__init__([replace(c, arguments=order) if c.name in ("RANK", "DENSE_RANK") else c for c in calls])
        self.can_retract = all(call.accumulation.can_retract for call in calls)
