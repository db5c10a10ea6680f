"""Subqueries in conditions and values, and lateral derived tables, as joins.

A condition of WHERE that is an IN or EXISTS becomes a SEMI or ANTI join. Anywhere else, a subquery becomes a LEFT join that
adds a column with its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headrace.table.analysis import casts
from headrace.table.analysis.context import Context
from headrace.table.analysis.decorrelation import (
    Pulled,
    at_most_one,
    before_outer_join,
    equalities,
    projection,
    pull,
    refs,
)
from headrace.table.analysis.errors import invalid
from headrace.table.analysis.expressions import Expressions
from headrace.table.analysis.joins import Source, join_row
from headrace.table.analysis.literals import FALSE, TRUE, integer
from headrace.table.analysis.scopes import Scope, row_of, side_by_side
from headrace.table.analysis.trees import one_level_up, reads_outer, with_outer
from headrace.table.analysis.uses import contains, transform
from headrace.table.functions.definition import Argument
from headrace.table.functions.registry import aggregate_function
from headrace.table.plan.relations import Aggregate, Filter, Join, Relation
from headrace.table.plan.rex import (
    AggregateCall,
    Call,
    InputRef,
    Literal,
    OuterRef,
    Rex,
    Subquery,
    input_columns,
    shifted,
)
from headrace.table.sql.syntax import queries
from headrace.types.logical_types import BooleanType, DataType


def filtered(relation: Relation, condition: Rex, position: int = -1) -> Relation:
    """Return the rows for which a condition is true; the condition may contain subqueries."""
    if not contains(condition, Subquery):
        return Filter(relation.row_type, relation, condition)
    width = len(relation.row_type)
    found = relation
    plain: list[Rex] = []
    for each in casts.conjuncts(condition):
        as_join = _test(each)
        if as_join is not None:
            found = _semi_join(found, *as_join, position)
        else:
            plain.append(each)
    simple = casts.conjunction([each for each in plain if not contains(each, Subquery)])
    if simple is not None:
        found = Filter(found.row_type, found, simple)
    complicated = [each for each in plain if contains(each, Subquery)]
    if complicated:
        found, values = with_values(found, complicated, position)
        rest = casts.conjunction(values)
        assert rest is not None
        found = Filter(found.row_type, found, rest)
    return projection(found, refs(found)[:width])


def _test(rex: Rex) -> tuple[Subquery, bool] | None:
    """Return the subquery of a condition that is one IN or EXISTS, and whether it is negated."""
    negated = False
    while isinstance(rex, Call) and rex.function.name == "NOT":
        rex, negated = rex.arguments[0], not negated
    if (
        isinstance(rex, Subquery)
        and rex.kind in ("EXISTS", "IN")
        and not any(contains(each, Subquery) for each in rex.arguments)
    ):
        return rex, negated
    return None


@dataclass(frozen=True)
class _Right:
    """The right side of a join: relation, and columns and conditions over the columns of both sides."""

    relation: Relation
    outputs: tuple[Rex, ...]
    conditions: tuple[Rex, ...]


def _placed(pulled: Pulled, width: int, left: Relation) -> _Right:
    """Return what was pulled out of a query as parts of a join with the enclosing query, whose width is given."""
    kinds = left.row_type.fields

    def change(ref: OuterRef) -> Rex:
        if ref.depth == 1:
            return InputRef(kinds[ref.index].data_type, ref.index)
        return OuterRef(ref.type, ref.depth - 1, ref.index)

    def place(rex: Rex) -> Rex:
        return with_outer(shifted(rex, width), change)

    return _Right(
        one_level_up(pulled.relation), tuple(map(place, pulled.outputs)), tuple(map(place, pulled.conditions))
    )


def _semi_join(left: Relation, query: Subquery, negated: bool, position: int) -> Relation:
    pulled = pull(query.relation, position)
    if query.kind == "EXISTS" and pulled.single:
        constant = FALSE if negated else TRUE
        return Filter(left.row_type, left, constant)
    width = len(left.row_type)
    right = _placed(pulled, width, left)
    tests = list(right.conditions)
    for value, column in zip(query.arguments, right.outputs, strict=False):
        test = casts.operator("=", value, column)
        if negated:
            # x NOT IN (...) is not true if x or one of the values is null.
            for each in (value, column):
                if each.type.is_nullable:
                    test = casts.operator("OR", test, casts.operator("IS NULL", each))
        tests.append(test)
    condition = casts.conjunction(tests) or TRUE
    return Join(left.row_type, left, right.relation, "ANTI" if negated else "SEMI", condition)


# -- subqueries as values ---------------------------------------------------------------------------------------------


def with_values(relation: Relation, values: Sequence[Rex], position: int = -1) -> tuple[Relation, list[Rex]]:
    """Return expressions without subqueries, and the relation with the columns that these need at its end."""
    if not any(contains(each, Subquery) for each in values):
        return relation, list(values)
    builder = _Values(relation, position)
    return_values = [builder.without_subqueries(each) for each in values]
    return builder.relation, return_values


class _Values:
    def __init__(self, relation: Relation, position: int) -> None:
        self.relation = relation
        self._position = position

    def without_subqueries(self, rex: Rex) -> Rex:
        return transform(rex, lambda each: self._value(each) if isinstance(each, Subquery) else None)

    def _value(self, query: Subquery) -> Rex:
        arguments = [self.without_subqueries(each) for each in query.arguments]
        if query.kind == "SCALAR":
            return self._scalar(query)
        if query.kind == "EXISTS":
            return self._exists(query)
        if query.kind == "IN":
            return self._in(query, arguments)
        return self._quantified(query, arguments[0])

    def _joined(self, pulled: Pulled) -> tuple[Rex, ...]:
        """LEFT JOIN what was pulled, and return its outputs."""
        left = self.relation
        right = _placed(before_outer_join(pulled), len(left.row_type), left)
        row = join_row(left.row_type, right.relation.row_type, "LEFT")
        condition = casts.conjunction(right.conditions) or TRUE
        self.relation = Join(row, left, right.relation, "LEFT", condition)
        columns = refs(self.relation)
        return tuple(
            transform(each, lambda ref: columns[ref.index] if isinstance(ref, InputRef) else None)
            for each in right.outputs
        )

    def _scalar(self, query: Subquery) -> Rex:
        pulled = pull(query.relation, self._position)
        if not pulled.single and not at_most_one(query.relation):
            pulled = _grouped(pulled, "SINGLE_VALUE", self._position)
        return self._joined(pulled)[0]

    def _exists(self, query: Subquery) -> Rex:
        pulled = pull(query.relation, self._position)
        if pulled.single:
            return TRUE
        if not pulled.conditions:
            count = self._joined(_aggregated(pulled.relation, (("COUNT", ()),)))[0]
            return casts.operator(">", count, integer(0))
        marker = self._joined(_marked(pulled, (), self._position))[0]
        return casts.operator("IS NOT NULL", marker)

    def _in(self, query: Subquery, arguments: list[Rex]) -> Rex:
        pulled = pull(query.relation, self._position)
        if pulled.conditions:
            raise invalid("A correlated IN must be a condition of WHERE of its own", self._position, "use EXISTS")
        column = projection(pulled.relation, pulled.outputs)
        if len(arguments) != 1:
            raise invalid("IN with several columns must be a condition of WHERE of its own", self._position)
        value = arguments[0]
        key = refs(column)[0]
        outer = OuterRef(value.type, 1, -1)
        test = casts.operator("=", key, outer)
        marked = _marked(Pulled(column, (), (test,)), (), self._position)
        count = known = None
        if value.type.is_nullable or key.type.is_nullable:
            count, known = self._joined(_aggregated(column, (("COUNT", ()), ("COUNT", (0,)))))
        # The value itself is not a column of the enclosing query, but an expression over it.
        left = self.relation
        right = _placed(Pulled(marked.relation, marked.outputs), len(left.row_type), left)
        [condition] = marked.conditions
        condition = with_outer(shifted(condition, len(left.row_type)), lambda ref: value)
        row = join_row(left.row_type, right.relation.row_type, "LEFT")
        self.relation = Join(row, left, right.relation, "LEFT", condition)
        place = right.outputs[0]
        assert isinstance(place, InputRef)
        found = casts.operator("IS NOT NULL", refs(self.relation)[place.index])
        if count is None or known is None:
            return found
        unknown = casts.operator("OR", casts.operator("IS NULL", value), casts.operator("<", known, count))
        nothing = casts.operator("=", count, integer(0))
        null = Literal(BooleanType(), None)
        return casts.operator("CASE", nothing, FALSE, found, TRUE, unknown, null, FALSE)

    def _quantified(self, query: Subquery, value: Rex) -> Rex:
        operator, _, quantifier = query.kind.partition(" ")
        pulled = pull(query.relation, self._position)
        if pulled.conditions:
            raise invalid(f"A correlated {query.kind} (query) is not supported", self._position)
        column = projection(pulled.relation, pulled.outputs)
        calls = (("COUNT", ()), ("COUNT", (0,)), ("MIN", (0,)), ("MAX", (0,)))
        count, known, low, high = self._joined(_aggregated(column, calls))
        every = quantifier == "ALL"
        if operator in ("=", "<>"):
            both = [casts.operator("=", value, low), casts.operator("=", value, high)]
            same = casts.conjunction(both)
            assert same is not None
            test = same if operator == "=" else casts.operator("NOT", same)
        else:
            test = casts.operator(operator, value, high if (operator in (">", ">=")) == every else low)
        unknown = casts.operator("OR", casts.operator("IS NULL", value), casts.operator("<", known, count))
        nothing = casts.operator("=", count, integer(0))
        null = Literal(BooleanType(), None)
        if every:
            failed = casts.operator("NOT", test)
            return casts.operator("CASE", nothing, TRUE, failed, FALSE, unknown, null, TRUE)
        return casts.operator("CASE", nothing, FALSE, test, TRUE, unknown, null, FALSE)


def _call(name: str, arguments: tuple[int, ...], kinds: Sequence[DataType], label: str, grouped: bool) -> AggregateCall:
    function = aggregate_function(name)
    result = function.infer([Argument(each) for each in kinds]).result
    if not grouped and name != "COUNT":
        result = result.nullable()
    return AggregateCall(function, arguments, result, label)


def _aggregated(relation: Relation, wanted: tuple[tuple[str, tuple[int, ...]], ...]) -> Pulled:
    """Return one row with aggregates of a relation."""
    kinds = relation.row_type.field_types()
    calls = tuple(
        _call(name, places, [kinds[i] for i in places], f"EXPR${index}", False)
        for index, (name, places) in enumerate(wanted)
    )
    row = row_of([call.name for call in calls], [call.type for call in calls])
    result = Aggregate(row, relation, (), calls)
    return Pulled(result, refs(result), single=True)


def _grouped(pulled: Pulled, name: str, position: int) -> Pulled:
    """Return the rows with one row for each value of the inner sides of the conditions."""
    inner, outer = equalities(pulled.conditions, position)
    output = pulled.outputs[0]
    # An output that reads outer columns is computed later, from the inner columns that it reads.
    used = sorted(input_columns(output))
    values = [refs(pulled.relation)[index] for index in used] if reads_outer(output) else [output]
    source = projection(pulled.relation, [*inner, *values])
    kinds = source.row_type.field_types()
    width = len(inner)
    calls = tuple(
        _call(name, (place,), [kinds[place]], f"EXPR${place - width}", bool(inner))
        for place in range(width, width + len(values))
    )
    names = [*source.row_type.field_names()[:width], *(call.name for call in calls)]
    row = row_of(names, [*kinds[:width], *(call.type for call in calls)])
    result = Aggregate(row, source, tuple(range(width)), calls)
    columns = refs(result)
    tests = tuple(casts.operator("=", key, other) for key, other in zip(columns, outer, strict=False))
    if not reads_outer(output):
        return Pulled(result, columns[-1:], tests)
    places = {index: columns[width + place] for place, index in enumerate(used)}
    rewritten = transform(output, lambda each: places[each.index] if isinstance(each, InputRef) else None)
    return Pulled(result, (rewritten,), tests)


def _marked(pulled: Pulled, keys: tuple[Rex, ...], position: int) -> Pulled:
    """Return the distinct inner sides of the conditions, with a column that is never null."""
    inner, outer = equalities(pulled.conditions, position)
    source = projection(pulled.relation, [*inner, *keys])
    distinct = Aggregate(source.row_type, source, tuple(range(len(source.row_type))), ())
    marked = projection(distinct, [*refs(distinct), TRUE])
    columns = refs(marked)
    tests = tuple(casts.operator("=", key, other) for key, other in zip(columns, outer, strict=False))
    return Pulled(marked, columns[-1:], tests)


# -- LATERAL ----------------------------------------------------------------------------------------------------------


def lateral_join(context: Context, node: queries.Join, left: Source, right: Source, outer: Scope | None) -> Source:
    """Return a join with a derived table that may read columns of the left side."""
    if node.kind not in ("COMMA", "CROSS", "INNER", "LEFT"):
        raise invalid(f"A lateral query cannot be the right side of a {node.kind} JOIN", node.position)
    kind = "LEFT" if node.kind == "LEFT" else "INNER"
    pulled = pull(right.relation, node.position)
    if kind == "LEFT":
        pulled = before_outer_join(pulled)
    width = len(left.relation.row_type)
    placed = _placed(pulled, width, left.relation)
    row = join_row(left.relation.row_type, right.relation.row_type, kind)
    extra: list[Rex] = []
    if node.condition is not None:
        inner_row = join_row(left.relation.row_type, right.relation.row_type, "INNER")
        inner = side_by_side(left.scope, right.scope, inner_row, outer)
        found = Expressions(context, inner, no_aggregates="ON").boolean(node.condition, "ON")
        columns = [*refs(left.relation), *placed.outputs]
        over = transform(found, lambda each: columns[each.index] if isinstance(each, InputRef) else None)
        extra = [] if over == TRUE else [over]
    if pulled.single and pulled.conditions and extra:
        raise invalid("A lateral aggregate query must be joined ON TRUE", node.position)
    # An aggregate without GROUP BY has a row even if nothing matches.
    join_kind = "LEFT" if pulled.single and pulled.conditions else kind
    condition = casts.conjunction([*placed.conditions, *extra]) or TRUE
    joined_row = join_row(left.relation.row_type, placed.relation.row_type, join_kind)
    joined = Join(joined_row, left.relation, placed.relation, join_kind, condition)
    columns = list(refs(joined))
    outputs = [
        transform(each, lambda ref: columns[ref.index] if isinstance(ref, InputRef) else None)
        for each in (*refs(left.relation), *placed.outputs)
    ]
    projected = projection(joined, outputs)
    names = row.field_names()
    typed = row_of(names, [each.type for each in outputs])
    if projected is joined:
        result: Relation = Join(typed, left.relation, placed.relation, join_kind, condition)
    else:
        from headrace.table.plan.relations import Project

        result = Project(typed, joined, tuple(outputs))
    return Source(result, side_by_side(left.scope, right.scope, typed, outer))
