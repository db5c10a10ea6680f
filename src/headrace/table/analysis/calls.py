"""Function calls: scalar functions, aggregates, group windows and time attributes.

Arguments of SQL functions with keywords become constants: `Symbol`s and the clauses of JSON functions are strings of type
NULL.
"""

from __future__ import annotations

from dataclasses import replace

from headrace.table.analysis import casts
from headrace.table.analysis.context import Context
from headrace.table.analysis.errors import invalid, unsupported, wrong_arguments
from headrace.table.analysis.inline import InlineCall, InlineRows
from headrace.table.analysis.literals import NULL
from headrace.table.analysis.scopes import Scope
from headrace.table.analysis.time_attributes import attribute, is_rowtime, plain, with_attribute
from headrace.table.analysis.types import logical_type
from headrace.table.analysis.uses import AggregateUse, GroupingUse, GroupWindowUse, OrderUse, OverUse, contains
from headrace.table.functions.definition import AggregateFunction, ScalarFunction, TableFunction
from headrace.table.plan.rex import Call, Literal, Rex
from headrace.table.sql.syntax import expressions as syntax
from headrace.table.sql.syntax.types import DataType as TypeSyntax
from headrace.types.logical_types import (
    BigIntType,
    DataType,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    NullType,
    TimeAttribute,
    TimestampType,
    VarCharType,
)

GROUP_WINDOWS = {"TUMBLE": 1, "HOP": 2, "SESSION": 1}
"""Group windows by the number of intervals they take."""
_PARTS = ("START", "END", "ROWTIME", "PROCTIME")
_AUXILIARY = {f"{kind}_{part}": (kind, part.lower()) for kind in GROUP_WINDOWS for part in _PARTS}
_GROUPING = ("GROUPING", "GROUPING_ID", "GROUP_ID")
_JSON_ON_NULL = {"JSON_OBJECT": "NULL", "JSON_OBJECTAGG": "NULL", "JSON_ARRAY": "ABSENT", "JSON_ARRAYAGG": "ABSENT"}
"""What JSON functions do with nulls if the call has no ON NULL clause."""


def symbol(name: str) -> Literal:
    """Return a keyword among the arguments of a function."""
    return Literal(NullType(), name)


class Calls:
    """Rules for calls. `aggregates` names the clause that forbids aggregate functions, if one does."""

    def __init__(self, context: Context, scope: Scope, *, no_aggregates: str | None = None) -> None:
        """Resolve names in a scope."""
        self.context = context
        self.scope = scope
        self.no_aggregates = no_aggregates

    def rex(self, node: syntax.Expression) -> Rex:
        """Return the resolved form of an expression."""
        raise NotImplementedError

    def all(self, nodes: tuple[syntax.Expression, ...]) -> list[Rex]:
        """Return the resolved forms of expressions."""
        return [self.rex(each) for each in nodes]

    # -- calls --------------------------------------------------------------------------------------------------------

    def call(self, node: syntax.Call) -> Rex:
        """Return a call of any function."""
        if len(node.name) == 1 and not isinstance(node, InlineCall):
            upper = node.name[0].upper()
            special = self._special(upper, node)
            if special is not None:
                return special
        function = self.context.called(node)
        if isinstance(function, TableFunction):
            remedy = f"call it in the FROM clause: LATERAL TABLE({function.name}(...))"
            raise invalid(f"'{function.name}' is a table function", node.position, remedy)
        if isinstance(function, AggregateFunction):
            return self._aggregate(function, node)
        if node.quantifier or node.filter is not None or node.within_group or node.star:
            raise invalid(f"'{function.name}' is not an aggregate function", node.position)
        return self._scalar(function, node)

    def _special(self, name: str, node: syntax.Call) -> Rex | None:
        if name in _AUXILIARY:
            kind, part = _AUXILIARY[name]
            return self._group_window_part(kind, part, node)
        if name in GROUP_WINDOWS and self.context.catalog.function(node.name) is None:
            raise invalid(f"The group window {name} may only occur in GROUP BY", node.position)
        if name in _GROUPING:
            return GroupingUse(BigIntType(is_nullable=False), tuple(self.all(node.arguments)), name)
        if name == "PROCTIME" and not node.arguments:
            function = self.context.function(node.name, node.position)
            assert isinstance(function, ScalarFunction)
            now = LocalZonedTimestampType(3, is_nullable=False, time_attribute=TimeAttribute.PROCTIME)
            return Call(now, function, ())
        if name == "CURRENT_WATERMARK":
            return self._current_watermark(node)
        if name == "DESCRIPTOR":
            raise invalid("DESCRIPTOR may only be an argument of a window table function", node.position)
        if name == "FORMAT JSON":
            raise unsupported("FORMAT JSON is not supported", node.position, "use JSON(...)")
        if name == "JSON" and self.context.catalog.function(node.name) is None:
            raise invalid("JSON(...) may only be a value of JSON_OBJECT or JSON_ARRAY", node.position)
        if name in ("FLOOR", "CEIL") and len(node.arguments) > 1 and isinstance(node.arguments[1], syntax.Symbol):
            return casts.operator(f"{name} TO", *self.all(node.arguments), position=node.position)
        if name.startswith("JSON_") and self.context.catalog.function(node.name) is None:
            return self._json(name, node)
        return None

    def _json(self, name: str, node: syntax.Call) -> Rex | None:
        """Return a JSON function, with its clauses as arguments; None for those without clauses."""
        clauses = dict(node.clauses)
        if "PASSING" in clauses:
            raise unsupported("PASSING is not supported", node.position)
        on_null = str(clauses.get("ON NULL", _JSON_ON_NULL.get(name)))
        if name in ("JSON_OBJECTAGG", "JSON_ARRAYAGG"):
            found = self.context.function((f"{name}_{on_null}_ON_NULL",), node.position)
            assert isinstance(found, AggregateFunction)
            return self._aggregate(found, node)
        if name in ("JSON_OBJECT", "JSON_ARRAY"):
            members = [self._json_member(each) for each in node.arguments]
            return casts.operator(name, symbol(on_null), *members, position=node.position)
        arguments = self.all(node.arguments)
        if name == "JSON_EXISTS":
            arguments.append(symbol(str(clauses.get("ON ERROR", "FALSE"))))
        elif name in ("JSON_VALUE", "JSON_QUERY"):
            given = clauses.get("RETURNING")
            kind = logical_type(given) if isinstance(given, TypeSyntax) else given
            kind = kind if isinstance(kind, DataType) else VarCharType()
            arguments.append(Literal(kind, None))
            if name == "JSON_QUERY":
                arguments.append(symbol(str(clauses.get("WRAPPER", "WITHOUT"))))
            for clause in ("ON EMPTY", "ON ERROR"):
                arguments += self._json_behaviour(name, clauses.get(clause, "NULL"))
        else:
            return None
        return casts.operator(name, *arguments, position=node.position)

    def _json_member(self, node: syntax.Expression) -> Rex:
        """Return a key or value of JSON_OBJECT or JSON_ARRAY: the only place for JSON(...)."""
        if isinstance(node, syntax.Call) and len(node.name) == 1 and node.name[0].upper() == "JSON":
            function = self.context.called(node)
            if isinstance(function, ScalarFunction):
                return self._scalar(function, node)
        return self.rex(node)

    def _json_behaviour(self, name: str, given: object) -> list[Rex]:
        """Return `NULL`, `ERROR` or `DEFAULT x` of an ON EMPTY or ON ERROR clause; JSON_VALUE takes the default apart."""
        if isinstance(given, syntax.Expression):
            return [symbol("DEFAULT"), self.rex(given)]
        return [symbol(str(given)), NULL] if name == "JSON_VALUE" else [symbol(str(given))]

    def _scalar(self, function: ScalarFunction, node: syntax.Call) -> Rex:
        return casts.call(function, self.arguments(function, node), node.position)

    def arguments(self, function: object, node: syntax.Call) -> list[Rex]:
        """Return the arguments of a call in the order of the function's parameters."""
        if not any(isinstance(each, syntax.NamedArgument) for each in node.arguments):
            return self.all(node.arguments)
        parameters: tuple[str, ...] = getattr(function, "parameters", ())
        if not parameters:
            raise invalid(f"Function '{node.name[-1]}' has no named arguments", node.position)
        by_name: dict[str, Rex] = {}
        for place, each in enumerate(node.arguments):
            name = each.name if isinstance(each, syntax.NamedArgument) else parameters[place]
            if name not in parameters:
                raise invalid(f"Function '{node.name[-1]}' has no parameter '{name}'", each.position)
            by_name[name] = self.rex(each.value if isinstance(each, syntax.NamedArgument) else each)
        return [by_name.get(name, NULL) for name in parameters]

    # -- aggregates ---------------------------------------------------------------------------------------------------

    def _aggregate(self, function: AggregateFunction, node: syntax.Call) -> Rex:
        if self.no_aggregates is not None:
            raise invalid(f"Aggregate function '{function.name}' is not allowed in {self.no_aggregates}", node.position)
        if function.over_only:
            raise invalid(
                f"'{function.name}' needs an OVER clause", node.position, f"write {function.name}(...) OVER (...)"
            )
        use = self.aggregate_use(function, node)
        if any(contains(each, (AggregateUse, OverUse)) for each in use.arguments):
            raise invalid("Aggregate functions cannot be nested", node.position)
        return use

    def aggregate_use(self, function: AggregateFunction, node: syntax.Call) -> AggregateUse:
        """Return a call of an aggregate function, with casts, but not yet over columns."""
        if node.within_distinct:
            raise unsupported("WITHIN DISTINCT is not supported", node.position)
        if node.star and function.name != "COUNT":
            raise wrong_arguments(function.name, [], "'*' is only allowed in COUNT(*)", node.position)
        arguments = self.arguments(function, node)
        signature = casts.signature_of(function, arguments, function.name, node.position)
        filtered = None
        if node.filter is not None:
            filtered = casts.condition(self.rex(node.filter), "FILTER", node.filter.position)
        return AggregateUse(
            plain(signature.result),
            function,
            casts.cast_all(arguments, signature.arguments),
            node.quantifier == "DISTINCT",
            filtered,
            self.order(node.within_group or node.order_by),
            node.nulls == "IGNORE",
        )

    def order(self, items: tuple[syntax.OrderItem, ...]) -> tuple[OrderUse, ...]:
        """Return the expressions of an ORDER BY."""
        return tuple(self.order_item(each, self.rex(each.expression)) for each in items)

    @staticmethod
    def order_item(item: syntax.OrderItem, value: Rex) -> OrderUse:
        """Return an expression to sort by; nulls are the lowest values unless the statement places them."""
        nulls_first = not item.descending if item.nulls_first is None else item.nulls_first
        return OrderUse(value, item.descending, nulls_first)

    # -- time ---------------------------------------------------------------------------------------------------------

    def _current_watermark(self, node: syntax.Call) -> Rex:
        arguments = self.all(node.arguments)
        if len(arguments) != 1 or not is_rowtime(arguments[0].type):
            reason = "expected CURRENT_WATERMARK(rowtime), where rowtime is a column with a watermark"
            raise wrong_arguments("CURRENT_WATERMARK", [each.type for each in arguments], reason, node.position)
        function = self.context.function(node.name, node.position)
        assert isinstance(function, ScalarFunction)
        kind: DataType = plain(arguments[0].type).nullable()
        return Call(replace(kind, precision=3), function, tuple(arguments))  # type: ignore[call-arg]

    def group_window(self, node: syntax.Call) -> GroupWindowUse:
        """Return the group window of a GROUP BY, such as `TUMBLE(ts, INTERVAL '1' HOUR)`."""
        kind = node.name[0].upper()
        count = GROUP_WINDOWS[kind]
        rows = [each.rows for each in node.arguments if isinstance(each, InlineRows)]
        arguments = self.all(tuple(each for each in node.arguments if not isinstance(each, InlineRows)))
        if len(arguments) + len(rows) != count + 1:
            raise invalid(f"{kind} takes a time attribute and {count} interval(s)", node.position)
        time, sizes = arguments[0], arguments[1:]
        if attribute(time.type) is None and not (
            self.context.session.batch and isinstance(time.type, (TimestampType, LocalZonedTimestampType))
        ):
            remedy = "declare it with WATERMARK FOR in CREATE TABLE, or with PROCTIME()"
            raise invalid(f"Group window {kind} needs a time attribute", node.arguments[0].position, remedy)
        if rows:
            return self._row_window(kind, time, rows, count, node.position)
        values = []
        for given, size in zip(node.arguments[1:], sizes, strict=True):
            if not isinstance(size, Literal) or not isinstance(size.type, DayTimeIntervalType):
                raise invalid(f"The size of {kind} must be a constant interval of days to seconds", given.position)
            values.append(size.value)
        return GroupWindowUse(plain(time.type), kind, time, tuple(values))

    @staticmethod
    def _row_window(kind: str, time: Rex, rows: list[int], count: int, position: int) -> GroupWindowUse:
        if kind == "SESSION" or len(rows) != count:
            raise invalid(f"The sizes of {kind} must be intervals", position)
        if attribute(time.type) is not TimeAttribute.PROCTIME:
            raise invalid("A window with a number of rows needs a column of processing time", position)
        return GroupWindowUse(plain(time.type), kind, time, tuple(rows), by_rows=True)

    def _group_window_part(self, kind: str, part: str, node: syntax.Call) -> Rex:
        window = self.group_window(replace(node, name=(kind,)))
        time = window.time.type
        if window.by_rows:
            raise invalid("A window with a number of rows has no start, end and time", node.position)
        if part in ("start", "end"):
            result: DataType = TimestampType(3, is_nullable=False)
        elif part == "rowtime":
            if not is_rowtime(time) and not self.context.session.batch:
                raise invalid(f"{kind}_ROWTIME needs a window over event time", node.position)
            result = with_attribute(time.not_null(), attribute(time))
        else:
            result = LocalZonedTimestampType(3, is_nullable=False, time_attribute=TimeAttribute.PROCTIME)
        return GroupWindowUse(result, kind, window.time, window.sizes, part)
