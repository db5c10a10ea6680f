"""Joins: by windows, within time bounds, with versions or external systems, or of whole tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.table.connectors.base import LookupSource
from headrace.table.errors import SqlNotSupportedError
from headrace.table.plan.conversion.distribution import distributed
from headrace.table.plan.conversion.hints import state_ttl
from headrace.table.plan.conversion.join_conditions import JoinCondition, analysed, time_bounds
from headrace.table.plan.conversion.window_columns import WindowColumns, attribute_of, joins_windows, window_columns
from headrace.table.plan.describe import Text
from headrace.table.plan.nodes import joins
from headrace.table.plan.nodes.base import Node
from headrace.table.plan.nodes.simple import Calc, TableScan
from headrace.table.plan.relations import Filter, Join, Project, Relation, Scan, TemporalJoin
from headrace.table.plan.rex import InputRef, Literal, Rex, shifted
from headrace.table.plan.rules.conditions import call, comparison, conjunction, conjuncts
from headrace.table.plan.rules.rewriting import row_of, substituted
from headrace.table.plan.upsert_keys import UpsertKeys
from headrace.types.logical_types import BooleanType, TimeAttribute

if TYPE_CHECKING:
    from headrace.table.plan.conversion.converter import Converter


def join(to: Converter, relation: Join) -> Node:
    """Return the node for a join: the most bounded kind that its condition allows."""
    condition = analysed(relation)
    inputs = (to.node(relation.left), to.node(relation.right))
    if not to.settings.batch:
        bounded = _window_join(relation, condition, inputs) or _interval_join(relation, condition, inputs)
        if bounded is not None:
            return distributed(bounded)
    ttl = state_ttl(relation.hints, to.settings.ttl, 2)
    node = joins.Join(
        relation.row_type,
        inputs,
        relation.kind,
        condition.left_keys,
        condition.right_keys,
        condition.null_safe,
        condition.remaining,
        relation.condition,
        left_ttl=ttl[0],
        right_ttl=ttl[1],
    )
    return distributed(node)


def _window_join(relation: Join, condition: JoinCondition, inputs: tuple[Node, Node]) -> Node | None:
    one, other = window_columns(relation.left), window_columns(relation.right)
    if one is None or other is None or not joins_windows(one, other, condition.left_keys, condition.right_keys):
        return None
    if not one.same_kind(other) or one.event_time != other.event_time:
        return None
    pairs = list(zip(condition.left_keys, condition.right_keys, condition.null_safe))
    starts = next(pair for pair in pairs if pair[0] in one.start and pair[1] in other.start)
    ends = next(pair for pair in pairs if pair[0] in one.end and pair[1] in other.end)
    kept = [pair for pair in pairs if pair not in (starts, ends)]
    text = Text()
    shown = (
        _shown_window(text, one, relation.left, (starts[0], ends[0])),
        _shown_window(text, other, relation.right, (starts[1], ends[1])),
    )
    return joins.WindowJoin(
        relation.row_type,
        inputs,
        relation.kind,
        tuple(left for left, _, _ in kept),
        tuple(right for _, right, _ in kept),
        tuple(safe for _, _, safe in kept),
        condition.remaining,
        _without_windows(relation, starts, ends),
        (starts[0], ends[0]),
        (starts[1], ends[1]),
        shown,
        one.event_time,
    )


def _shown_window(text: Text, windows: WindowColumns, side: Relation, attached: tuple[int, int]) -> str:
    return text.window(windows.window, side.row_type, attached)


def _without_windows(relation: Join, *pairs: tuple[int, int, bool]) -> Rex:
    width = len(relation.left.row_type)
    dropped = [{left, right + width} for left, right, _ in pairs]
    kept = []
    for part in conjuncts(relation.condition):
        found = comparison(part)
        used = {each.index for each in found[1:] if isinstance(each, InputRef)} if found else set()
        if used not in dropped:
            kept.append(part)
    return conjunction(kept) or Literal(BooleanType(is_nullable=False), True)


def _interval_join(relation: Join, condition: JoinCondition, inputs: tuple[Node, Node]) -> Node | None:
    if relation.kind in ("SEMI", "ANTI"):
        return None
    width = len(relation.left.row_type)
    pairs = list(zip(condition.left_keys, condition.right_keys, condition.null_safe))
    timed = [
        (left, right, safe)
        for left, right, safe in pairs
        if attribute_of(relation.left, left) is not None
        and attribute_of(relation.left, left) is attribute_of(relation.right, right)
    ]
    kinds = relation.left.row_type.field_types(), relation.right.row_type.field_types()
    equal = [
        call("=", BooleanType(), InputRef(kinds[0][left], left), InputRef(kinds[1][right], right + width))
        for left, right, _ in timed
    ]
    bounds = time_bounds(relation, [*condition.rest, *equal])
    if bounds is None:
        return None
    used = (bounds.left_time, bounds.right_time)
    kept = [pair for pair in pairs if pair[:2] != used]
    rest = [part for part in bounds.rest if part not in equal]
    return joins.IntervalJoin(
        relation.row_type,
        inputs,
        relation.kind,
        tuple(left for left, _, _ in kept),
        tuple(right for _, right, _ in kept),
        tuple(safe for _, _, safe in kept),
        conjunction(rest),
        relation.condition,
        bounds.left_time,
        bounds.right_time,
        bounds.lower,
        bounds.upper,
        bounds.event_time,
    )


def temporal_join(to: Converter, relation: TemporalJoin) -> Node:
    """Return the node for FOR SYSTEM_TIME AS OF: a lookup for processing time, versions for event time."""
    condition = analysed(relation)
    attribute = getattr(relation.time.type, "time_attribute", None)
    left_time = relation.time.index if isinstance(relation.time, InputRef) else None
    if attribute is not TimeAttribute.ROWTIME:
        lookup = _lookup_join(to, relation, condition)
        if lookup is not None:
            return lookup
        raise SqlNotSupportedError(
            "Processing-time temporal join is not supported yet for a table without lookup support.",
            remedy="join a table whose connector supports lookups, or use a rowtime attribute of the left side",
        )
    right_time = next(
        (c for c in range(len(relation.right.row_type)) if attribute_of(relation.right, c) is TimeAttribute.ROWTIME),
        None,
    )
    if right_time is None or left_time is None:
        raise SqlNotSupportedError(
            "Event-Time Temporal Table Join requires both primary key and row time attribute in versioned table, "
            "but no row time attribute can be found.",
            remedy="declare WATERMARK and PRIMARY KEY on the versioned table",
        )
    right = to.node(relation.right)
    if not any(key <= set(condition.right_keys) for key in UpsertKeys().of(right)):
        raise SqlNotSupportedError(
            "Temporal Table Join requires the primary key of the versioned table in its condition, but no such key can be found.",
            remedy="declare PRIMARY KEY on the versioned table, or take its last rows by ROW_NUMBER, and join by that key",
        )
    if not condition.left_keys:
        raise SqlNotSupportedError(
            "Currently the join key in Temporal Table Join can not be empty.", remedy="add an equality to the condition"
        )
    node = joins.TemporalJoin(
        relation.row_type,
        (to.node(relation.left), right),
        relation.kind,
        condition.left_keys,
        condition.right_keys,
        condition.null_safe,
        condition.remaining,
        relation.condition,
        left_time,
        right_time,
        True,
    )
    return distributed(node)


def _lookup_join(to: Converter, relation: TemporalJoin, condition: JoinCondition) -> Node | None:
    """Return the lookup in the table below the right side, whose calculations become part of the condition."""
    found = _table_below(relation.right)
    if found is None:
        return None
    table, columns, filters = found
    node = to.node(table)
    while not isinstance(node, TableScan):
        if not node.inputs:
            return None
        node = node.input
    if not isinstance(node.source, LookupSource):
        return None
    width = len(relation.left.row_type)
    left = [InputRef(kind, index) for index, kind in enumerate(relation.left.row_type.field_types())]
    keys: dict[int, Any] = {}
    rest: list[Rex] = list(condition.rest)
    for one, other in zip(condition.left_keys, condition.right_keys):
        target = columns[other]
        if isinstance(target, InputRef) and target.index not in keys:
            keys[target.index] = one
        else:
            rest.append(call("=", BooleanType(), left[one], InputRef(columns[other].type, other + width)))
    for part in filters:
        constant = _constant(part)
        if constant is not None and constant[0] not in keys:
            keys[constant[0]] = ("constant", constant[1])
    if not keys:
        raise SqlNotSupportedError(
            "Temporal table join requires an equality condition on fields of the looked up table.",
            seen=".".join(table.name),
        )
    # All conditions are checked over the full row of the table, to which the right columns are translated.
    wide = [*left, *(shifted(rex, width) for rex in columns)]
    checks = [substituted(part, wide) for part in rest] + [shifted(part, width) for part in filters]
    right_fields = table.row_type.fields
    full = row_of(
        [(f.name, f.data_type) for f in relation.left.row_type.fields]
        + [(f.name, f.data_type.nullable() if relation.kind == "LEFT" else f.data_type) for f in right_fields]
    )
    joined = joins.LookupJoin(
        full,
        (to.node(relation.left),),
        ".".join(table.name),
        node.source,
        relation.kind,
        tuple(keys),
        tuple(keys.values()),
        conjunction(checks),
        tuple(field.name for field in right_fields),
    )
    return Calc(relation.row_type, (joined,), tuple(wide), None)


def _table_below(relation: Relation) -> tuple[Scan, list[Rex], list[Rex]] | None:
    """Return the table that calculations read, its columns as the relation has them, and the filters in between."""
    chain: list[Relation] = []
    while isinstance(relation, (Project, Filter)):
        chain.append(relation)
        relation = relation.input
    if not isinstance(relation, Scan):
        return None
    columns: list[Rex] = [InputRef(kind, index) for index, kind in enumerate(relation.row_type.field_types())]
    filters: list[Rex] = []
    for each in reversed(chain):
        if isinstance(each, Filter):
            filters += [substituted(part, columns) for part in conjuncts(each.condition)]
        elif isinstance(each, Project):
            columns = [substituted(rex, columns) for rex in each.expressions]
    return relation, columns, filters


def _constant(part: Rex) -> tuple[int, Any] | None:
    found = comparison(part)
    if found is None or found[0] != "=":
        return None
    _, one, other = found
    if isinstance(one, Literal):
        one, other = other, one
    if isinstance(one, InputRef) and isinstance(other, Literal) and other.value is not None:
        return one.index, other.value
    return None
