"""ALTER of tables, views, databases, catalogs and functions.

The columns of a table are changed as lines of DDL: the old lines and the new ones are analysed together, so that an
expression that no longer has a meaning is found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.table.analysis.catalog_view import ResolvedTable
from headrace.table.analysis.entries import analyse_schema
from headrace.table.analysis.errors import unknown
from headrace.table.catalogs.catalog import CatalogDatabase
from headrace.table.catalogs.schemas import public_schema
from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.schema import Schema
from headrace.table.sql.syntax.queries import Query
from headrace.table.sql.syntax.statements import AlterAction, AlterFunction, AlterObject
from headrace.table.sql.syntax.tables import (
    ComputedColumn,
    Constraint,
    Element,
    MetadataColumn,
    PhysicalColumn,
    Watermark,
)
from headrace.table.statements.results import ok
from headrace.table.statements.source_texts import query_text, with_texts
from headrace.table.table_result import TableResult

if TYPE_CHECKING:
    from headrace.table.session import TableSession

Columns = list[Element]


def alter(session: TableSession, node: AlterObject, text: str) -> TableResult:
    """Change something that exists."""
    match node.kind:
        case "TABLE":
            return _table(session, node, text)
        case "VIEW":
            return _view(session, node, text)
        case "DATABASE":
            catalog, name = session.database_name(node.name)
            owner = session.manager.catalog(catalog)
            facts = owner.get_database(name)
            owner.alter_database(
                name, CatalogDatabase(facts.properties | dict(node.action.options), facts.comment), False
            )
            return ok()
        case "CATALOG":
            return _catalog(session, node)
    raise SqlNotSupportedError(f"ALTER {node.kind} is not supported", position=node.position)


def _catalog(session: TableSession, node: AlterObject) -> TableResult:
    catalog, action = session.manager.catalog(node.name[-1]), node.action
    if action.kind == "COMMENT":
        catalog.comment = str(action.value)
    elif action.kind == "SET":
        catalog.options |= dict(action.options)
    else:
        for key in action.keys:
            catalog.options.pop(key, None)
    return ok()


def alter_function(session: TableSession, node: AlterFunction, text: str) -> TableResult:
    """Give a function another implementation."""
    from headrace.table.user_functions import imported_function

    if (node.language or "JAVA").upper() != "PYTHON":
        raise SqlNotSupportedError(f"Functions of language {node.language or 'JAVA'} are not supported")
    if session.manager.function(node.name) is None:
        if node.if_exists:
            return ok()
        raise unknown("function", node.name[-1], session.manager.function_names(), node.position)
    made = imported_function(node.name[-1], node.class_name)
    session.manager.create_function(node.name, made, temporary=node.temporary, system=node.system, replaces=True)
    return ok()


def _found(session: TableSession, node: AlterObject, view: bool) -> ResolvedTable | None:
    table = session.manager.find(node.name)
    if table is not None and table.is_view == view:
        return table
    if table is None and node.if_exists:
        return None
    kind = "view" if view else "table"
    if table is None:
        raise unknown(kind, ".".join(node.name), session.manager.table_names(), node.position)
    raise SqlValidationError(f"'{'.'.join(node.name)}' is not a {kind}", position=node.position)


def _renamed(session: TableSession, table: ResolvedTable, name: tuple[str, ...]) -> None:
    manager = session.manager
    new = manager.full_name(name)
    temporary = table.name in manager.temporary_tables
    manager.create(new, table, temporary=temporary)
    manager.drop(table.name, view=table.is_view, temporary=temporary)


def _view(session: TableSession, node: AlterObject, text: str) -> TableResult:
    from headrace.table.statements.creating import view_of

    view = _found(session, node, view=True)
    assert view is not None
    if node.action.kind == "RENAME":
        assert node.action.name is not None
        _renamed(session, view, node.action.name)
        return ok()
    assert isinstance(node.action.value, Query)
    made = view_of(session, node.action.value, (), query_text(text, node.position), text)
    session.manager.replace(replace(made, name=view.name, comment=view.comment))
    return ok()


# -- tables -----------------------------------------------------------------------------------------------------------


def _table(session: TableSession, node: AlterObject, text: str) -> TableResult:
    table, action = _found(session, node, view=False), node.action
    if table is None:
        return ok()
    match action.kind:
        case "RENAME":
            assert action.name is not None
            _renamed(session, table, action.name)
        case "SET":
            if any(key == "connector" for key, _ in action.options):
                raise SqlValidationError("ALTER TABLE cannot change the connector of a table", position=action.position)
            session.manager.replace(replace(table, options=tuple((dict(table.options) | dict(action.options)).items())))
        case "RESET":
            if "connector" in action.keys:
                raise SqlValidationError("ALTER TABLE RESET does not support changing 'connector'")
            kept = tuple(pair for pair in table.options if pair[0] not in action.keys)
            session.manager.replace(replace(table, options=kept))
        case _:
            change = _CHANGES.get(action.kind)
            if change is None:
                raise SqlNotSupportedError(f"ALTER TABLE ... {action.kind} is not supported", position=action.position)
            session.manager.replace(_changed(session, table, action, change, text))
    return ok()


def _changed(
    session: TableSession,
    table: ResolvedTable,
    action: AlterAction,
    change: Callable[[Columns, AlterAction, ResolvedTable], Columns],
    text: str,
) -> ResolvedTable:
    old = Schema.new_builder().from_resolved_schema(public_schema(table.schema)).build()
    elements = change(list(old.elements()), action, table)
    schema = analyse_schema(elements, session.manager, session.functions())
    texts = {column.name: column.text for column in table.schema.columns}
    columns = tuple(replace(each, text=texts.get(each.name)) for each in schema.columns)
    watermark = schema.watermark
    if watermark is not None and table.schema.watermark is not None:
        watermark = replace(watermark, text=table.schema.watermark.text)
    schema = replace(schema, columns=columns, watermark=watermark)
    gone = set(table.partitioned_by) - {each.name for each in columns}
    if gone:
        raise SqlValidationError(f"The column '{min(gone)}' is a partition key and cannot be dropped")
    return replace(table, schema=with_texts(schema, action.elements, text))


def _name(element: Element) -> str | None:
    if isinstance(element, (PhysicalColumn, ComputedColumn, MetadataColumn)):
        return element.name[-1]
    return None


def _index(elements: Columns, name: str, position: int = -1) -> int:
    names = [_name(element) for element in elements]
    if name not in names:
        raise unknown("column", name, [each for each in names if each is not None], position)
    return names.index(name)


def _place(elements: Columns, new: Element) -> None:
    """Insert a column where FIRST or AFTER says, else behind the last column."""
    place = getattr(new, "place", None)
    if place is None:
        last = max((i for i, element in enumerate(elements) if _name(element) is not None), default=-1)
        elements.insert(last + 1, new)
    elif place.after is None:
        elements.insert(0, new)
    else:
        elements.insert(_index(elements, place.after[-1], place.position) + 1, new)


def _add(elements: Columns, action: AlterAction, table: ResolvedTable) -> Columns:
    for new in action.elements:
        name = _name(new)
        if name is None:
            kind = type(new)
            if any(isinstance(element, kind) for element in elements):
                what = "watermark" if isinstance(new, Watermark) else "primary key"
                raise SqlValidationError(
                    f"The base table has already defined the {what}", position=new.position, remedy="use MODIFY"
                )
            elements.append(new)
            continue
        if any(_name(element) == name for element in elements):
            raise SqlValidationError(
                f"Try to add a column '{name}' which already exists in the table.", position=new.position
            )
        _place(elements, new)
    return elements


def _modify(elements: Columns, action: AlterAction, table: ResolvedTable) -> Columns:
    for new in action.elements:
        name = _name(new)
        if name is None:
            kept = [element for element in elements if not isinstance(element, type(new))]
            if len(kept) == len(elements):
                what = "watermark" if isinstance(new, Watermark) else "primary key"
                raise SqlValidationError(
                    f"The base table does not define any {what}", position=new.position, remedy="use ADD"
                )
            elements[:] = [*kept, new]
            continue
        index = _index(elements, name, new.position)
        if getattr(new, "place", None) is None:
            elements[index] = new
        else:
            del elements[index]
            _place(elements, new)
    return elements


def _drop_columns(elements: Columns, action: AlterAction, table: ResolvedTable) -> Columns:
    for name in action.names:
        if name[-1] in table.schema.primary_key:
            raise SqlValidationError(f"The column '{name[-1]}' is used as the primary key.", position=action.position)
        watermark = table.schema.watermark
        if watermark is not None and table.schema.columns[watermark.column].name == name[-1]:
            raise SqlValidationError(
                f"The column '{name[-1]}' is referenced by watermark expression.", position=action.position
            )
        del elements[_index(elements, name[-1], action.position)]
    return elements


def _drop_kind(kind: type[Element], what: str) -> Callable[[Columns, AlterAction, ResolvedTable], Columns]:
    def change(elements: Columns, action: AlterAction, table: ResolvedTable) -> Columns:
        kept = [element for element in elements if not isinstance(element, kind)]
        if len(kept) == len(elements):
            raise SqlValidationError(f"The base table does not define any {what}.", position=action.position)
        if action.name is not None and action.name[-1] != table.schema.primary_key_name:
            raise SqlValidationError(
                f"The base table does not define a constraint '{action.name[-1]}'.", position=action.position
            )
        return kept

    return change


def _rename_column(elements: Columns, action: AlterAction, table: ResolvedTable) -> Columns:
    old, new = action.names[0][-1], action.names[1][-1]
    index = _index(elements, old, action.position)
    if any(_name(element) == new for element in elements):
        raise SqlValidationError(f"The column '{new}' already existed in table schema.", position=action.position)
    if old in table.partitioned_by:
        raise SqlValidationError(f"Can not rename column '{old}' because it is used as the partition keys.")
    for number, element in enumerate(elements):
        if isinstance(element, Constraint) and old in element.columns:
            elements[number] = replace(element, columns=tuple(new if name == old else name for name in element.columns))
    elements[index] = replace(elements[index], name=(new,))  # type: ignore[call-arg]
    return elements


_CHANGES: dict[str, Callable[[Columns, AlterAction, ResolvedTable], Columns]] = {
    "ADD": _add,
    "MODIFY": _modify,
    "DROP COLUMNS": _drop_columns,
    "DROP PRIMARY KEY": _drop_kind(Constraint, "primary key"),
    "DROP CONSTRAINT": _drop_kind(Constraint, "primary key"),
    "DROP WATERMARK": _drop_kind(Watermark, "watermark strategy"),
    "RENAME COLUMN": _rename_column,
}
