"""OVER windows of a SELECT, as one Over relation."""

from __future__ import annotations

from collections.abc import Sequence

from headrace.table.analysis.decorrelation import projection, refs
from headrace.table.analysis.grouping import aggregate_call
from headrace.table.analysis.scopes import row_of
from headrace.table.analysis.uses import Columns, OrderUse, OverUse, transform, walk
from headrace.table.plan.relations import Over, OverWindow, Relation
from headrace.table.plan.rex import AggregateCall, Frame, InputRef, Rex, SortKey

_Window = tuple[tuple[Rex, ...], tuple[OrderUse, ...], Frame]


def with_over(relation: Relation, values: Sequence[Rex]) -> tuple[Relation, list[Rex]]:
    """Return expressions without OVER windows, and the relation with the columns that these need at its end."""
    uses = dict.fromkeys(each for value in values for each in walk(value) if isinstance(each, OverUse))
    if not uses:
        return relation, list(values)
    columns = Columns(refs(relation))
    by_window: dict[_Window, list[OverUse]] = {}
    for use in uses:
        by_window.setdefault((use.partition_by, use.order_by, use.frame), []).append(use)
    windows: list[OverWindow] = []
    ordered: list[OverUse] = []
    calls: list[AggregateCall] = []
    for (partition, order, frame), members in by_window.items():
        keys = tuple(SortKey(columns.place(each.value), each.descending, each.nulls_first) for each in order)
        names = [f"w{len(windows)}$o{index}" for index in range(len(members))]
        found = tuple(aggregate_call(use.call, columns, name) for use, name in zip(members, names, strict=True))
        windows.append(OverWindow(tuple(columns.place(each) for each in partition), keys, frame, found))
        ordered += members
        calls += found
    source = projection(relation, columns.expressions)
    width = len(source.row_type)
    names = source.row_type.field_names() + [call.name for call in calls]
    result = Over(row_of(names, source.row_type.field_types() + [call.type for call in calls]), source, tuple(windows))
    places: dict[Rex, Rex] = {
        use: InputRef(call.type, width + index) for index, (use, call) in enumerate(zip(ordered, calls, strict=True))
    }

    def replaced(rex: Rex) -> Rex:
        return transform(rex, lambda each: places.get(each) if isinstance(each, OverUse) else None)

    return result, [replaced(each) for each in values]
