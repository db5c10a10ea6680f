"""The spec of each physical node: what its operator is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.graph import table_join_specs as join_specs
from headrace.graph import table_sort_specs as sort_specs
from headrace.graph import table_specs as specs
from headrace.graph.specs import OperatorSpec
from headrace.table.errors import SqlNotSupportedError
from headrace.table.functions.definition import Session
from headrace.table.plan.monotonic import never_goes_back
from headrace.table.plan.nodes import aggregates, ends, joins, ranks, simple
from headrace.table.plan.nodes.base import Node
from headrace.table.plan.rex import Rex
from headrace.table.plan.settings import PlanSettings
from headrace.table.plan.translation.calls import aggregate_specs, sort_orders, time_window
from headrace.table.plan.translation.lookups import Lookup
from headrace.table.plan.translation.matching import Measures, cep_pattern
from headrace.table.plan.translation.table_functions import RowsOfFunction
from headrace.table.programs import Predicate, Program, Scalar
from headrace.types.logical_types import LocalZonedTimestampType, RowType


@dataclass(frozen=True)
class Specs:
    """Makes specs with the settings of a session."""

    settings: PlanSettings

    @property
    def session(self) -> Session:
        """Return what functions see of the settings."""
        return self.settings.session

    def of(self, node: Node) -> OperatorSpec:
        """Return the spec of a node."""
        handler = _HANDLERS.get(type(node))
        if handler is None:
            raise SqlNotSupportedError(f"The operator {node.label} is not part of this version")
        return handler(self, node)

    def types(self, node: Node) -> dict[str, Any]:
        """Return the types of the inputs and of the results of a node, which all specs have."""
        return {"types": tuple(each.row_type for each in node.inputs), "output_type": node.row_type}

    def program(self, expressions: Sequence[Rex] | None, condition: Rex | None, row_type: RowType) -> Any:
        """Return a projection and a filter over rows of a type."""
        return Program(expressions, condition, row_type, self.session)

    def condition(self, rex: Rex | None, width: int) -> Predicate | None:
        """Return a condition over pairs of rows."""
        return None if rex is None else Predicate(rex, width, self.session)

    def local(self, row_type: RowType, column: int) -> bool:
        """Return whether a time column needs no time zone."""
        return not isinstance(row_type.fields[column].data_type, LocalZonedTimestampType)


def _kinds(node: Node) -> bool:
    return not node.insert_only


def _calc(to: Specs, node: simple.Calc) -> OperatorSpec:
    program = to.program(node.expressions, node.condition, node.input.row_type)
    return specs.Calc(program, _kinds(node.input), **to.types(node))


def _watermarks(to: Specs, node: simple.Watermarks) -> OperatorSpec:
    idle = to.settings.idle_timeout or None
    watermark = Scalar(node.watermark, to.session)
    return specs.AssignWatermarks(node.time, watermark, idle, _kinds(node.input), **to.types(node))


def _expand(to: Specs, node: simple.Expand) -> OperatorSpec:
    programs = tuple(to.program(each, None, node.input.row_type) for each in node.projections)
    return specs.Expand(programs, _kinds(node.input), **to.types(node))


def _correlate(to: Specs, node: simple.Correlate) -> OperatorSpec:
    width = len(node.input.row_type)
    function = RowsOfFunction(node.call, to.session)
    right = len(node.row_type) - width
    condition = to.condition(node.condition, width)
    return specs.Correlate(function, right, node.left_outer, condition, _kinds(node.input), **to.types(node))


def _drop(to: Specs, node: simple.DropUpdateBefore) -> OperatorSpec:
    return specs.DropUpdateBefore(**to.types(node))


def _window_table(to: Specs, node: simple.WindowTable) -> OperatorSpec:
    window, row_type = node.window, node.input.row_type
    kind = row_type.fields[window.time].data_type
    return specs.WindowTable(
        time_window(window),
        window.time,
        not _is_proctime(kind),
        window.partition_by,
        _kinds(node.input),
        to.settings.time_zone,
        to.local(row_type, window.time),
        **to.types(node),
    )


def _is_proctime(kind: Any) -> bool:
    attribute = getattr(kind, "time_attribute", None)
    return attribute is not None and attribute.name == "PROCTIME"


def _group(to: Specs, node: aggregates.GroupAggregate) -> OperatorSpec:
    below = node.input
    final = () if below.insert_only else [call for call in node.calls if never_goes_back(below, node.groups, call)]
    calls = aggregate_specs(node.calls, below.row_type, to.session, not below.insert_only, final=final)
    return specs.GroupAggregate(
        node.groups,
        calls,
        _kinds(below),
        not node.insert_only,
        node.update_before,
        node.mini_batch,
        node.ttl,
        to.settings.batch,
        **to.types(node),
    )


def _window_aggregate(to: Specs, node: aggregates.WindowAggregate) -> specs.WindowAggregate:
    below, window, settings = node.input, node.window, to.settings
    calls = aggregate_specs(node.calls, below.row_type, to.session, not below.insert_only)
    time = window.time if node.attached is None else node.attached[1]
    return specs.WindowAggregate(
        time_window(window),
        time,
        node.groups,
        calls,
        node.properties,
        node.event_time,
        node.attached,
        _kinds(below),
        settings.time_zone,
        to.local(below.row_type, time) if node.attached is None else True,
        settings.batch,
        window.by_rows,
        settings.early_fire if node.legacy else 0,
        settings.late_fire if node.legacy else 0,
        settings.allowed_lateness if node.legacy else 0,
        **to.types(node),
    )


def _local_window(to: Specs, node: aggregates.LocalWindowAggregate) -> OperatorSpec:
    return specs.LocalWindowAggregate(_window_aggregate(to, node.final), **to.types(node))


def _global_window(to: Specs, node: aggregates.GlobalWindowAggregate) -> OperatorSpec:
    return specs.GlobalWindowAggregate(_window_aggregate(to, node.final), **to.types(node))


def _over(to: Specs, node: aggregates.OverAggregate) -> OperatorSpec:
    over, below = node.over, node.input
    slides = over.frame.start is not None
    calls = aggregate_specs(over.calls, below.row_type, to.session, not below.insert_only, slides, over=True)
    frame = specs.OverFrame(over.frame.rows, over.frame.start, over.frame.end)
    return specs.OverAggregate(
        over.partition_by,
        node.time,
        frame,
        calls,
        node.event_time,
        sort_orders(over.order_by),
        _kinds(below),
        node.ttl,
        to.settings.batch,
        **to.types(node),
    )


def _rank(to: Specs, node: ranks.Rank) -> OperatorSpec:
    return sort_specs.Rank(
        node.partition_by,
        sort_orders(node.order_by),
        node.start,
        node.end,
        node.with_rank,
        node.function,
        node.end_column,
        _kinds(node.input),
        node.update_before,
        _rank_key(node),
        node.ttl,
        to.settings.batch,
        **to.types(node),
    )


def _rank_key(node: ranks.Rank | ranks.SortLimit) -> tuple[int, ...] | None:
    """Return the key of upserts. Without one, the operator expects old rows and keeps all rows."""
    return node.upsert_key if node.strategy == "UpdateFastStrategy" else None


def _deduplicate(to: Specs, node: ranks.Deduplicate) -> OperatorSpec:
    return sort_specs.Deduplicate(
        node.partition_by,
        node.time,
        node.event_time,
        node.keep_last,
        _kinds(node.input),
        node.update_before,
        not node.insert_only,
        node.ttl,
        **to.types(node),
    )


def _window_rank(to: Specs, node: ranks.WindowRank) -> OperatorSpec:
    return sort_specs.WindowRank(
        node.partition_by,
        node.window[1],
        sort_orders(node.order_by),
        node.start,
        node.end,
        node.with_rank,
        node.event_time,
        to.settings.time_zone,
        True,
        **to.types(node),
    )


def _temporal_sort(to: Specs, node: ranks.TemporalSort) -> OperatorSpec:
    orders = sort_orders(node.order_by)
    return sort_specs.TemporalSort(orders[0].column, orders, node.event_time, **to.types(node))


def _sort(to: Specs, node: ranks.Sort) -> OperatorSpec:
    return sort_specs.Sort(sort_orders(node.order_by), node.offset, node.limit, _kinds(node.input), **to.types(node))


def _sort_limit(to: Specs, node: ranks.SortLimit) -> OperatorSpec:
    assert node.limit is not None
    return sort_specs.Rank(
        (),
        sort_orders(node.order_by),
        node.offset + 1,
        node.offset + node.limit,
        False,
        kinds=_kinds(node.input),
        update_before=node.update_before,
        upsert_key=_rank_key(node),
        ttl=node.ttl,
        **to.types(node),
    )


def _limit(to: Specs, node: ranks.Limit) -> OperatorSpec:
    if node.input.insert_only:
        return sort_specs.Limit(node.offset, node.limit, **to.types(node))
    end = None if node.limit is None else node.offset + node.limit
    return sort_specs.Rank(
        (),
        (),
        node.offset + 1,
        end,
        False,
        kinds=True,
        update_before=node.update_before,
        ttl=node.ttl,
        **to.types(node),
    )


def _normalize(to: Specs, node: simple.ChangelogNormalize) -> OperatorSpec:
    program = None if node.condition is None else to.program(None, node.condition, node.row_type)
    return specs.ChangelogNormalize(node.key, node.update_before, node.ttl, program, **to.types(node))


def _side(node: joins.JoinNode, number: int, **more: Any) -> join_specs.JoinSide:
    below = node.inputs[number]
    keys = node.right_keys if number else node.left_keys
    return join_specs.JoinSide(keys, len(below.row_type), _kinds(below), null_safe=node.null_safe, **more)


def _join(to: Specs, node: joins.Join) -> OperatorSpec:
    return join_specs.RegularJoin(
        node.kind,
        _side(node, 0, unique_key=node.left_unique, ttl=node.left_ttl),
        _side(node, 1, unique_key=node.right_unique, ttl=node.right_ttl),
        to.condition(node.condition, len(node.inputs[0].row_type)),
        not node.insert_only,
        node.update_before,
        to.settings.batch,
        **to.types(node),
    )


def _interval_join(to: Specs, node: joins.IntervalJoin) -> OperatorSpec:
    return join_specs.IntervalJoin(
        node.kind,
        _side(node, 0, time=node.left_time),
        _side(node, 1, time=node.right_time),
        node.lower,
        node.upper,
        node.event_time,
        to.condition(node.condition, len(node.inputs[0].row_type)),
        **to.types(node),
    )


def _window_join(to: Specs, node: joins.WindowJoin) -> OperatorSpec:
    return join_specs.WindowJoin(
        node.kind,
        _side(node, 0),
        _side(node, 1),
        node.left_window[1],
        node.right_window[1],
        to.condition(node.condition, len(node.inputs[0].row_type)),
        node.event_time,
        to.settings.time_zone,
        True,
        **to.types(node),
    )


def _temporal_join(to: Specs, node: joins.TemporalJoin) -> OperatorSpec:
    return join_specs.TemporalJoin(
        node.kind,
        _side(node, 0, time=node.left_time),
        _side(node, 1, time=node.right_time),
        node.event_time,
        to.condition(node.condition, len(node.inputs[0].row_type)),
        **to.types(node),
    )


def _lookup_join(to: Specs, node: joins.LookupJoin) -> OperatorSpec:
    width = len(node.input.row_type)
    return join_specs.LookupJoin(
        node.kind,
        Lookup(node.source.lookup(node.lookup_columns)),
        node.lookup_keys,
        len(node.row_type) - width,
        to.condition(node.condition, width),
        _kinds(node.input),
        **to.types(node),
    )


def _match(to: Specs, node: ends.Match) -> OperatorSpec:
    match = node.match
    orders = sort_orders(match.order_by)
    return sort_specs.Match(
        match.partition_by,
        orders[0].column,
        cep_pattern(match, to.session),
        Measures(match, to.session),
        orders[1:],
        node.event_time,
        **to.types(node),
    )


_HANDLERS: dict[type[Node], Callable[[Specs, Any], OperatorSpec]] = {
    simple.Calc: _calc,
    simple.Watermarks: _watermarks,
    simple.Expand: _expand,
    simple.Correlate: _correlate,
    simple.DropUpdateBefore: _drop,
    simple.WindowTable: _window_table,
    simple.ChangelogNormalize: _normalize,
    aggregates.GroupAggregate: _group,
    aggregates.WindowAggregate: _window_aggregate,
    aggregates.GroupWindowAggregate: _window_aggregate,
    aggregates.LocalWindowAggregate: _local_window,
    aggregates.GlobalWindowAggregate: _global_window,
    aggregates.OverAggregate: _over,
    ranks.Rank: _rank,
    ranks.Deduplicate: _deduplicate,
    ranks.WindowRank: _window_rank,
    ranks.TemporalSort: _temporal_sort,
    ranks.Sort: _sort,
    ranks.SortLimit: _sort_limit,
    ranks.Limit: _limit,
    joins.Join: _join,
    joins.IntervalJoin: _interval_join,
    joins.WindowJoin: _window_join,
    joins.TemporalJoin: _temporal_join,
    joins.LookupJoin: _lookup_join,
    ends.Match: _match,
}
