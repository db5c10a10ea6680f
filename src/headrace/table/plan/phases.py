"""Window aggregations in two phases: partial results before the exchange, where all calls can be merged."""

from __future__ import annotations

from dataclasses import replace

from headrace.table.plan.nodes.aggregates import GlobalWindowAggregate, LocalWindowAggregate, WindowAggregate
from headrace.table.plan.nodes.base import Node
from headrace.table.plan.nodes.simple import Exchange
from headrace.table.plan.rules.rewriting import row_of
from headrace.table.plan.settings import PlanSettings
from headrace.table.plan.translation.calls import aggregate_specs, can_merge
from headrace.types.logical_types import BigIntType, RawType


def in_phases(node: Node, settings: PlanSettings, seen: dict[int, tuple[Node, Node]] | None = None) -> Node:
    """Return the plan with window aggregations divided where that is possible."""
    seen = {} if seen is None else seen
    known = seen.get(id(node))
    if known is None:
        current = node.with_inputs(tuple(in_phases(each, settings, seen) for each in node.inputs))
        known = seen[id(node)] = (node, _divided(current, settings))
    return known[1]


def _divided(node: Node, settings: PlanSettings) -> Node:
    if not isinstance(node, WindowAggregate) or not node.two_phase or not isinstance(node.input, Exchange):
        return node
    below = node.input.input
    if not below.insert_only:
        return node
    if not can_merge(aggregate_specs(node.calls, below.row_type, settings.session, False)):
        return node
    final = replace(node, inputs=(below,))
    fields = [(below.row_type.fields[group].name, below.row_type.fields[group].data_type) for group in node.groups]
    fields += [(f"{call.name}$partial", RawType()) for call in node.calls] + [("$slice_end", BigIntType())]
    local = LocalWindowAggregate(row_of(fields), (below,), final)
    moved = Exchange(local.row_type, (local,), tuple(range(len(node.groups))))
    return GlobalWindowAggregate(node.row_type, (moved,), final, changes=node.changes, update=node.update)
