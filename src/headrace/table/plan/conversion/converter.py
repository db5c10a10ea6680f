"""Chooses a node for each relation. The modules beside this one know aggregations, joins, order and tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.table.errors import SqlNotSupportedError
from headrace.table.plan import logical, relations
from headrace.table.plan.conversion import aggregation, joining, ordering, tables
from headrace.table.plan.conversion.calculations import calculated
from headrace.table.plan.conversion.distribution import distributed
from headrace.table.plan.nodes import ends, simple
from headrace.table.plan.nodes.base import Node
from headrace.table.plan.rex import InputRef
from headrace.table.plan.settings import PlanSettings
from headrace.types.logical_types import IntType, RowField, RowType, TimeAttribute


class Converter:
    """Converts the relations of one query. A relation that is used twice becomes one node."""

    def __init__(self, settings: PlanSettings) -> None:
        """Settings decide about state and batch mode."""
        self.settings = settings
        self._known: dict[int, tuple[relations.Relation, Node]] = {}

    def node(self, relation: relations.Relation) -> Node:
        """Return the node that runs a relation."""
        known = self._known.get(id(relation))
        if known is None:
            handler = _HANDLERS.get(type(relation))
            if handler is None:
                raise SqlNotSupportedError(f"A query with {type(relation).__name__} cannot be planned")
            known = self._known[id(relation)] = (relation, handler(self, relation))
        return known[1]


def converted(relation: relations.Relation, settings: PlanSettings) -> Node:
    """Return the physical plan of a relation; changelogs are not inferred yet."""
    return Converter(settings).node(relation)


def _values(to: Converter, relation: relations.Values) -> Node:
    del to
    return simple.Values(relation.row_type, (), relation.rows)


def _empty(to: Converter, relation: logical.Empty) -> Node:
    del to
    return simple.Values(relation.row_type, (), ())


def _project(to: Converter, relation: relations.Project) -> Node:
    below = relation.input
    condition = below.condition if isinstance(below, relations.Filter) else None
    below = below.input if isinstance(below, relations.Filter) else below
    return calculated(simple.Calc(relation.row_type, (to.node(below),), relation.expressions, condition))


def _filter(to: Converter, relation: relations.Filter) -> Node:
    below = to.node(relation.input)
    same = tuple(InputRef(kind, index) for index, kind in enumerate(relation.row_type.field_types()))
    return calculated(simple.Calc(relation.row_type, (below,), same, relation.condition))


def _watermarks(to: Converter, relation: relations.WatermarkAssigner) -> Node:
    below = to.node(relation.input)
    if to.settings.batch or tables.has_watermarks(below, relation.watermark):
        return below
    return simple.Watermarks(relation.row_type, (below,), relation.time, relation.watermark)


def _expand(to: Converter, relation: logical.Expand) -> Node:
    return simple.Expand(relation.row_type, (to.node(relation.input),), relation.projections)


def _window_table(to: Converter, relation: relations.WindowTable) -> Node:
    node = simple.WindowTable(relation.row_type, (to.node(relation.input),), relation.window)
    return distributed(node)


def _correlate(to: Converter, relation: relations.Correlate) -> Node:
    below = to.node(relation.left)
    return simple.Correlate(relation.row_type, (below,), relation.right, relation.kind == "LEFT", relation.condition)


def _call(to: Converter, relation: relations.TableFunctionCall) -> Node:
    """A table function without a left side: its rows for one row without meaning."""
    one = RowType((RowField("ZERO", IntType(is_nullable=False)),), is_nullable=False)
    below = simple.Values(one, (), ((0,),))
    both = RowType((*one.fields, *relation.row_type.fields), is_nullable=False)
    rows = simple.Correlate(both, (below,), relation, False, None)
    columns = tuple(InputRef(kind, index + 1) for index, kind in enumerate(relation.row_type.field_types()))
    return simple.Calc(relation.row_type, (rows,), columns, None)


def _union(to: Converter, relation: relations.SetOperation) -> Node:
    inputs: list[Node] = []
    for each in (relation.left, relation.right):
        below = to.node(each)
        inputs += below.inputs if isinstance(below, simple.Union) and below.row_type == relation.row_type else [below]
    return simple.Union(relation.row_type, tuple(inputs))


def _match(to: Converter, relation: relations.Match) -> Node:
    kinds = relation.input.row_type.field_types()
    first = relation.order_by[0].index if relation.order_by else None
    attribute = None if first is None else getattr(kinds[first], "time_attribute", None)
    if attribute is None and not to.settings.batch:
        raise SqlNotSupportedError(
            "You must specify either rowtime or proctime for order by as the first one.",
            remedy="order the rows of MATCH_RECOGNIZE by a time attribute",
        )
    event_time = attribute is not TimeAttribute.PROCTIME
    return distributed(ends.Match(relation.row_type, (to.node(relation.input),), relation, event_time))


_HANDLERS: dict[type[relations.Relation], Callable[[Converter, Any], Node]] = {
    relations.Values: _values,
    logical.Empty: _empty,
    relations.Scan: tables.scan,
    relations.Sink: tables.sink,
    relations.Project: _project,
    relations.Filter: _filter,
    relations.WatermarkAssigner: _watermarks,
    logical.Expand: _expand,
    relations.WindowTable: _window_table,
    relations.Correlate: _correlate,
    relations.TableFunctionCall: _call,
    relations.SetOperation: _union,
    relations.Match: _match,
    relations.Aggregate: aggregation.aggregate,
    relations.GroupWindowAggregate: aggregation.group_window,
    relations.Over: aggregation.over,
    relations.Join: joining.join,
    relations.TemporalJoin: joining.temporal_join,
    logical.Rank: ordering.rank,
    relations.Sort: ordering.sort,
}
