"""Order: top N, deduplication, sorting and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.table.errors import SqlNotSupportedError
from headrace.table.plan.conversion.distribution import distributed
from headrace.table.plan.conversion.window_columns import attribute_of, window_columns
from headrace.table.plan.describe import Text
from headrace.table.plan.logical import Rank
from headrace.table.plan.nodes import ranks
from headrace.table.plan.nodes.base import Node
from headrace.table.plan.relations import Sort
from headrace.types.logical_types import TimeAttribute

if TYPE_CHECKING:
    from headrace.table.plan.conversion.converter import Converter


def rank(to: Converter, relation: Rank) -> Node:
    """Return the node for top N: per window if the partition contains the window's start and end."""
    below = to.node(relation.input)
    windows = None if to.settings.batch else window_columns(relation.input)
    partition = set(relation.partition_by)
    if windows is not None and windows.start & partition and windows.end & partition:
        if relation.end is None:
            raise SqlNotSupportedError("Window top-N requires a constant number of rows")
        if relation.function != "ROW_NUMBER":
            raise SqlNotSupportedError(
                "RANK() on window properties is not supported yet: Currently Window TopN only supports ROW_NUMBER()",
                seen=relation.function,
                remedy="use ROW_NUMBER()",
            )
        window = (min(windows.start & partition), min(windows.end & partition))
        node: Node = ranks.WindowRank(
            relation.row_type,
            (below,),
            window,
            Text().window(windows.window, relation.input.row_type, window),
            tuple(column for column in relation.partition_by if column not in windows.columns),
            relation.order_by,
            relation.start,
            relation.end,
            relation.with_rank,
            windows.event_time,
            relation.function,
        )
        return distributed(node)
    node = ranks.Rank(
        relation.row_type,
        (below,),
        relation.function,
        relation.partition_by,
        relation.order_by,
        relation.start,
        relation.end,
        relation.end_column,
        relation.with_rank,
        ttl=to.settings.ttl,
    )
    return distributed(node)


def sort(to: Converter, relation: Sort) -> Node:
    """Return the node for ORDER BY, OFFSET and LIMIT."""
    below, settings = to.node(relation.input), to.settings
    keys, offset, limit = relation.keys, relation.offset, relation.limit
    if not keys:
        if not offset and limit is None:
            return below
        if limit is None and not settings.batch:
            raise SqlNotSupportedError("FETCH is missed, which on streaming table is not supported currently.")
        return distributed(ranks.Limit(relation.row_type, (below,), offset, limit, settings.ttl))
    if settings.batch:
        return distributed(ranks.Sort(relation.row_type, (below,), keys, offset, limit))
    if limit is not None:
        return distributed(ranks.SortLimit(relation.row_type, (below,), keys, offset, limit, ttl=settings.ttl))
    attribute = attribute_of(relation.input, keys[0].index)
    if offset:
        raise SqlNotSupportedError("FETCH is missed, which on streaming table is not supported currently.")
    if attribute is None:
        raise SqlNotSupportedError(
            "Sort on a non-time-attribute field is not supported.",
            remedy="order by a time attribute first, add LIMIT, or use batch mode",
        )
    if keys[0].descending:
        raise SqlNotSupportedError(
            "Primary sort order of a streaming table must be ascending on time.", remedy="remove DESC, or add LIMIT"
        )
    event_time = attribute is TimeAttribute.ROWTIME
    return distributed(ranks.TemporalSort(relation.row_type, (below,), keys, event_time))
