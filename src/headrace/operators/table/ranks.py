"""Choose the operator for ranks, deduplication, sorting and limits."""

from __future__ import annotations

from headrace.graph.table_sort_specs import Deduplicate, Limit, Rank, Sort, TemporalSort
from headrace.operators.base import Operator
from headrace.operators.table.deduplicate import deduplicate
from headrace.operators.table.rank import (
    AppendRankOperator,
    FirstRowOperator,
    RetractRankOperator,
    UpsertRankOperator,
)
from headrace.operators.table.rank_by_value import BatchRankOperator, ValueRankOperator
from headrace.operators.table.sort import LimitOperator, SortOperator, temporal_sort


def rank(spec: Rank) -> Operator:
    """Return the operator of a top N."""
    if spec.batch:
        return BatchRankOperator(spec)
    if spec.function != "ROW_NUMBER":
        return ValueRankOperator(spec)
    if spec.kinds and spec.upsert_key is None:
        return RetractRankOperator(spec)
    if (spec.start, spec.end, spec.end_column) == (1, 1, None):
        return FirstRowOperator(spec)
    return UpsertRankOperator(spec) if spec.kinds else AppendRankOperator(spec)


OPERATORS = {
    Rank: rank,
    Deduplicate: deduplicate,
    TemporalSort: temporal_sort,
    Sort: SortOperator,
    Limit: LimitOperator,
}
