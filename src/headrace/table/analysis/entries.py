"""What the environment and the Table API call: analyse a query, an INSERT, a schema or an expression.

With the `text` of the statement, errors show the line and a caret.
"""

from __future__ import annotations

from collections.abc import Iterable

from headrace.table.analysis import queries
from headrace.table.analysis.catalog_view import Catalog, EmptyCatalog, ResolvedSchema, ResolvedTable
from headrace.table.analysis.context import Context
from headrace.table.analysis.errors import located, unknown
from headrace.table.analysis.expressions import Expressions
from headrace.table.analysis.inserts import insert
from headrace.table.analysis.schemas import like_base, like_rules, resolve_schema, schema_of_row, schema_scope
from headrace.table.functions.definition import Session
from headrace.table.plan.relations import Relation, Sink
from headrace.table.plan.rex import Rex
from headrace.table.sql.syntax.expressions import Expression
from headrace.table.sql.syntax.queries import Query
from headrace.table.sql.syntax.statements import CreateTable, Insert
from headrace.table.sql.syntax.tables import Element
from headrace.types.logical_types import RowType


def context_of(catalog: Catalog | None = None, session: Session | None = None) -> Context:
    """Return the context of a statement."""
    return Context(catalog or EmptyCatalog(), session or Session(), queries.analyse)


def analyse_query(
    query: Query, catalog: Catalog | None = None, session: Session | None = None, text: str | None = None
) -> Relation:
    """Return the relation of a query.

    >>> from headrace.table.sql import parse_statements
    >>> [query] = parse_statements("SELECT 1 AS x, 'a'")
    >>> analyse_query(query).row_type.field_names()
    ['x', 'EXPR$1']
    """
    with located(text):
        return queries.analyse(context_of(catalog, session), query)


def analyse_insert(node: Insert, catalog: Catalog, session: Session | None = None, text: str | None = None) -> Sink:
    """Return the sink of an INSERT statement."""
    with located(text):
        return insert(context_of(catalog, session), node)


def analyse_expression(
    expression: Expression,
    row_type: RowType,
    catalog: Catalog | None = None,
    session: Session | None = None,
    text: str | None = None,
) -> Rex:
    """Return an expression over the columns of a row: a computed column, a watermark, an expression of the Table API.

    Aggregate functions are not allowed.
    """
    with located(text):
        context = context_of(catalog, session)
        return Expressions(context, schema_scope(row_type), no_aggregates="this expression").rex(expression)


def analyse_schema(
    elements: Iterable[Element],
    catalog: Catalog | None = None,
    session: Session | None = None,
    text: str | None = None,
    base: ResolvedSchema | None = None,
) -> ResolvedSchema:
    """Return the schema that columns, watermarks and keys of a CREATE TABLE declare."""
    with located(text):
        return resolve_schema(context_of(catalog, session), elements, base, text)


def analyse_table(
    node: CreateTable, catalog: Catalog, session: Session | None = None, text: str | None = None
) -> tuple[ResolvedTable, Relation | None]:
    """Return the table that CREATE TABLE declares, with what LIKE adds, and the relation of CREATE TABLE AS."""
    with located(text):
        context = context_of(catalog, session)
        base: ResolvedSchema | None = None
        options, partitioned = dict(node.options), node.partitioned_by
        relation = None
        if node.query is not None:
            relation = context.query(node.query)
            base = schema_of_row(relation.row_type)
        elif node.like is not None:
            table = catalog.resolve(node.like.table)
            if table is None:
                name = ".".join(node.like.table)
                raise unknown("table", name, catalog.table_names(), node.like.position)
            rules = like_rules(node.like)
            base = like_base(table, rules, node.elements)
            if rules["OPTIONS"] != "EXCLUDING":
                options = dict(table.options) | options
            if rules["PARTITIONS"] != "EXCLUDING" and not partitioned:
                partitioned = table.partitioned_by
        schema = resolve_schema(context, node.elements, base, text)
        for name in partitioned:
            if name not in schema.row_type.field_names():
                raise unknown("column", name, schema.row_type.field_names(), node.position)
        found = ResolvedTable(node.name, schema, tuple(options.items()), None, partitioned, comment=node.comment)
        return found, relation
