"""Joins: conditions from ON, USING and NATURAL, the nullability of outer sides, temporal joins."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headrace.table.analysis import casts
from headrace.table.analysis.context import Context
from headrace.table.analysis.errors import invalid, unknown, unsupported
from headrace.table.analysis.expressions import Expressions
from headrace.table.analysis.hints import join_hints
from headrace.table.analysis.literals import TRUE
from headrace.table.analysis.scopes import Scope, row_of, side_by_side
from headrace.table.analysis.time_attributes import attribute
from headrace.table.analysis.uses import contains
from headrace.table.plan.relations import Join, Relation, TemporalJoin
from headrace.table.plan.rex import InputRef, Rex, Subquery, shifted
from headrace.table.sql.syntax import queries
from headrace.types.logical_types import DataType, LocalZonedTimestampType, RowType, TimestampType

_KINDS = {"COMMA": "INNER", "CROSS": "INNER", "INNER": "INNER", "LEFT": "LEFT", "RIGHT": "RIGHT", "FULL": "FULL"}


@dataclass(frozen=True)
class Source:
    """A relation of a FROM clause and the columns that expressions may use."""

    relation: Relation
    scope: Scope


def join_row(left: RowType, right: RowType, kind: str) -> RowType:
    """Return the row type of a join: columns of an outer side become nullable.

    >>> from headrace.types.logical_types import IntType, RowField
    >>> row = RowType((RowField("a", IntType(is_nullable=False)),))
    >>> join_row(row, row, "LEFT").field_types()
    [IntType(false), IntType(true)]
    """
    if kind in ("SEMI", "ANTI"):
        return left
    left_types: list[DataType] = left.field_types()
    right_types: list[DataType] = right.field_types()
    if kind in ("RIGHT", "FULL"):
        left_types = [each.nullable() for each in left_types]
    if kind in ("LEFT", "FULL"):
        right_types = [each.nullable() for each in right_types]
    return row_of(left.field_names() + right.field_names(), left_types + right_types)


def joined(
    context: Context,
    node: queries.Join,
    left: Source,
    right: Source,
    outer: Scope | None,
    hints: tuple[queries.Hint, ...] = (),
) -> Source:
    """Return the join of two relations that do not depend on each other."""
    kind = _KINDS[node.kind]
    row = join_row(left.relation.row_type, right.relation.row_type, kind)
    scope = side_by_side(left.scope, right.scope, row, outer)
    condition, scope = join_condition(context, node, left, right, scope)
    resolved = join_hints(hints, left.scope, right.scope)
    if contains(condition, Subquery):
        raise unsupported("Subqueries are not supported in ON", node.position, "move the condition to WHERE")
    return Source(Join(row, left.relation, right.relation, kind, condition, resolved), scope)


def join_condition(
    context: Context, node: queries.Join, left: Source, right: Source, scope: Scope
) -> tuple[Rex, Scope]:
    """Return the condition of a join, over inner types, and its scope with the columns that USING merges."""
    # Conditions see both sides as they are: only the result of an outer join has nulls in place of a row.
    inner_row = join_row(left.relation.row_type, right.relation.row_type, "INNER")
    inner = side_by_side(left.scope, right.scope, inner_row, scope.parent)
    if node.natural or node.using is not None:
        return _merged(node, left, right, scope)
    if node.condition is None:
        return TRUE, scope
    found = Expressions(context, inner, no_aggregates="ON").boolean(node.condition, "ON")
    return found, scope


def _merged(node: queries.Join, left: Source, right: Source, scope: Scope) -> tuple[Rex, Scope]:
    if node.using is not None:
        names = node.using
    else:
        right_names = {name for name, _ in right.scope.star(())}
        names = tuple(dict.fromkeys(name for name, _ in left.scope.star(()) if name in right_names))
    places = len(left.relation.row_type)
    tests, merged, hidden = [], [], set(scope.hidden)
    for name in names:
        one, other = left.scope.find((name,), node.position), right.scope.find((name,), node.position)
        for side, found in ((left, one), (right, other)):
            if found is None:
                raise unknown("column", name, side.scope.names(), node.position)
        assert one is not None and other is not None
        other = shifted(other, places)
        tests.append(casts.operator("=", one, other, position=node.position))
        merged.append((name, _either(node.kind, _typed(one, scope), _typed(other, scope))))
        hidden |= {each.index for each in (one, other) if isinstance(each, InputRef)}
    kept = tuple(each for each in scope.merged if each[0] not in names)
    condition = casts.conjunction(tests) or TRUE
    return condition, replace(scope, merged=(*merged, *kept), hidden=frozenset(hidden), _cache={})


def _typed(rex: Rex, scope: Scope) -> Rex:
    return InputRef(scope.row_type.fields[rex.index].data_type, rex.index) if isinstance(rex, InputRef) else rex


def _either(kind: str, left: Rex, right: Rex) -> Rex:
    if kind == "FULL":
        return casts.operator("COALESCE", left, right)
    return right if kind == "RIGHT" else left


def temporal_join(
    context: Context,
    node: queries.Join,
    left: Source,
    right: Source,
    as_of: queries.AsOf,
    outer: Scope | None,
    hints: tuple[queries.Hint, ...] = (),
) -> Source:
    """Return `left JOIN right FOR SYSTEM_TIME AS OF left.time ON condition`."""
    kind = _KINDS[node.kind]
    if kind not in ("INNER", "LEFT"):
        raise invalid(f"A temporal join must be an INNER or LEFT JOIN, not {kind}", node.position)
    time = Expressions(context, left.scope, no_aggregates="FOR SYSTEM_TIME AS OF").rex(as_of.time)
    if not isinstance(time.type, (TimestampType, LocalZonedTimestampType)):
        raise invalid("FOR SYSTEM_TIME AS OF needs a timestamp", as_of.time.position)
    if attribute(time.type) is None and not context.session.batch:
        remedy = "use a column of the left table that has a watermark, or a PROCTIME() column"
        raise invalid("A temporal join needs a time attribute of its left side", as_of.time.position, remedy)
    row = join_row(left.relation.row_type, right.relation.row_type, kind)
    scope = side_by_side(left.scope, right.scope, row, outer)
    condition, scope = join_condition(context, node, left, right, scope)
    resolved = join_hints(hints, left.scope, right.scope)
    return Source(TemporalJoin(row, left.relation, right.relation, kind, time, condition, resolved), scope)
