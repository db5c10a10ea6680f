"""Aggregations: of groups, of windows (assigned or attached), and over rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.table.errors import SqlNotSupportedError
from headrace.table.plan.conversion.distribution import distributed
from headrace.table.plan.conversion.hints import state_ttl
from headrace.table.plan.conversion.window_columns import WindowColumns, attribute_of, window_columns
from headrace.table.plan.logical import Expand
from headrace.table.plan.nodes import aggregates, simple
from headrace.table.plan.nodes.base import Node
from headrace.table.plan.relations import (
    Aggregate,
    Filter,
    GroupWindowAggregate,
    Over,
    OverWindow,
    Project,
    Relation,
    WindowTable,
)
from headrace.table.plan.rex import InputRef, Rex, input_columns
from headrace.table.plan.rules.rewriting import call_columns, moved_call, row_of, substituted
from headrace.types.logical_types import DataType, RowField, RowType, TimeAttribute

if TYPE_CHECKING:
    from headrace.table.plan.conversion.converter import Converter

_PROPERTIES = ("start", "end", "rowtime")


def aggregate(to: Converter, relation: Aggregate) -> Node:
    """Return the node for GROUP BY: by windows if their start and end are among the groups."""
    windows = window_columns(relation.input)
    if windows is not None and windows.start & set(relation.groups) and windows.end & set(relation.groups):
        return _window_aggregate(to, relation, windows)
    node = aggregates.GroupAggregate(
        relation.row_type,
        (to.node(relation.input),),
        relation.groups,
        relation.calls,
        to.settings.mini_batch and not to.settings.batch,
        state_ttl(relation.hints, to.settings.ttl, 1)[0],
    )
    return distributed(node)


def _window_aggregate(to: Converter, relation: Aggregate, windows: WindowColumns) -> Node:
    """Return the aggregation by windows, and a calculation that puts the columns into the order of the relation."""
    keys = [group for group in relation.groups if group not in windows.columns]
    merged = _merged(relation, windows, keys)
    if merged is not None:
        below, time, places = merged
        attached = None
    else:
        below, time, places = relation.input, -1, {c: c for c in range(len(relation.input.row_type))}
        attached = (min(windows.start & set(relation.groups)), min(windows.end & set(relation.groups)))
    properties = _PROPERTIES if windows.event_time else ("start", "end", "proctime")
    groups = tuple(places[key] for key in keys)
    calls = tuple(moved_call(call, places) for call in relation.calls)
    names = relation.input.row_type.field_names()
    fields = [(names[key], relation.input.row_type.fields[key].data_type) for key in keys]
    fields += [(call.name or f"EXPR${number}", call.type) for number, call in enumerate(calls)]
    asked = _asked_properties(relation, windows)
    wanted = [each for each in properties[:2] if each in asked or each in ("start", "end")]
    wanted += [properties[2]] if "time" in asked else []
    for each in wanted:
        fields.append((f"window_{'time' if each.endswith('time') else each}", _property_type(relation, windows, each)))
    node = aggregates.WindowAggregate(
        row_of(fields),
        (to.node(below),),
        replace(windows.window, time=max(time, 0), partition_by=()),
        groups,
        calls,
        tuple(wanted),
        windows.event_time,
        attached,
        two_phase=_two_phase(to, windows, attached),
    )
    return _reordered(distributed(node), relation, windows, keys, wanted)


def _two_phase(to: Converter, windows: WindowColumns, attached: tuple[int, int] | None) -> bool:
    """Return whether rows may be aggregated before the exchange; calls that cannot merge are seen to later."""
    sliced = windows.window.kind in ("TUMBLE", "HOP", "CUMULATE")
    return to.settings.two_phase and sliced and windows.event_time and attached is None and not to.settings.batch


def _asked_properties(relation: Aggregate, windows: WindowColumns) -> set[str]:
    groups = set(relation.groups)
    parts = {"start": windows.start, "end": windows.end, "time": windows.time}
    return {name for name, columns in parts.items() if columns & groups}


def _property_type(relation: Aggregate, windows: WindowColumns, name: str) -> DataType:
    columns = {"start": windows.start, "end": windows.end}.get(name, windows.time)
    known = [group for group in relation.groups if group in columns]
    return relation.input.row_type.fields[known[0] if known else min(columns)].data_type


def _reordered(
    node: aggregates.WindowAggregate, relation: Aggregate, windows: WindowColumns, keys: list[int], wanted: list[str]
) -> Node:
    after = len(keys) + len(node.calls)
    places = {"start": after, "end": after + 1, "time": after + 2}
    columns = []
    for group in relation.groups:
        if group in windows.start:
            columns.append(places["start"])
        elif group in windows.end:
            columns.append(places["end"])
        elif group in windows.time:
            columns.append(places["time"])
        else:
            columns.append(keys.index(group))
    columns += [len(keys) + number for number in range(len(node.calls))]
    if columns == list(range(len(node.row_type))) and node.row_type.field_names() == relation.row_type.field_names():
        return node
    del wanted
    kinds = node.row_type.field_types()
    return simple.Calc(relation.row_type, (node,), tuple(InputRef(kinds[c], c) for c in columns), None)


def _merged(
    relation: Aggregate, windows: WindowColumns, keys: list[int]
) -> tuple[Relation, int, dict[int, int]] | None:
    """Return the input without its window function, the time column, and where columns are in it.

    That is possible if only calculations stand between the aggregation and the window function, and none of them computes
    with the window's columns.
    """
    chain: list[Relation] = []
    below = relation.input
    while isinstance(below, (Project, Filter)):
        chain.append(below)
        below = below.input
    if isinstance(below, Expand):
        return None
    if not isinstance(below, WindowTable):
        return None
    width, time = len(below.input.row_type), below.window.time
    expressions: list[Rex] = [InputRef(k, i) for i, k in enumerate(below.row_type.field_types())]
    conditions: list[Rex] = []
    for each in reversed(chain):
        if isinstance(each, Filter):
            conditions.append(substituted(each.condition, expressions))
        elif isinstance(each, Project):
            expressions = [substituted(rex, expressions) for rex in each.expressions]
    needed = sorted(set(keys).union(*(call_columns(call) for call in relation.calls)))
    chosen = [expressions[column] for column in needed]
    if any(max(input_columns(rex), default=-1) >= width for rex in (*chosen, *conditions)):
        return None
    if below.window.kind == "SESSION":
        plain = {rex.index for rex in (expressions[key] for key in keys) if isinstance(rex, InputRef)}
        if plain != set(below.window.partition_by) or len(plain) != len(keys):
            return None
    source: Relation = below.input
    for condition in conditions:
        source = Filter(source.row_type, source, condition)
    names = relation.input.row_type.field_names()
    time_kind = below.input.row_type.fields[time].data_type
    fields = [(names[column], rex.type) for column, rex in zip(needed, chosen)]
    place = next((p for p, rex in enumerate(chosen) if isinstance(rex, InputRef) and rex.index == time), None)
    if place is None:
        place = len(chosen)
        chosen.append(InputRef(time_kind, time))
        fields.append((below.input.row_type.field_names()[time], time_kind))
    if [rex.index if isinstance(rex, InputRef) else -1 for rex in chosen] != list(range(len(source.row_type))):
        source = Project(row_of(fields), source, tuple(chosen))
    return source, place, {column: number for number, column in enumerate(needed)}


def group_window(to: Converter, relation: GroupWindowAggregate) -> Node:
    """Return the node for a legacy group window."""
    event_time = attribute_of(relation.input, relation.window.time) is not TimeAttribute.PROCTIME
    node = aggregates.GroupWindowAggregate(
        relation.row_type,
        (to.node(relation.input),),
        relation.window,
        relation.groups,
        relation.calls,
        relation.properties,
        event_time,
        legacy=True,
    )
    return distributed(node)


def over(to: Converter, relation: Over) -> Node:
    """Return the nodes for OVER: one after the other if there are several windows."""
    node = to.node(relation.input)
    fields = list(relation.input.row_type.fields)
    for window in relation.windows:
        added = relation.row_type.fields[len(fields) : len(fields) + len(window.calls)]
        fields += added
        node = _over_window(to, node, window, RowType(tuple(fields), is_nullable=False))
    return node


def _over_window(to: Converter, below: Node, window: OverWindow, row_type: RowType) -> Node:
    batch, keys = to.settings.batch, window.order_by
    time = keys[0].index if keys else None
    kinds: list[RowField] = list(below.row_type.fields)
    attribute = None if time is None else getattr(kinds[time].data_type, "time_attribute", None)
    if not batch:
        if not keys:
            raise SqlNotSupportedError(
                "OVER windows' ordering in stream mode must be defined on a time attribute.",
                remedy="add ORDER BY with a time attribute",
            )
        if attribute is not None and keys[0].descending:
            raise SqlNotSupportedError(
                "OVER windows' ordering in stream mode must be ascending: DESC is not supported."
            )
        if window.frame.end not in (0,):
            raise SqlNotSupportedError(
                "OVER RANGE FOLLOWING windows are not supported yet."
                if not window.frame.rows
                else "OVER ROWS FOLLOWING windows are not supported yet."
            )
        if attribute is None and window.frame.start is not None:
            raise SqlNotSupportedError(
                "OVER windows with a bounded frame must be ordered by a time attribute in stream mode.",
                remedy="order by a time attribute, or start the frame with UNBOUNDED PRECEDING",
            )
    event_time = attribute is not TimeAttribute.PROCTIME
    timed = time if attribute is not None and not batch else None
    return distributed(aggregates.OverAggregate(row_type, (below,), window, timed, event_time, to.settings.ttl))
