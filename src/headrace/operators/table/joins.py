"""Choose the operator for each spec of a join."""

from __future__ import annotations

from headrace.graph.table_join_specs import IntervalJoin, RegularJoin, TemporalJoin
from headrace.operators.base import Operator
from headrace.operators.table.batch_join import BatchJoinOperator
from headrace.operators.table.batches import has_columns
from headrace.operators.table.interval_columns import ColumnIntervalJoinOperator, runs_on_columns
from headrace.operators.table.interval_join import IntervalJoinOperator
from headrace.operators.table.regular_join import RegularJoinOperator, SemiJoinOperator
from headrace.operators.table.temporal_join import temporal_join


def regular_join(spec: RegularJoin) -> Operator:
    """Return the operator of a join of two tables."""
    if spec.batch:
        return BatchJoinOperator(spec)
    return SemiJoinOperator(spec) if spec.kind in ("SEMI", "ANTI") else RegularJoinOperator(spec)


def interval_join(spec: IntervalJoin) -> Operator:
    """Return the operator of a join of rows whose times are close."""
    columns = has_columns() and runs_on_columns(spec)
    return ColumnIntervalJoinOperator(spec) if columns else IntervalJoinOperator(spec)


OPERATORS = {RegularJoin: regular_join, IntervalJoin: interval_join, TemporalJoin: temporal_join}
