"""CREATE TABLE, VIEW, CATALOG, DATABASE and FUNCTION."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.table.analysis.catalog_view import ResolvedColumn, ResolvedSchema, ResolvedTable
from headrace.table.analysis.entries import analyse_table
from headrace.table.catalogs.catalog import Catalog, CatalogDatabase
from headrace.table.catalogs.manager import ViewQuery
from headrace.table.connectors.access import ConnectorAccess
from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.sql.syntax.queries import Query
from headrace.table.sql.syntax.statements import CreateFunction, CreateObject, CreateTable, CreateView
from headrace.table.statements.results import ok
from headrace.table.statements.source_texts import query_text, with_texts
from headrace.table.table_result import TableResult

if TYPE_CHECKING:
    from headrace.table.session import TableSession

_CATALOGS = ("generic_in_memory",)


def create_table(session: TableSession, node: CreateTable, text: str) -> TableResult:
    """Create a table; with AS, also write the rows of the query to it."""
    manager = session.manager
    if node.distribution is not None:
        raise SqlNotSupportedError(
            "DISTRIBUTED BY is not supported: no connector has buckets", position=node.distribution.position
        )
    table, relation = analyse_table(node, manager, session.functions(), text)
    table = replace(table, schema=with_texts(table.schema, node.elements, text), source=ConnectorAccess())
    full = manager.full_name(node.name)
    if relation is not None:
        existing = manager.find(node.name)
        if existing is not None and node.if_not_exists:
            return ok()
        manager.create(node.name, table, temporary=node.temporary, replaces=node.replace)
        return session.insert_relation(relation, full)
    manager.create(node.name, table, temporary=node.temporary, ignore=node.if_not_exists, replaces=node.replace)
    return ok()


def create_view(session: TableSession, node: CreateView, text: str) -> TableResult:
    """Create a view; its query is analysed at once, and again whenever the view is used."""
    view = view_of(session, node.query, node.columns, query_text(text, node.position), text)
    view = replace(view, comment=node.comment)
    session.manager.create(node.name, view, temporary=node.temporary, ignore=node.if_not_exists, replaces=node.replace)
    return ok()


def view_of(
    session: TableSession, query: Query, columns: tuple[str, ...], shown: str, text: str | None
) -> ResolvedTable:
    """Return a view of a query, whose columns may have other names."""
    relation = session.analyse(query, text)
    fields = relation.row_type.fields
    if columns and len(columns) != len(fields):
        raise SqlValidationError(
            "VIEW definition and input fields not match",
            seen=f"{len(columns)} names: {', '.join(columns)}",
            expected=f"{len(fields)} names, for {', '.join(relation.row_type.field_names())}",
        )
    names = columns or tuple(relation.row_type.field_names())
    schema = ResolvedSchema(tuple(ResolvedColumn(name, field.data_type) for name, field in zip(names, fields)))
    catalog, database = session.manager.current()
    source = ViewQuery(query, shown, catalog, database)
    return ResolvedTable((), schema, view=query, source=source)


def create_object(session: TableSession, node: CreateObject, text: str) -> TableResult:
    """Create a catalog or a database."""
    options = dict(node.options)
    if node.kind == "DATABASE":
        catalog, name = session.database_name(node.name)
        facts = CatalogDatabase(options, node.comment)
        session.manager.catalog(catalog).create_database(name, facts, node.if_not_exists)
        return ok()
    if node.kind == "CATALOG":
        kind = options.get("type")
        if kind not in _CATALOGS:
            raise SqlNotSupportedError(
                f"There is no catalog of type '{kind}'" if kind else "A catalog needs the option 'type'",
                expected=f"'type' = {' or '.join(map(repr, _CATALOGS))}",
            )
        name = node.name[-1]
        if name not in session.manager.catalogs or not node.if_not_exists:
            made = Catalog(name, options.get("default-database", "default"), options, node.comment)
            session.manager.register(name, made)
        return ok()
    raise SqlNotSupportedError(f"CREATE {node.kind} is not supported", position=node.position)


def create_function(session: TableSession, node: CreateFunction, text: str) -> TableResult:
    """Create a function from the name of a Python object."""
    from headrace.table.user_functions import imported_function

    if node.resources:
        raise SqlNotSupportedError(
            "CREATE FUNCTION ... USING JAR is not supported: there are no Java functions",
            position=node.position,
            remedy="write the function in Python and use LANGUAGE PYTHON",
        )
    if (node.language or "JAVA").upper() != "PYTHON":
        raise SqlNotSupportedError(
            f"Functions of language {node.language or 'JAVA'} are not supported",
            position=node.position,
            remedy="write the function in Python and add LANGUAGE PYTHON",
        )
    session.manager.create_function(
        node.name,
        imported_function(node.name[-1], node.class_name),
        temporary=node.temporary,
        system=node.system,
        ignore=node.if_not_exists,
        replaces=node.replace,
    )
    return ok()
