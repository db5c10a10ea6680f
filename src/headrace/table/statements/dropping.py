"""DROP of tables, views, databases, catalogs and functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.sql.syntax.statements import Drop
from headrace.table.statements.results import ok
from headrace.table.table_result import TableResult

if TYPE_CHECKING:
    from headrace.table.session import TableSession


def drop(session: TableSession, node: Drop, text: str) -> TableResult:
    """Drop something."""
    manager = session.manager
    match node.kind:
        case "TABLE" | "VIEW":
            manager.drop(node.name, view=node.kind == "VIEW", temporary=node.temporary, ignore=node.if_exists)
        case "DATABASE":
            catalog, name = session.database_name(node.name)
            if (catalog, name) == (manager.current_catalog, manager.current_database):
                raise SqlValidationError("Cannot drop a database which is currently in use.", seen=name)
            cascade = (node.behaviour or "").upper() == "CASCADE"
            manager.catalog(catalog).drop_database(name, node.if_exists, cascade)
        case "CATALOG":
            manager.drop_catalog(node.name[-1], node.if_exists)
        case "FUNCTION":
            manager.drop_function(node.name, temporary=node.temporary, system=node.system, ignore=node.if_exists)
        case _:
            raise SqlNotSupportedError(f"DROP {node.kind} is not supported", position=node.position)
    return ok()
