"""A catalog in memory, and relations as short text, for tests of the analyser."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from headrace.table.analysis.catalog_view import Function, ResolvedTable
from headrace.table.analysis.entries import analyse_query, analyse_table
from headrace.table.functions.definition import Session
from headrace.table.functions.type_text import sql_text
from headrace.table.plan.relations import Relation
from headrace.table.plan.rex import AggregateCall, Call, FieldAccess, InputRef, Literal, OuterRef
from headrace.table.sql import parse_statements

TABLES = (
    """CREATE TABLE t (
        a INT, b STRING NOT NULL, c DOUBLE, ts TIMESTAMP(3), r ROW<x INT, y ROW<z STRING>>,
        arr ARRAY<INT>, m MAP<STRING, INT>, p AS a + 1, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)""",
    "CREATE TABLE u (id INT NOT NULL, name STRING, v DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED)",
    "CREATE TABLE l (k STRING, n BIGINT NOT NULL, seen TIMESTAMP_LTZ(3) NOT NULL, WATERMARK FOR seen AS seen)",
)


class MemoryCatalog:
    """Tables by name."""

    def __init__(self, *ddl: str) -> None:
        self.tables: dict[str, ResolvedTable] = {}
        self.functions: dict[str, Function] = {}
        for text in ddl:
            self.create(text)

    def create(self, text: str) -> ResolvedTable:
        """Execute a CREATE TABLE statement."""
        [node] = parse_statements(text)
        table, _ = analyse_table(node, self, text=text)
        self.tables[node.name[-1]] = table
        return table

    def view(self, name: str, text: str) -> None:
        """Register a view."""
        [query] = parse_statements(text)
        self.tables[name] = ResolvedTable((name,), view=query)

    def resolve(self, name: tuple[str, ...]) -> ResolvedTable | None:
        """Return a table."""
        return self.tables.get(name[-1])

    def function(self, name: tuple[str, ...]) -> Function | None:
        """Return a function of a user."""
        return self.functions.get(name[-1].upper())

    def table_names(self) -> Iterable[str]:
        """Return all names."""
        return self.tables

    def function_names(self) -> Iterable[str]:
        """Return all names."""
        return self.functions


CATALOG = MemoryCatalog(*TABLES)


def analysed(text: str, catalog: MemoryCatalog = CATALOG, session: Session | None = None) -> Relation:
    """Return the relation of a query."""
    [query] = parse_statements(text)
    return analyse_query(query, catalog, session, text)


def columns(text: str, catalog: MemoryCatalog = CATALOG, session: Session | None = None) -> list[str]:
    """Return the names and types of the columns of a query."""
    row = analysed(text, catalog, session).row_type
    return [f"{each.name} {sql_text(each.data_type)}" for each in row.fields]


def types(text: str, catalog: MemoryCatalog = CATALOG) -> list[str]:
    """Return the types of the columns of a query."""
    return [sql_text(each.data_type) for each in analysed(text, catalog).row_type.fields]


def plan(relation: Relation) -> str:
    """Return a tree of relations as text, one line per relation."""
    return "\n".join(_lines(relation, 0))


def _lines(relation: Relation, depth: int) -> list[str]:
    parts = []
    for each in fields(relation):
        value = getattr(relation, each.name)
        if each.name in ("row_type", "table", "input", "left", "right") or value in ((), None, 0, False):
            continue
        parts.append(f"{each.name}={shown(value)}")
    found = [f"{'  ' * depth}{type(relation).__name__}({', '.join(parts)})"]
    for inner in relation.inputs:
        found += _lines(inner, depth + 1)
    return found


def shown(value: Any) -> str:
    """Return an expression as text: columns are `$0`, columns of an enclosing query `^1.0`."""
    match value:
        case InputRef():
            return f"${value.index}"
        case OuterRef():
            return f"^{value.depth}.{value.index}"
        case Literal():
            return repr(value.value)
        case Call():
            kind = f":{sql_text(value.type)}" if value.function.name.endswith("CAST") else ""
            return f"{value.function.name}({', '.join(map(shown, value.arguments))}){kind}"
        case FieldAccess():
            return f"{shown(value.value)}.{value.index}"
        case AggregateCall():
            return f"{value.function.name}({', '.join(f'${index}' for index in value.arguments)})"
        case tuple():
            return f"[{', '.join(map(shown, value))}]"
    return getattr(value, "name", None) or str(value)
