"""The relations of a FROM clause: tables, views, queries of WITH clauses, derived tables, table functions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headrace.table.analysis import casts
from headrace.table.analysis.catalog_view import ResolvedTable
from headrace.table.analysis.context import Context
from headrace.table.analysis.errors import invalid, unknown, unsupported
from headrace.table.analysis.expressions import Expressions
from headrace.table.analysis.inline import InlineRelation
from headrace.table.analysis.joins import Source, joined, temporal_join
from headrace.table.analysis.match_recognize import match
from headrace.table.analysis.scopes import Scope, row_of, scope_of, side_by_side
from headrace.table.analysis.subqueries import lateral_join
from headrace.table.analysis.windows import WINDOW_FUNCTIONS, window_table
from headrace.table.functions.definition import TableFunction
from headrace.table.functions.registry import table_function
from headrace.table.plan.relations import (
    Correlate,
    Project,
    Relation,
    Scan,
    TableFunctionCall,
    Values,
    WatermarkAssigner,
)
from headrace.table.plan.rex import InputRef, Rex
from headrace.table.sql.syntax import expressions as syntax
from headrace.table.sql.syntax import queries
from headrace.types.logical_types import IntType, RowField, RowType

ONE_ROW = Values(RowType((RowField("ZERO", IntType(is_nullable=False)),), is_nullable=False), ((0,),))
"""The relation of a query without FROM."""
NO_SCOPE = Scope(ONE_ROW.row_type, ())


def scan(table: ResolvedTable, options: tuple[tuple[str, str], ...] = ()) -> Relation:
    """Return a table as a relation: its columns as the source has them, computed columns, then the watermark."""
    schema = table.schema
    source = schema.source_columns
    relation: Relation = Scan(schema.source_type, table.name, table, options)
    if source != schema.columns:
        places = {column.name: index for index, column in enumerate(source)}
        expressions: list[Rex] = []
        for column in schema.columns:
            ref = InputRef(column.type, places.get(column.name, -1))
            expressions.append(column.expression if column.expression is not None else ref)
        names = [column.name for column in schema.columns]
        relation = Project(row_of(names, [each.type for each in expressions]), relation, tuple(expressions))
    if schema.watermark is not None:
        row = schema.row_type
        fields = tuple(
            RowField(each.name, given.data_type if index != schema.watermark.column else each.data_type)
            for index, (each, given) in enumerate(zip(row.fields, relation.row_type.fields, strict=True))
        )
        watermark = schema.watermark
        relation = WatermarkAssigner(replace(row, fields=fields), relation, watermark.column, watermark.expression)
    return relation


@dataclass(frozen=True)
class FromClause:
    """Analyses relations of a query. `outer` is the scope of the enclosing query."""

    context: Context
    outer: Scope | None = None
    hints: tuple[queries.Hint, ...] = ()

    def source(self, node: queries.Relation, lateral: Scope | None = None) -> Source:
        """Return a relation and its scope. `lateral` has the columns of relations to the left."""
        match node:
            case queries.TableName():
                return self._table(node)
            case InlineRelation():
                return Source(node.relation, scope_of(node.relation, (), self.outer))
            case queries.Aliased():
                return self._aliased(node, lateral)
            case queries.Derived():
                relation = self.context.query(node.query, lateral if node.lateral and lateral else self.outer)
                return Source(relation, scope_of(relation, (), self.outer))
            case queries.Join():
                return self._join(node, lateral)
            case queries.TableFunction() if self._is_window(node.call):
                assert isinstance(node.call, syntax.Call)
                relation = window_table(self.context, node.call, self.outer, self.table_argument)
                return Source(relation, scope_of(relation, (), self.outer))
            case queries.TableFunction() | queries.Unnest():
                return self._alone(node)
            case queries.MatchRecognize():
                inner = self.source(node.relation, lateral)
                relation = match(self.context, node, inner)
                return Source(relation, scope_of(relation, (), self.outer))
            case queries.AsOf():
                remedy = "use it on the right side of a join, with a time attribute of the left side"
                raise unsupported("FOR SYSTEM_TIME AS OF is only supported in joins", node.position, remedy)
        raise unsupported(f"{type(node).__name__.upper()} is not supported in FROM", node.position)

    # -- tables -------------------------------------------------------------------------------------------------------

    def _table(self, node: queries.TableName) -> Source:
        relation, path = self.named(node.names, node.hints, node.position)
        return Source(relation, scope_of(relation, path, self.outer))

    def named(
        self, name: tuple[str, ...], hints: tuple[queries.Hint, ...] = (), position: int = -1
    ) -> tuple[Relation, tuple[str, ...]]:
        """Return the relation behind the name of a table, view or query of a WITH clause, and its full name."""
        if len(name) == 1 and name[0] in self.context.common_tables:
            return self.context.common_tables[name[0]], name
        table = self.context.catalog.resolve(name)
        if table is None:
            known = [*self.context.common_tables, *self.context.catalog.table_names()]
            raise unknown("table", ".".join(name), known, position)
        options = tuple(pair for hint in hints if hint.name.upper() == "OPTIONS" for pair in hint.options)
        if table.view is None:
            return scan(table, options), table.name
        if options:
            raise invalid(f"OPTIONS cannot be set for the view '{'.'.join(name)}'", position)
        return self._view(table), table.name

    def _view(self, table: ResolvedTable) -> Relation:
        if isinstance(table.view, Relation):
            relation = table.view
        else:
            assert table.view is not None
            relation = replace(self.context, common_tables={}).query(table.view)
        names = [column.name for column in table.schema.columns]
        return renamed(relation, names) if names else relation

    def table_argument(self, node: syntax.Expression) -> Source:
        """Return the table that is an argument of a window table function."""
        given = node.table if isinstance(node, syntax.TableArgument) else None
        if isinstance(node, syntax.Subquery):
            given = node.query
        if isinstance(node, syntax.Identifier):
            given = node.names
        if given is None:
            raise invalid("Expected a table: TABLE name, or a query in parentheses", node.position)
        if isinstance(given, queries.Query):
            relation = self.context.query(given, self.outer)
            return Source(relation, scope_of(relation, (), self.outer))
        relation, path = self.named(given, (), node.position)
        return Source(relation, scope_of(relation, path, self.outer))

    def _aliased(self, node: queries.Aliased, lateral: Scope | None) -> Source:
        source = self.source(node.relation, lateral)
        return self._with_alias(node, source)

    def _with_alias(self, node: queries.Aliased, source: Source) -> Source:
        relation = renamed(source.relation, self._alias_names(node, source.relation.row_type))
        return Source(relation, scope_of(relation, (node.alias,), self.outer))

    @staticmethod
    def _alias_names(node: queries.Aliased, row: RowType) -> list[str]:
        if node.columns:
            if len(node.columns) != len(row):
                message = f"'{node.alias}' has {len(node.columns)} column names, but {len(row)} columns"
                raise invalid(message, node.position)
            return list(node.columns)
        inner = node.relation
        named_after_alias = isinstance(inner, queries.Unnest) or (
            isinstance(inner, queries.Derived) and isinstance(inner.query, queries.Values)
        )
        return [node.alias] if named_after_alias and len(row) == 1 else row.field_names()

    # -- joins --------------------------------------------------------------------------------------------------------

    def _join(self, node: queries.Join, lateral: Scope | None) -> Source:
        left = self.source(node.left, lateral)
        alias = node.right if isinstance(node.right, queries.Aliased) else None
        right = node.right if alias is None else alias.relation
        visible = replace(left.scope, parent=self.outer, _cache={})
        if isinstance(right, queries.AsOf):
            return self._temporal(node, left, right, alias)
        if isinstance(right, queries.Unnest) or (
            isinstance(right, queries.TableFunction) and not self._is_window(right.call)
        ):
            return self._correlate(node, left, right, alias)
        source = self.source(node.right, visible)
        if isinstance(right, queries.Derived) and right.lateral:
            return lateral_join(self.context, node, left, source, self.outer)
        return joined(self.context, node, left, source, self.outer, self.hints)

    def _temporal(self, node: queries.Join, left: Source, right: queries.AsOf, alias: queries.Aliased | None) -> Source:
        source = self.source(right.relation)
        if alias is not None:
            source = self._with_alias(replace(alias, relation=right.relation), source)
        return temporal_join(self.context, node, left, source, right, self.outer, self.hints)

    @staticmethod
    def _is_window(call: syntax.Expression) -> bool:
        return isinstance(call, syntax.Call) and len(call.name) == 1 and call.name[0].upper() in WINDOW_FUNCTIONS

    # -- table functions ----------------------------------------------------------------------------------------------

    def _alone(self, node: queries.TableFunction | queries.Unnest) -> Source:
        """A table function without a left side: its rows for a single row."""
        call = self._function_call(node, replace(NO_SCOPE, parent=self.outer, _cache={}))
        row = RowType(ONE_ROW.row_type.fields + call.row_type.fields, is_nullable=False)
        correlate = Correlate(row, ONE_ROW, call, "INNER")
        columns = tuple(InputRef(each.data_type, i) for i, each in enumerate(row.fields))[1:]
        relation = Project(call.row_type, correlate, columns)
        return Source(relation, scope_of(relation, (), self.outer))

    def _correlate(
        self,
        node: queries.Join,
        left: Source,
        right: queries.TableFunction | queries.Unnest,
        alias: queries.Aliased | None,
    ) -> Source:
        if node.kind not in ("COMMA", "CROSS", "INNER", "LEFT"):
            raise invalid(f"A table function cannot be the right side of a {node.kind} JOIN", node.position)
        if node.natural or node.using is not None:
            raise invalid("A join with a table function needs ON instead of USING or NATURAL", node.position)
        call = self._function_call(right, replace(left.scope, parent=self.outer, _cache={}))
        path: tuple[str, ...] = ()
        if alias is not None:
            names = self._alias_names(alias, call.row_type)
            path = (alias.alias,)
            call = replace(call, row_type=row_of(names, call.row_type.field_types()))
        kind = "LEFT" if node.kind == "LEFT" else "INNER"
        added = call.row_type.fields
        if kind == "LEFT":
            added = tuple(RowField(each.name, each.data_type.nullable()) for each in added)
        names = left.relation.row_type.field_names() + [each.name for each in added]
        row = row_of(names, left.relation.row_type.field_types() + [each.data_type for each in added])
        scope = side_by_side(left.scope, scope_of(call, path), row, self.outer)
        condition = None
        if node.condition is not None:
            found = Expressions(self.context, scope, no_aggregates="ON").boolean(node.condition, "ON")
            condition = None if _is_true(found) else found
        return Source(Correlate(row, left.relation, call, kind, condition), scope)

    def _function_call(self, node: queries.TableFunction | queries.Unnest, scope: Scope) -> TableFunctionCall:
        expressions = Expressions(self.context, scope, no_aggregates="FROM")
        if isinstance(node, queries.Unnest):
            if len(node.arguments) != 1:
                raise unsupported("UNNEST takes one argument", node.position, "join several UNNEST")
            function: object = table_function("UNNEST WITH ORDINALITY" if node.ordinality else "UNNEST")
            arguments = expressions.all(node.arguments)
            name = "UNNEST"
        else:
            call = node.call
            assert isinstance(call, syntax.Call)
            function = self.context.called(call)
            if not isinstance(function, TableFunction):
                raise invalid(f"'{call.name[-1]}' is not a table function", call.position)
            name = function.name
            arguments = expressions.arguments(function, call)
        signature = casts.signature_of(function, arguments, name, node.position)
        row = signature.result
        assert isinstance(row, RowType)
        return TableFunctionCall(
            replace(row, is_nullable=False), function, casts.cast_all(arguments, signature.arguments)
        )


def _is_true(rex: Rex) -> bool:
    return getattr(rex, "value", None) is True


def renamed(relation: Relation, names: list[str]) -> Relation:
    """Return the relation with other names of columns."""
    if relation.row_type.field_names() == names:
        return relation
    fields = tuple(
        RowField(name, each.data_type, each.description)
        for name, each in zip(names, relation.row_type.fields, strict=True)
    )
    columns = tuple(InputRef(each.data_type, index) for index, each in enumerate(fields))
    return Project(RowType(fields, is_nullable=False), relation, columns)
