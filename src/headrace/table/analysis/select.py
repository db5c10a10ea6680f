"""SELECT: from the FROM clause through WHERE, GROUP BY, HAVING, OVER windows and the select list to DISTINCT and ORDER BY."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from headrace.table.analysis.context import Context
from headrace.table.analysis.errors import invalid
from headrace.table.analysis.expressions import Expressions
from headrace.table.analysis.grouping import group_keys, grouped
from headrace.table.analysis.hints import aggregate_hints, check_hints
from headrace.table.analysis.over import with_over
from headrace.table.analysis.scopes import Scope, row_of
from headrace.table.analysis.subqueries import filtered, with_values
from headrace.table.analysis.tables import NO_SCOPE, ONE_ROW, FromClause
from headrace.table.analysis.uses import AggregateUse, OrderUse, contains
from headrace.table.plan.relations import Aggregate, Filter, Project, Relation, Sort
from headrace.table.plan.rex import InputRef, Rex, SortKey
from headrace.table.sql.syntax import expressions as syntax
from headrace.table.sql.syntax.queries import Select, SelectItem


@dataclass(frozen=True)
class Limits:
    """ORDER BY, OFFSET and LIMIT of a query."""

    order_by: tuple[syntax.OrderItem, ...] = ()
    offset: int = 0
    limit: int | None = None

    def applied(self, relation: Relation, keys: tuple[SortKey, ...]) -> Relation:
        """Return the relation, sorted and limited."""
        if not keys and not self.offset and self.limit is None:
            return relation
        return Sort(relation.row_type, relation, keys, self.offset, self.limit)


NO_LIMITS = Limits()


class _OrderExpressions(Expressions):
    """Expressions of ORDER BY, in which the aliases of the select list come before columns."""

    aliases: dict[str, Rex]

    def _identifier(self, node: syntax.Identifier) -> Rex:
        if len(node.names) == 1 and node.names[0] in self.aliases:
            return self.aliases[node.names[0]]
        return super()._identifier(node)

    rules: ClassVar[dict[type[syntax.Expression], Callable[[Any, Any], Rex]]] = {
        **Expressions.rules,
        syntax.Identifier: _identifier,
    }


def select(context: Context, node: Select, outer: Scope | None, limits: Limits = NO_LIMITS) -> Relation:
    """Return the relation of a SELECT, with the ORDER BY and LIMIT that follow it."""
    if node.source is None:
        relation: Relation = ONE_ROW
        scope = Scope(NO_SCOPE.row_type, (), outer)
    else:
        source = FromClause(context, outer, node.hints).source(node.source)
        relation, scope = source.relation, source.scope
        check_hints(node.hints, scope)
    if node.where is not None:
        condition = Expressions(context, scope, no_aggregates="WHERE").boolean(node.where, "WHERE")
        relation = filtered(relation, condition, node.where.position)
    expressions = Expressions(context, scope, windows=dict(node.windows))
    names, values = _items(expressions, node)
    having = None if node.having is None else expressions.boolean(node.having, "HAVING")
    qualify = None if node.qualify is None else expressions.boolean(node.qualify, "QUALIFY")
    order = _order(context, scope, node, limits, names, values)

    count = len(values)
    everything = [*values, *(each.value for each in order)]
    extra = [each for each in (having, qualify) if each is not None]
    if node.group_by is not None or having is not None or any(contains(v, AggregateUse) for v in (*everything, *extra)):
        keys = group_keys(Expressions(context, scope, no_aggregates="GROUP BY"), node)
        hints = aggregate_hints(node.hints, scope)
        relation, replaced = grouped(relation, keys, [*everything, *extra], expressions, hints)
        everything = [replaced(each) for each in everything]
        if having is not None:
            relation = filtered(relation, replaced(having), node.having.position if node.having else -1)
        qualify = None if qualify is None else replaced(qualify)
    relation, everything = with_values(relation, everything, node.position)
    last = [] if qualify is None else [qualify]
    relation, found = with_over(relation, [*everything, *last])
    if qualify is not None:
        relation = Filter(relation.row_type, relation, found.pop())
    return _finished(relation, names, found[:count], found[count:], order, node, limits)


def _finished(
    relation: Relation,
    names: list[str],
    values: list[Rex],
    sort_values: list[Rex],
    order: list[OrderUse],
    node: Select,
    limits: Limits,
) -> Relation:
    """Project, remove duplicates, sort, and remove the columns that were only needed for that."""
    shown = list(values)
    keys = []
    for use, value in zip(order, sort_values, strict=True):
        if value in shown:
            place = shown.index(value)
        elif node.distinct:
            raise invalid("With SELECT DISTINCT, ORDER BY may only use columns of the select list", node.position)
        else:
            place = len(shown)
            shown.append(value)
        keys.append(SortKey(place, use.descending, use.nulls_first))
    hidden = [f"$sort{index}" for index in range(len(shown) - len(values))]
    row = row_of([*names, *hidden], [each.type for each in shown])
    result: Relation = Project(row, relation, tuple(shown))
    if node.distinct:
        result = Aggregate(row, result, tuple(range(len(values))), ())
    result = limits.applied(result, tuple(keys))
    if not hidden:
        return result
    visible = row_of(row.field_names()[: len(values)], [each.type for each in values])
    columns = tuple(InputRef(each.data_type, index) for index, each in enumerate(visible.fields))
    return Project(visible, result, columns)


def _items(expressions: Expressions, node: Select) -> tuple[list[str], list[Rex]]:
    names: list[str] = []
    values: list[Rex] = []
    for item in node.items:
        if isinstance(item.expression, syntax.Star):
            if node.source is None:
                raise invalid("SELECT * needs a FROM clause", item.position)
            for name, value in expressions.scope.star(item.expression.qualifier, item.expression.position):
                expressions.columns_used.append((value, syntax.Identifier((name,), position=item.expression.position)))
                names.append(name)
                values.append(value)
            continue
        value = expressions.rex(item.expression)
        names.append(_name(item, len(names)))
        values.append(value)
    return names, values


def _name(item: SelectItem, place: int) -> str:
    if item.alias is not None:
        return item.alias
    value = item.expression
    if isinstance(value, syntax.Identifier):
        return value.names[-1]
    return value.field if isinstance(value, syntax.FieldAccess) else f"EXPR${place}"


def _order(
    context: Context, scope: Scope, node: Select, limits: Limits, names: list[str], values: list[Rex]
) -> list[OrderUse]:
    if not limits.order_by:
        return []
    expressions = _OrderExpressions(context, scope, windows=dict(node.windows))
    expressions.aliases = {
        item.alias: values[place] for place, item in _placed_items(node, scope) if item.alias is not None
    }
    found = []
    for item in limits.order_by:
        value = by_ordinal(item, values)
        found.append(expressions.order_item(item, value if value is not None else expressions.rex(item.expression)))
    return found


def _placed_items(node: Select, scope: Scope) -> list[tuple[int, SelectItem]]:
    """Return the items of the select list with the number of their (first) column."""
    place, found = 0, []
    for item in node.items:
        found.append((place, item))
        star = item.expression
        place += len(scope.star(star.qualifier, star.position)) if isinstance(star, syntax.Star) else 1
    return found


def by_ordinal(item: syntax.OrderItem, values: list[Rex]) -> Rex | None:
    """Return the column of the select list that an integer of ORDER BY stands for, None if it is not an integer."""
    number = item.expression
    if not isinstance(number, syntax.Literal) or number.kind != "INTEGER":
        return None
    assert isinstance(number.value, int)
    if not 1 <= number.value <= len(values):
        raise invalid(f"ORDER BY {number.value} is not the number of a column (1 to {len(values)})", item.position)
    return values[number.value - 1]
