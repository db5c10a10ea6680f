"""Expressions: operators, constants, columns and subqueries as resolved expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from headrace.table.analysis import casts, literals
from headrace.table.analysis.calls import Calls
from headrace.table.analysis.context import built_in
from headrace.table.analysis.errors import invalid, unsupported
from headrace.table.analysis.frames import over_use
from headrace.table.analysis.inline import (
    InlineCall,
    InlineCast,
    InlineExpression,
    InlineField,
    InlineInterval,
    InlinePlus,
)
from headrace.table.analysis.literals import FALSE, NULL, UNIT_VALUES, interval_of
from headrace.table.analysis.scopes import field_access, row_of
from headrace.table.analysis.time_attributes import plain
from headrace.table.analysis.types import INTERVAL_OF_DAYS, INTERVAL_OF_MONTHS, interval_type, logical_type
from headrace.table.functions.conversion import cast_result
from headrace.table.functions.definition import ArgumentError
from headrace.table.plan.relations import Project, Relation
from headrace.table.plan.rex import Call, InputRef, Literal, Rex, Subquery
from headrace.table.sql.syntax import expressions as syntax
from headrace.table.sql.syntax.queries import Query
from headrace.types.logical_types import (
    BooleanType,
    CharType,
    DataType,
    DayTimeIntervalType,
    NullType,
    RowType,
    VarCharType,
    YearMonthIntervalType,
)

_COMPARISONS = frozenset(("=", "<>", "<", "<=", ">", ">="))
NEGATIVE = "-"
"""The function behind the sign `-x`."""


class Expressions(Calls):
    """Rules for all expressions of a scope."""

    def __init__(
        self, *arguments: Any, windows: dict[str, syntax.WindowSpecification] | None = None, **named: Any
    ) -> None:
        """`windows` are those of the WINDOW clause."""
        super().__init__(*arguments, **named)
        self.windows = windows or {}
        self.columns_used: list[tuple[Rex, syntax.Identifier]] = []

    def rex(self, node: syntax.Expression) -> Rex:
        """Return the resolved form of an expression."""
        rule = self.rules.get(type(node))
        if rule is None:
            raise unsupported(f"{type(node).__name__} is not supported here", node.position)
        return rule(self, node)

    def boolean(self, node: syntax.Expression, clause: str) -> Rex:
        """Return the resolved form of a condition."""
        return casts.condition(self.rex(node), clause, node.position)

    # -- names and constants ------------------------------------------------------------------------------------------

    def _identifier(self, node: syntax.Identifier) -> Rex:
        found = self.scope.column(node.names, node.position)
        self.columns_used.append((found, node))
        return found

    def _parameter(self, node: syntax.Parameter) -> Rex:
        raise unsupported("Parameters ('?') are not supported", node.position, "write the value itself")

    def _symbol(self, node: syntax.Symbol) -> Rex:
        return Literal(NullType(), node.name)

    def _interval_expression(self, node: syntax.IntervalExpression) -> Rex:
        kind, unit = interval_type(node.qualifier), UNIT_VALUES[node.qualifier.start]
        if isinstance(node.value, syntax.Binary) and node.value.operator == "-" and node.qualifier.end is not None:
            return self.rex(node.value)
        value = self.rex(node.value)
        if isinstance(value.type, (DayTimeIntervalType, YearMonthIntervalType)):
            return value
        if isinstance(value, Literal) and value.value is not None:
            number = int(value.value * unit)
            return interval_of(-number if node.negative else number, kind)
        product = casts.operator("*", interval_of(unit, kind), value, position=node.position)
        return casts.operator(NEGATIVE, product, position=node.position) if node.negative else product

    # -- operators ----------------------------------------------------------------------------------------------------

    def _unary(self, node: syntax.Unary) -> Rex:
        value = self.rex(node.operand)
        if node.operator == "NOT":
            return casts.operator("NOT", value, position=node.position)
        if node.operator == "+":
            return value
        if isinstance(value, Literal) and isinstance(node.operand, (syntax.Literal, syntax.IntervalLiteral)):
            if isinstance(node.operand, syntax.Literal) and node.operand.kind == "INTEGER":
                return literals.integer(-value.value, node.position)
            if isinstance(value.value, (int, float)) or (value.value is not None and node.operand.kind == "DECIMAL"):  # type: ignore[union-attr]
                return Literal(value.type, -value.value)
        return casts.operator(NEGATIVE, value, position=node.position)

    def _binary(self, node: syntax.Binary) -> Rex:
        if node.operator in ("AND", "OR"):
            return self._logical(node)
        if node.operator == "OVERLAPS" and isinstance(node.left, syntax.Row) and isinstance(node.right, syntax.Row):
            periods = self.all(node.left.items + node.right.items)
            return casts.operator("OVERLAPS", *periods, position=node.position)
        if node.operator in _COMPARISONS:
            return self._compared(node.operator, node.left, node.right, node.position)
        return casts.operator(node.operator, self.rex(node.left), self.rex(node.right), position=node.position)

    def _logical(self, node: syntax.Binary) -> Rex:
        # Long chains of AND or OR lean to the left: as one call they need no deep recursion.
        chain: list[syntax.Expression] = []
        left: syntax.Expression = node
        while isinstance(left, syntax.Binary) and left.operator == node.operator:
            chain.append(left.right)
            left = left.left
        values = [self.rex(left), *(self.rex(right) for right in reversed(chain))]
        return casts.operator(node.operator, *values, position=node.position)

    def _compared(self, operator: str, left: syntax.Expression, right: syntax.Expression, position: int) -> Rex:
        if isinstance(left, syntax.Row) and isinstance(right, syntax.Row) and operator in ("=", "<>"):
            if len(left.items) != len(right.items):
                raise invalid("Rows of different length cannot be compared", position)
            pairs = zip(left.items, right.items, strict=True)
            tests = [casts.operator("=", self.rex(a), self.rex(b), position=position) for a, b in pairs]
            same = casts.conjunction(tests)
            assert same is not None
            return same if operator == "=" else casts.operator("NOT", same)
        return casts.operator(operator, self.rex(left), self.rex(right), position=position)

    def _is(self, node: syntax.Is) -> Rex:
        if node.test not in ("NULL", "TRUE", "FALSE", "UNKNOWN"):
            found = casts.operator(f"IS {node.test}", self.rex(node.operand), position=node.position)
            return casts.operator("NOT", found, position=node.position) if node.negated else found
        name = f"IS {'NOT ' if node.negated else ''}{node.test}"
        return casts.operator(name, self.rex(node.operand), position=node.position)

    def _is_distinct(self, node: syntax.IsDistinct) -> Rex:
        name = "IS NOT DISTINCT FROM" if node.negated else "IS DISTINCT FROM"
        return casts.operator(name, self.rex(node.left), self.rex(node.right), position=node.position)

    def _between(self, node: syntax.Between) -> Rex:
        value, low, high = self.rex(node.value), self.rex(node.low), self.rex(node.high)
        where = node.position
        if node.symmetric or not isinstance(value, (InputRef, Literal)):
            name = f"{'NOT ' if node.negated else ''}BETWEEN{' SYMMETRIC' if node.symmetric else ''}"
            return casts.operator(name, value, low, high, position=where)
        # Two comparisons are easier to plan: as the bounds of an interval join, or pushed into a source.
        low_enough = casts.operator(">=", value, low, position=where)
        found = casts.operator("AND", low_enough, casts.operator("<=", value, high, position=where), position=where)
        return casts.operator("NOT", found, position=where) if node.negated else found

    def _like(self, node: syntax.Like) -> Rex:
        arguments = [self.rex(node.value), self.rex(node.pattern)]
        if node.escape is not None:
            arguments.append(self.rex(node.escape))
        kind = "REGEXP" if node.kind == "RLIKE" else node.kind
        found = casts.operator(kind, *arguments, position=node.position)
        return casts.operator("NOT", found, position=node.position) if node.negated else found

    def _case(self, node: syntax.Case) -> Rex:
        operand = None if node.operand is None else self.rex(node.operand)
        arguments: list[Rex] = []
        for tests, result in node.branches:
            found: Rex | None = None
            for test in tests:
                each = self.rex(test)
                if operand is not None:
                    each = casts.operator("=", operand, each, position=test.position)
                found = each if found is None else casts.operator("OR", found, each, position=test.position)
            assert found is not None
            arguments += [casts.condition(found, "WHEN", tests[0].position), self.rex(result)]
        arguments.append(NULL if node.otherwise is None else self.rex(node.otherwise))
        return casts.operator("CASE", *arguments, position=node.position)

    def _cast(self, node: syntax.Cast) -> Rex:
        if node.format is not None:
            raise unsupported("CAST with FORMAT is not supported", node.position)
        kind = logical_type(node.type)
        name = "TRY_CAST" if node.kind != "CAST" else "CAST"
        return self._cast_to(name, self.rex(node.value), kind, node.position)

    def _cast_to(self, name: str, value: Rex, kind: DataType, position: int) -> Rex:
        if isinstance(value, Literal) and value.value is None:
            return Literal(kind.nullable(), None)
        return self.explicit_cast(name, value, kind, position)

    def explicit_cast(self, name: str, value: Rex, kind: DataType, position: int) -> Rex:
        """Return a cast that a statement asks for."""
        try:
            target = cast_result(plain(value.type), kind, safe=name == "TRY_CAST")
        except ArgumentError as error:
            raise invalid(str(error)[:1].upper() + str(error)[1:], position) from None
        return Call(target, built_in(name, position), (value,))

    # -- nested values ------------------------------------------------------------------------------------------------

    def _row(self, node: syntax.Row) -> Rex:
        return casts.operator("ROW", *self.all(node.items), position=node.position)

    def _collection(self, node: syntax.CollectionConstructor) -> Rex:
        if isinstance(node.items, Query):
            raise unsupported(f"{node.kind} of a query is not supported", node.position)
        return casts.operator(node.kind, *self.all(node.items), position=node.position)

    def _item(self, node: syntax.ItemAccess) -> Rex:
        if node.mode is not None:
            raise unsupported(f"[{node.mode}(...)] is not supported", node.position, "write x[index], counted from 1")
        return casts.operator("ITEM", self.rex(node.value), self.rex(node.index), position=node.position)

    def _field(self, node: syntax.FieldAccess) -> Rex:
        return field_access(self.rex(node.value), node.field, node.position)

    # -- the Table API ------------------------------------------------------------------------------------------------

    def _inline_cast(self, node: InlineCast) -> Rex:
        return self._cast_to(node.kind, self.rex(node.value), node.type, node.position)

    def _inline_field(self, node: InlineField) -> Rex:
        value, field = self.rex(node.value), node.field
        if isinstance(field, int) and isinstance(value.type, RowType):
            if not 0 <= field < len(value.type):
                raise invalid(f"Field {field} is not one of the {len(value.type)} fields of the row", node.position)
            field = value.type.field_names()[field]
        return field_access(value, str(field), node.position)

    def _inline_interval(self, node: InlineInterval) -> Rex:
        kind = INTERVAL_OF_MONTHS if node.months else INTERVAL_OF_DAYS
        value = self.rex(node.value)
        if isinstance(value, Literal) and value.value is not None:
            return interval_of(int(value.value * node.unit), kind)
        return casts.operator("*", interval_of(node.unit, kind), value, position=node.position)

    def _inline_plus(self, node: InlinePlus) -> Rex:
        left, right = self.rex(node.left), self.rex(node.right)
        if not any(isinstance(each.type, (CharType, VarCharType)) for each in (left, right)):
            return casts.operator("+", left, right, position=node.position)
        texts = [
            each
            if isinstance(each.type, (CharType, VarCharType))
            else self.explicit_cast("CAST", each, VarCharType(is_nullable=each.type.is_nullable), node.position)
            for each in (left, right)
        ]
        return casts.operator("||", *texts, position=node.position)

    # -- windows and queries ------------------------------------------------------------------------------------------

    def _over(self, node: syntax.Over) -> Rex:
        return over_use(self, node, self.windows)

    def _exists(self, node: syntax.Exists) -> Rex:
        if node.kind != "EXISTS":
            raise unsupported(f"{node.kind} (query) is not supported", node.position)
        relation = self.context.query(node.query, self.scope)
        return Subquery(BooleanType(is_nullable=False), "EXISTS", relation)

    def _subquery(self, node: syntax.Subquery) -> Rex:
        relation = self.context.query(node.query, self.scope)
        if len(relation.row_type) != 1:
            count = len(relation.row_type)
            raise invalid(f"A query that is used as a value must have one column, not {count}", node.position)
        return Subquery(relation.row_type.fields[0].data_type.nullable(), "SCALAR", relation)

    def _in(self, node: syntax.In) -> Rex:
        if isinstance(node.candidates, Query):
            found = self._in_query("IN", node.value, node.candidates, node.position)
        else:
            found = self._in_list(node, node.candidates)
        return casts.operator("NOT", found, position=node.position) if node.negated else found

    def _in_list(self, node: syntax.In, candidates: tuple[syntax.Expression, ...]) -> Rex:
        if not isinstance(node.value, syntax.Row):
            values = [self.rex(node.value), *self.all(candidates)]
            return casts.operator("IN", *values, position=node.position)
        tests = [self._compared("=", node.value, each, each.position) for each in candidates]
        return casts.combined("OR", tests) or FALSE

    def _quantified(self, node: syntax.Quantified) -> Rex:
        quantifier = "ALL" if node.quantifier == "ALL" else "ANY"
        if isinstance(node.candidates, Query):
            if (node.operator, quantifier) == ("=", "ANY"):
                return self._in_query("IN", node.value, node.candidates, node.position)
            if (node.operator, quantifier) == ("<>", "ALL"):
                found = self._in_query("IN", node.value, node.candidates, node.position)
                return casts.operator("NOT", found, position=node.position)
            return self._in_query(f"{node.operator} {quantifier}", node.value, node.candidates, node.position)
        tests = [self._compared(node.operator, node.value, each, each.position) for each in node.candidates]
        return casts.combined("AND" if quantifier == "ALL" else "OR", tests) or FALSE

    def _in_query(self, kind: str, value: syntax.Expression, query: Query, position: int) -> Rex:
        items = value.items if isinstance(value, syntax.Row) else (value,)
        values = self.all(items)
        relation = self.context.query(query, self.scope)
        if len(relation.row_type) != len(values):
            count = len(relation.row_type)
            raise invalid(f"The query must have {len(values)} column(s), not {count}", position)
        columns: list[Rex] = [InputRef(each.data_type, i) for i, each in enumerate(relation.row_type.fields)]
        tests = [casts.operator("=", a, b, position=position) for a, b in zip(values, columns, strict=True)]
        pairs = [each.arguments for each in tests if isinstance(each, Call)]
        relation = projected(relation, [right for _, right in pairs])
        nullable = any(each.type.is_nullable for each in tests)
        return Subquery(BooleanType(is_nullable=nullable), kind, relation, tuple(left for left, _ in pairs))

    rules: ClassVar[dict[type[syntax.Expression], Callable[[Any, Any], Rex]]] = {
        syntax.Literal: lambda self, node: literals.literal(node),
        InlineExpression: lambda self, node: node.value,
        InlineCall: Calls.call,
        InlineCast: _inline_cast,
        InlineField: _inline_field,
        InlineInterval: _inline_interval,
        InlinePlus: _inline_plus,
        syntax.TemporalLiteral: lambda self, node: literals.temporal(node),
        syntax.IntervalLiteral: lambda self, node: literals.interval(node),
        syntax.IntervalExpression: _interval_expression,
        syntax.Identifier: _identifier,
        syntax.Parameter: _parameter,
        syntax.Symbol: _symbol,
        syntax.Unary: _unary,
        syntax.Binary: _binary,
        syntax.Is: _is,
        syntax.IsDistinct: _is_distinct,
        syntax.Between: _between,
        syntax.Like: _like,
        syntax.Case: _case,
        syntax.Cast: _cast,
        syntax.Call: Calls.call,
        syntax.Row: _row,
        syntax.CollectionConstructor: _collection,
        syntax.ItemAccess: _item,
        syntax.FieldAccess: _field,
        syntax.Over: _over,
        syntax.Exists: _exists,
        syntax.Subquery: _subquery,
        syntax.In: _in,
        syntax.Quantified: _quantified,
    }


def projected(relation: Relation, expressions: list[Rex]) -> Relation:
    """Return the relation with computed columns under the same names; itself if nothing changes."""
    if len(expressions) == len(relation.row_type) and all(
        isinstance(each, InputRef) and each.index == i for i, each in enumerate(expressions)
    ):
        return relation
    row = row_of(relation.row_type.field_names(), [each.type for each in expressions])
    return Project(row, relation, tuple(expressions))
