"""Queries: SELECT, VALUES, set operations, WITH, ORDER BY and LIMIT."""

from __future__ import annotations

from headrace.table.analysis import casts
from headrace.table.analysis.context import Context
from headrace.table.analysis.decorrelation import projection, refs
from headrace.table.analysis.errors import invalid, unsupported
from headrace.table.analysis.expressions import Expressions
from headrace.table.analysis.inline import InlineQuery
from headrace.table.analysis.scopes import Scope, row_of, scope_of
from headrace.table.analysis.select import Limits, by_ordinal, select
from headrace.table.analysis.tables import NO_SCOPE, ONE_ROW, FromClause, renamed
from headrace.table.analysis.time_attributes import attribute
from headrace.table.plan.relations import Project, Relation, SetOperation, Values
from headrace.table.plan.rex import InputRef, Literal, Rex, SortKey
from headrace.table.sql.syntax import expressions as syntax
from headrace.table.sql.syntax import queries
from headrace.types.logical_types import DataType


def analyse(context: Context, node: queries.Query, outer: Scope | None = None) -> Relation:
    """Return the relation of any query."""
    match node:
        case queries.Select():
            return select(context, node, outer)
        case queries.Ordered():
            return _ordered(context, node, outer)
        case queries.Values():
            return _values(context, node, outer)
        case queries.SetOperation():
            return _set_operation(context, node, outer)
        case queries.With():
            return _with(context, node, outer)
        case queries.ExplicitTable():
            return FromClause(context, outer).named(node.name, (), node.position)[0]
        case InlineQuery():
            return node.relation
    raise unsupported(f"{type(node).__name__} is not supported as a query", node.position)


def _with(context: Context, node: queries.With, outer: Scope | None) -> Relation:
    return analyse(_with_tables(context, node, outer), node.query, outer)


def _with_tables(context: Context, node: queries.With, outer: Scope | None) -> Context:
    if node.recursive:
        raise unsupported("WITH RECURSIVE is not supported", node.position)
    inner = context
    for table in node.tables:
        relation = analyse(inner, table.query, outer)
        if table.columns:
            if len(table.columns) != len(relation.row_type):
                message = f"'{table.name}' has {len(table.columns)} column names, but {len(relation.row_type)} columns"
                raise invalid(message, table.position)
            relation = renamed(relation, list(table.columns))
        inner = inner.with_tables({table.name: relation})
    return inner


# -- ORDER BY ---------------------------------------------------------------------------------------------------------


def _ordered(context: Context, node: queries.Ordered, outer: Scope | None) -> Relation:
    limits = Limits(node.order_by, _count(node.offset, "OFFSET") or 0, _count(node.limit, "LIMIT"))
    query = node.query
    while isinstance(query, queries.With):
        context, query = _with_tables(context, query, outer), query.query
    if isinstance(query, queries.Select):
        return select(context, query, outer, limits)
    relation = analyse(context, query, outer)
    columns: list[Rex] = list(refs(relation))
    expressions = Expressions(context, scope_of(relation, (), outer), no_aggregates="ORDER BY")
    wanted: list[Rex] = list(columns)
    keys = []
    for item in node.order_by:
        value = by_ordinal(item, columns)
        use = expressions.order_item(item, value if value is not None else expressions.rex(item.expression))
        if use.value not in wanted:
            wanted.append(use.value)
        keys.append(SortKey(wanted.index(use.value), use.descending, use.nulls_first))
    result = limits.applied(projection(relation, wanted), tuple(keys))
    return projection(result, columns)


def _count(node: syntax.Expression | None, clause: str) -> int | None:
    if node is None:
        return None
    if not isinstance(node, syntax.Literal) or not isinstance(node.value, int):
        raise invalid(f"{clause} must be an integer constant", node.position)
    return node.value


# -- VALUES -----------------------------------------------------------------------------------------------------------


def _values(context: Context, node: queries.Values, outer: Scope | None) -> Relation:
    expressions = Expressions(context, Scope(NO_SCOPE.row_type, (), outer), no_aggregates="VALUES")
    rows = [expressions.all(each.items if isinstance(each, syntax.Row) else (each,)) for each in node.rows]
    width = len(rows[0])
    for given, row in zip(node.rows, rows, strict=True):
        if len(row) != width:
            raise invalid(f"All rows of VALUES must have {width} values, this one has {len(row)}", given.position)
    types = [casts.common([row[i] for row in rows], "The values of VALUES", node.position) for i in range(width)]
    cast_rows = [casts.cast_all(each, types) for each in rows]
    row_type = row_of([f"EXPR${i}" for i in range(width)], types)
    if all(isinstance(each, Literal) for row in cast_rows for each in row):
        return Values(
            row_type, tuple(tuple(each.value for each in row if isinstance(each, Literal)) for row in cast_rows)
        )
    found: Relation | None = None
    for values in cast_rows:
        one = Project(row_type, ONE_ROW, values)
        found = one if found is None else SetOperation(row_type, found, one, "UNION", True)
    assert found is not None
    return found


# -- set operations ---------------------------------------------------------------------------------------------------


def _set_operation(context: Context, node: queries.SetOperation, outer: Scope | None) -> Relation:
    left, right = analyse(context, node.left, outer), analyse(context, node.right, outer)
    width = len(left.row_type)
    if len(right.row_type) != width:
        message = (
            f"Both sides of {node.operator} must have the same number of columns, not {width} and {len(right.row_type)}"
        )
        raise invalid(message, node.position)
    pairs = zip(refs(left), refs(right), strict=True)
    types = [_unified(one, other, node) for one, other in pairs]
    names = left.row_type.field_names()
    left, right = (_cast_columns(each, types) for each in (left, right))
    return SetOperation(row_of(names, types), left, right, node.operator, node.all)


def _unified(left: Rex, right: Rex, node: queries.SetOperation) -> DataType:
    time = attribute(left.type)
    if time is not None and time is attribute(right.type) and type(left.type) is type(right.type):
        return left.type.nullable() if right.type.is_nullable else left.type
    return casts.common([left, right], f"The columns of {node.operator}", node.position)


def _cast_columns(relation: Relation, types: list[DataType]) -> Relation:
    columns = refs(relation)
    cast = [
        column if attribute(kind) is not None else casts.cast(column, kind)
        for column, kind in zip(columns, types, strict=True)
    ]
    if all(isinstance(each, InputRef) for each in cast):
        return relation
    return Project(row_of(relation.row_type.field_names(), [each.type for each in cast]), relation, tuple(cast))
