"""MATCH_RECOGNIZE: definitions and measures over pattern variables, and what Flink allows of the clause."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

from headrace.table.analysis.context import Context
from headrace.table.analysis.errors import invalid, unknown, unsupported
from headrace.table.analysis.expressions import Expressions
from headrace.table.analysis.inline import InlineCall
from headrace.table.analysis.joins import Source
from headrace.table.analysis.pattern_refs import ALL_ROWS, PatternAggregate, PatternRef
from headrace.table.analysis.scopes import row_of
from headrace.table.analysis.time_attributes import attribute, is_rowtime, plain
from headrace.table.functions.definition import AggregateFunction, ScalarFunction
from headrace.table.plan.relations import Match, Relation
from headrace.table.plan.rex import Call, InputRef, Literal, Rex, SortKey, rewrite, walk
from headrace.table.sql.syntax import expressions as syntax
from headrace.table.sql.syntax import queries
from headrace.types.logical_types import DayTimeIntervalType, LocalZonedTimestampType, TimeAttribute

_Pattern = tuple[Any, ...]
_NAVIGATION = ("FIRST", "LAST")
_REFUSED = {"PREV": "LAST(A.column, 1)", "NEXT": None, "CLASSIFIER": None, "MATCH_NUMBER": None}
_NOT_SUPPORTED = {
    "ALTERNATIVES": "Alternatives ('|') are not supported in PATTERN",
    "PERMUTE": "PERMUTE is not supported in PATTERN",
    "EXCLUDE": "Exclusions ('{- ... -}') are not supported in PATTERN",
}


class _PatternExpressions(Expressions):
    """Expressions in which a qualifier may be a pattern variable."""

    def __init__(self, context: Context, source: Source, variables: set[str], clause: str) -> None:
        super().__init__(context, source.scope, no_aggregates=None)
        self.variables = variables
        self.clause = clause
        self._first, self._offset = False, 0
        self._one_row = False
        self._row_variables: set[str] = set()

    def _identifier(self, node: syntax.Identifier) -> Rex:
        variable, names = ALL_ROWS, node.names
        if len(names) > 1 and names[0] in self.variables:
            variable, names = names[0], names[1:]
        column = self.scope.find(names, node.position)
        if column is None:
            raise unknown("column", ".".join(names), self.scope.names(), node.position)
        if self._one_row:
            self._row_variables.add(variable)
            return column

        def change(each: Rex) -> Rex | None:
            if not isinstance(each, InputRef):
                return None
            return PatternRef(plain(each.type), variable, each.index, self._first, self._offset)

        return rewrite(column, change)

    def call(self, node: syntax.Call) -> Rex:
        """Return a call; FIRST, LAST and aggregates look at the rows of a variable."""
        name = node.name[-1].upper()
        if name in ("RUNNING", "FINAL") and len(node.arguments) == 1:
            return self.rex(node.arguments[0])
        if name in _NAVIGATION and node.arguments:
            return self._navigation(name, node)
        if name in _REFUSED:
            instead = _REFUSED[name]
            raise unsupported(f"{name} is not supported", node.position, f"write {instead}" if instead else None)
        if name in ("MATCH_ROWTIME", "MATCH_PROCTIME"):
            return self._match_time(name, node)
        function = None if name in ("PROCTIME", "CURRENT_WATERMARK") else self.context.called(node)
        if isinstance(function, AggregateFunction):
            return self._pattern_aggregate(function, node)
        return super().call(node)

    def _navigation(self, name: str, node: syntax.Call) -> Rex:
        if len(node.arguments) > 2:
            raise invalid(f"{name} takes a column and an offset", node.position)
        offset = 0
        if len(node.arguments) > 1:
            given = self.rex(node.arguments[1])
            if not isinstance(given, Literal) or not isinstance(given.value, int) or given.value < 0:
                raise invalid(f"The offset of {name} must be a constant that is not negative", node.position)
            offset = given.value
        outer = self._first, self._offset
        self._first, self._offset = name == "FIRST", offset
        try:
            found = self.rex(node.arguments[0])
        finally:
            self._first, self._offset = outer
        if not any(isinstance(each, PatternRef) for each in walk(found)):
            raise invalid(f"{name} needs a column of a pattern variable", node.position)
        return _nullable(found) if offset else found

    def _pattern_aggregate(self, function: AggregateFunction, node: syntax.Call) -> Rex:
        if self._one_row:
            raise invalid("Aggregate functions cannot be nested", node.position)
        if node.quantifier == "DISTINCT":
            raise unsupported("DISTINCT aggregates are not supported in MATCH_RECOGNIZE", node.position)
        self._one_row, self._row_variables = True, set()
        try:
            use = self.aggregate_use(function, _without_variable_star(node, self.variables, self._row_variables))
        finally:
            self._one_row = False
        used = self._row_variables
        if len(used) > 1:
            names = " and ".join(sorted(used))
            raise invalid(f"An aggregate must use the rows of one pattern variable, not of {names}", node.position)
        kind = use.type if function.name.startswith("COUNT") else use.type.nullable()
        return PatternAggregate(kind, next(iter(used), ALL_ROWS), function, use.arguments)

    def _match_time(self, name: str, node: syntax.Call) -> Rex:
        if self.clause != "MEASURES":
            raise invalid(f"{name} may only be used in MEASURES", node.position)
        if name == "MATCH_PROCTIME":
            function = self.context.function(("PROCTIME",), node.position)
            assert isinstance(function, ScalarFunction)
            kind = LocalZonedTimestampType(3, is_nullable=False, time_attribute=TimeAttribute.PROCTIME)
            return Call(kind, function, ())
        times = [each for each in enumerate(self.scope.row_type.fields) if is_rowtime(each[1].data_type)]
        if node.arguments:
            column = self.scope.column(_identifier_names(node.arguments[0]), node.position)
            times = [each for each in times if isinstance(column, InputRef) and each[0] == column.index]
        if not times:
            raise invalid("MATCH_ROWTIME needs an event time column", node.position)
        index, field = times[0]
        return PatternRef(field.data_type.not_null(), ALL_ROWS, index)

    rules: ClassVar[dict[type[syntax.Expression], Callable[[Any, Any], Rex]]] = {
        **Expressions.rules,
        syntax.Identifier: _identifier,
        syntax.Call: call,
        InlineCall: call,
    }


def _identifier_names(node: syntax.Expression) -> tuple[str, ...]:
    if not isinstance(node, syntax.Identifier):
        raise invalid("Expected a column", node.position)
    return node.names


def _without_variable_star(node: syntax.Call, variables: set[str], used: set[str]) -> syntax.Call:
    """`COUNT(A.*)` counts the rows of A."""
    if len(node.arguments) == 1 and isinstance(node.arguments[0], syntax.Star):
        qualifier = node.arguments[0].qualifier
        if len(qualifier) != 1 or qualifier[0] not in variables:
            raise unknown("pattern variable", ".".join(qualifier), variables, node.position)
        used.add(qualifier[0])
        return replace(node, arguments=(), star=True)
    return node


def _nullable(rex: Rex) -> Rex:
    return rewrite(rex, lambda each: replace(each, type=each.type.nullable()) if isinstance(each, PatternRef) else None)


# -- the clause -------------------------------------------------------------------------------------------------------


def match(context: Context, node: queries.MatchRecognize, source: Source) -> Relation:
    """Return the matches of a pattern: the columns of PARTITION BY, then the measures."""
    _check_clauses(node)
    variables = list(dict.fromkeys(_variables(node.pattern)))
    _check_pattern(node, node.pattern)
    names = set(variables) | {name for name, _ in node.subsets}
    partition = _partition(context, node, source)
    order = _order(context, node, source)
    definitions = []
    for name, condition in node.definitions:
        expressions = _PatternExpressions(context, source, names | {name}, "DEFINE")
        defined = expressions.boolean(condition, "DEFINE")
        if name in variables:  # as in Flink, others are checked and have no effect
            definitions.append((name, defined))
    measures = []
    for item in node.measures:
        assert item.alias is not None
        value = _PatternExpressions(context, source, names, "MEASURES").rex(item.expression)
        measures.append((item.alias, value))
    row = source.relation.row_type
    kept = [row.fields[index] for index in partition]
    result = row_of(
        [each.name for each in kept] + [name for name, _ in measures],
        [each.data_type for each in kept] + [value.type for _, value in measures],
    )
    after = node.after_match or ("NEXT ROW",)
    if len(after) > 1 and after[1] not in names:
        raise unknown("pattern variable", after[1], variables, node.position)
    return Match(
        result,
        source.relation,
        partition,
        order,
        node.pattern,
        tuple(definitions),
        tuple(measures),
        after,
        _within(context, node, source),
        False,
        node.subsets,
    )


def _check_clauses(node: queries.MatchRecognize) -> None:
    if node.rows_per_match == "ALL ROWS":
        raise unsupported("ALL ROWS PER MATCH is not supported", node.position, "write ONE ROW PER MATCH")
    if node.anchored_start or node.anchored_end:
        raise unsupported("Anchors ('^' and '$') are not supported in PATTERN", node.position)
    if not node.order_by:
        raise invalid("MATCH_RECOGNIZE needs an ORDER BY with a time attribute", node.position)


def _variables(pattern: _Pattern) -> Iterator[str]:
    kind, *rest = pattern
    if kind == "VARIABLE":
        yield rest[0]
        return
    for part in rest:
        if isinstance(part, tuple):
            inner = (part,) if part and isinstance(part[0], str) else part
            for each in inner:
                yield from _variables(each)


def _check_pattern(node: queries.MatchRecognize, pattern: _Pattern) -> None:
    if _least(pattern) == 0:
        raise invalid("The pattern may match no rows at all; this is not supported", node.position)
    names = list(_variables(pattern))
    if len(set(names)) != len(names):
        raise unsupported("A pattern variable may occur only once in PATTERN", node.position)
    parts = pattern[1] if pattern[0] == "SEQUENCE" else (pattern,)
    last = parts[-1]
    if last[0] == "TIMES" and last[4] and last[2] != last[3]:
        remedy = "end the pattern with a variable, or make the quantifier reluctant with '?'"
        raise unsupported("A pattern cannot end with a greedy quantifier", node.position, remedy)


def _least(pattern: _Pattern) -> int:
    """Return the least number of rows that match."""
    kind = pattern[0]
    if kind in _NOT_SUPPORTED:
        raise unsupported(_NOT_SUPPORTED[kind])
    if kind == "SEQUENCE":
        return sum(_least(each) for each in pattern[1])
    if kind == "TIMES":
        return _least(pattern[1]) * int(pattern[2])
    return 1


def _partition(context: Context, node: queries.MatchRecognize, source: Source) -> tuple[int, ...]:
    columns = Expressions(context, source.scope, no_aggregates="PARTITION BY").all(node.partition_by)
    for given, column in zip(node.partition_by, columns, strict=True):
        if not isinstance(column, InputRef):
            raise invalid("PARTITION BY of MATCH_RECOGNIZE must name columns", given.position)
    return tuple(each.index for each in columns if isinstance(each, InputRef))


def _order(context: Context, node: queries.MatchRecognize, source: Source) -> tuple[SortKey, ...]:
    expressions = Expressions(context, source.scope, no_aggregates="ORDER BY")
    keys = []
    for item, use in zip(node.order_by, expressions.order(node.order_by), strict=True):
        if not isinstance(use.value, InputRef):
            raise invalid("ORDER BY of MATCH_RECOGNIZE must name columns", item.position)
        keys.append(SortKey(use.value.index, use.descending, use.nulls_first))
    first = source.relation.row_type.fields[keys[0].index].data_type
    if attribute(first) is None and not context.session.batch:
        remedy = "declare it with WATERMARK FOR in CREATE TABLE, or with PROCTIME()"
        raise invalid("The first column of ORDER BY must be a time attribute", node.order_by[0].position, remedy)
    if keys[0].descending:
        raise invalid("The first column of ORDER BY must be in ascending order", node.order_by[0].position)
    return tuple(keys)


def _within(context: Context, node: queries.MatchRecognize, source: Source) -> int | None:
    if node.within is None:
        return None
    value = Expressions(context, source.scope, no_aggregates="WITHIN").rex(node.within)
    if not isinstance(value, Literal) or not isinstance(value.type, DayTimeIntervalType):
        raise invalid("WITHIN must be a constant interval of days to seconds", node.within.position)
    return int(value.value)
