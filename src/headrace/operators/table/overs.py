"""Choose the operator for OVER: by mode, time, and frame."""

from __future__ import annotations

from headrace.errors import InvalidProgramError
from headrace.graph.table_specs import OverAggregate
from headrace.operators.base import Operator
from headrace.operators.table.over import BoundedRangeOverOperator, BoundedRowsOverOperator, EventTimeOverOperator
from headrace.operators.table.over_batch import BatchOverOperator
from headrace.operators.table.over_columns import ColumnOverOperator, runs_on_columns
from headrace.operators.table.over_processing_time import (
    ProcessingTimeOverOperator,
    ProcessingTimeRangeOverOperator,
    ProcessingTimeRowsOverOperator,
)
from headrace.operators.table.over_values import ValueOverOperator


def over(spec: OverAggregate) -> Operator:
    """Return the operator of an OVER aggregation."""
    if spec.batch:
        return BatchOverOperator(spec)
    if spec.frame.end != 0:
        raise InvalidProgramError(
            "OVER in streaming mode must end at the current row",
            seen=f"a frame from {spec.frame.start} to {spec.frame.end}",
            remedy="use BETWEEN ... PRECEDING AND CURRENT ROW, or batch mode",
        )
    bounded = spec.frame.start is not None
    if spec.time is None and not bounded:
        return ValueOverOperator(spec)
    if spec.event_time:
        if not bounded:
            return EventTimeOverOperator(spec)
        return BoundedRowsOverOperator(spec) if spec.frame.rows else BoundedRangeOverOperator(spec)
    if not bounded:
        return ColumnOverOperator(spec) if runs_on_columns(spec) else ProcessingTimeOverOperator(spec)
    return ProcessingTimeRowsOverOperator(spec) if spec.frame.rows else ProcessingTimeRangeOverOperator(spec)


OPERATORS = {OverAggregate: over}
