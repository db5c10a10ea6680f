"""SHOW and DESCRIBE."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from headrace.table.catalogs.manager import ViewQuery
from headrace.table.catalogs.quoting import identifier, identifiers, literal
from headrace.table.catalogs.schemas import Column, ResolvedSchema, public_schema
from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.functions.type_text import sql_text, type_name
from headrace.table.schema import column_line
from headrace.table.sql.syntax.statements import Describe, Show
from headrace.table.statements.results import texts
from headrace.table.table_result import TableResult

if TYPE_CHECKING:
    from headrace.table.session import TableSession


# -- SHOW -------------------------------------------------------------------------------------------------------------


def show(session: TableSession, node: Show, text: str) -> TableResult:
    """Return what SHOW lists."""
    rule = _SHOWN.get(node.what)
    if rule is None:
        raise SqlNotSupportedError(f"SHOW {node.what} is not supported", position=node.position)
    return rule(session, node)


def like_pattern(pattern: str, ignore_case: bool = False) -> re.Pattern[str]:
    """Return the regular expression of a LIKE pattern.

    >>> bool(like_pattern("a_c%").fullmatch("abcde")), bool(like_pattern("A%", True).fullmatch("abc"))
    (True, True)
    """
    made = "".join({"%": ".*", "_": "."}.get(char, re.escape(char)) for char in pattern)
    return re.compile(made, re.DOTALL | (re.IGNORECASE if ignore_case else 0))


def _listed(column: str, names: Iterable[str], node: Show) -> TableResult:
    if node.like is not None:
        pattern = like_pattern(node.like, node.like_kind == "ILIKE")
        names = [name for name in names if bool(pattern.fullmatch(name)) != node.negated]
    return texts([column], [(name,) for name in names])


def _database(session: TableSession, node: Show) -> tuple[str, str]:
    return session.manager.current() if node.source is None else session.database_name(node.source)


def _tables(session: TableSession, node: Show) -> TableResult:
    return _listed("table name", session.manager.tables(*_database(session, node)), node)


def _views(session: TableSession, node: Show) -> TableResult:
    found = session.manager.tables(*_database(session, node))
    return _listed("view name", [name for name, table in found.items() if table.is_view], node)


def _databases(session: TableSession, node: Show) -> TableResult:
    catalog = session.manager.current()[0] if node.source is None else node.source[-1]
    return _listed("database name", session.manager.catalog(catalog).list_databases(), node)


def _functions(session: TableSession, node: Show) -> TableResult:
    names: set[str] = set(_user_functions(session, node))
    if node.what == "FUNCTIONS":
        from headrace.table.functions.registry import aggregate_functions, scalar_functions, table_functions

        built_in = {**scalar_functions(), **aggregate_functions(), **table_functions()}
        names |= {name.lower() for name in built_in if name[:1].isalpha()}
    return _listed("function name", sorted(names), node)


def _user_functions(session: TableSession, node: Show) -> list[str]:
    if node.source is None:
        return session.manager.function_names()
    catalog, database = session.database_name(node.source)
    return session.manager.catalog(catalog).list_functions(database)


def _columns(session: TableSession, node: Show) -> TableResult:
    assert node.source is not None
    schema = public_schema(session.manager.get(node.source, position=node.position).schema)
    if node.like is None:
        return _described(schema)
    pattern = like_pattern(node.like)
    kept = [each for each in schema.columns if bool(pattern.fullmatch(each.name)) != node.negated]
    return _described(schema, kept)


def _modules(session: TableSession, node: Show) -> TableResult:
    if node.what == "FULL MODULES":
        rows = [(name, name in session.used_modules) for name in session.modules]
        return texts(["module name", "used"], rows, booleans=["used"])
    return texts(["module name"], [(name,) for name in session.used_modules])


def _create_table(session: TableSession, node: Show) -> TableResult:
    assert node.name is not None
    table = session.manager.get(node.name, position=node.position)
    if table.is_view:
        raise SqlValidationError(
            f"SHOW CREATE TABLE is only supported for tables, but {'.'.join(node.name)} is a view.",
            remedy="use SHOW CREATE VIEW",
            position=node.position,
        )
    temporary = "TEMPORARY " if table.name in session.manager.temporary_tables else ""
    schema = public_schema(table.schema)
    lines = [column_line(column, stored=True) for column in schema.columns]
    lines += [watermark.as_summary_string() for watermark in schema.watermark_specs]
    lines += [] if schema.primary_key is None else [schema.primary_key.as_summary_string()]
    parts = [f"CREATE {temporary}TABLE {identifier(*table.name)} (\n  " + ",\n  ".join(lines) + "\n)"]
    if table.comment:
        parts.append(f"COMMENT {literal(table.comment)}")
    if table.partitioned_by:
        parts.append(f"PARTITIONED BY ({identifiers(table.partitioned_by)})")
    if table.options:
        pairs = ",\n  ".join(f"{literal(key)} = {literal(value)}" for key, value in sorted(table.options))
        parts.append(f"WITH (\n  {pairs}\n)")
    return texts(["result"], [("\n".join(parts) + "\n",)])


def _create_view(session: TableSession, node: Show) -> TableResult:
    assert node.name is not None
    table = session.manager.get(node.name, "view", node.position)
    if not table.is_view:
        raise SqlValidationError(
            f"SHOW CREATE VIEW is only supported for views, but {'.'.join(node.name)} is a table.",
            remedy="use SHOW CREATE TABLE",
            position=node.position,
        )
    if not isinstance(table.source, ViewQuery):
        raise SqlNotSupportedError("SHOW CREATE VIEW is not supported for views that are made of the Table API")
    temporary = "TEMPORARY " if table.name in session.manager.temporary_tables else ""
    names = ",\n  ".join(identifier(column.name) for column in table.schema.columns)
    comment = f"COMMENT {literal(table.comment)}\n" if table.comment else ""
    made = f"CREATE {temporary}VIEW {identifier(*table.name)} (\n  {names}\n)\n{comment}AS {table.source.text}\n"
    return texts(["result"], [(made,)])


def _create_catalog(session: TableSession, node: Show) -> TableResult:
    assert node.name is not None
    catalog = session.manager.catalog(node.name[-1])
    pairs = ",\n  ".join(f"{literal(key)} = {literal(value)}" for key, value in catalog.options.items())
    comment = f"COMMENT {literal(catalog.comment)}\n" if catalog.comment else ""
    made = f"CREATE CATALOG {identifier(catalog.name)}\n{comment}WITH (\n  {pairs}\n)\n"
    return texts(["result"], [(made,)])


def _jobs(session: TableSession, node: Show) -> TableResult:
    raise SqlNotSupportedError(
        f"SHOW {node.what} is not supported in a program", remedy="use `headrace list`", position=node.position
    )


_SHOWN: dict[str, Callable[[TableSession, Show], TableResult]] = {
    "TABLES": _tables,
    "VIEWS": _views,
    "DATABASES": _databases,
    "CATALOGS": lambda session, node: _listed("catalog name", sorted(session.manager.catalogs), node),
    "CURRENT CATALOG": lambda session, node: texts(["current catalog name"], [(session.manager.current()[0],)]),
    "CURRENT DATABASE": lambda session, node: texts(["current database name"], [(session.manager.current()[1],)]),
    "FUNCTIONS": _functions,
    "USER FUNCTIONS": _functions,
    "COLUMNS": _columns,
    "MODULES": _modules,
    "FULL MODULES": _modules,
    "CREATE TABLE": _create_table,
    "CREATE VIEW": _create_view,
    "CREATE CATALOG": _create_catalog,
    "JARS": lambda session, node: texts(["jars"], []),
    "MATERIALIZED TABLES": lambda session, node: _listed("materialized table name", [], node),
    "MODELS": lambda session, node: _listed("model name", [], node),
    "PROCEDURES": lambda session, node: _listed("procedure name", [], node),
    "JOBS": _jobs,
}


# -- DESCRIBE ---------------------------------------------------------------------------------------------------------


def describe(session: TableSession, node: Describe, text: str) -> TableResult:
    """Return the columns of a table, or the properties of something else."""
    assert isinstance(node.name, tuple)
    match node.kind:
        case "TABLE":
            return _described(public_schema(session.manager.get(node.name, position=node.position).schema))
        case "DATABASE":
            catalog, name = session.database_name(node.name)
            facts = session.manager.catalog(catalog).get_database(name)
            rows: list[tuple[str, Any]] = [("database", name), ("catalog", catalog), ("comment", facts.comment or "")]
            if node.extended:
                rows.append(("properties", str(dict(sorted(facts.properties.items()))) if facts.properties else ""))
            return texts(["database info name", "database info value"], rows)
        case "CATALOG":
            catalog_ = session.manager.catalog(node.name[-1])
            rows = [
                ("name", catalog_.name),
                ("type", catalog_.options.get("type", "generic_in_memory")),
                ("comment", catalog_.comment or ""),
            ]
            if node.extended:
                rows += [(f"option:{key}", value) for key, value in sorted(catalog_.options.items()) if key != "type"]
            return texts(["info name", "info value"], rows)
        case "FUNCTION":
            return _function(session, node.name, node.extended, node.position)
    raise SqlNotSupportedError(f"DESCRIBE {node.kind} is not supported", position=node.position)


def _function(session: TableSession, name: tuple[str, ...], extended: bool, position: int) -> TableResult:
    from headrace.table.analysis.entries import context_of

    found = context_of(session.manager, session.functions()).function(name, position)
    system = len(name) == 1 and session.manager.function(name) is None
    temporary = name[-1].lower() in session.manager.system_functions
    kind = {"ScalarFunction": "SCALAR", "AggregateFunction": "AGGREGATE", "TableFunction": "TABLE"}
    base = next(each.__name__ for each in type(found).__mro__ if each.__name__ in kind)
    rows = [
        ("is system function", str(system or temporary).lower()),
        (
            "is temporary",
            str(temporary or session.manager.function_name(name) in session.manager.temporary_functions).lower(),
        ),
    ]
    if extended:
        deterministic = str(getattr(found, "deterministic", True)).lower()
        rows += [("kind", kind[base]), ("is deterministic", deterministic)]
    return texts(["info name", "info value"], rows)


def _described(schema: ResolvedSchema, columns: Iterable[Column] | None = None) -> TableResult:
    columns = schema.columns if columns is None else columns
    key = schema.primary_key
    keys = {} if key is None else dict.fromkeys(key.columns, f"PRI({', '.join(key.columns)})")
    marks = {each.rowtime_attribute: each.text for each in schema.watermark_specs}
    commented = any(column.comment for column in schema.columns)
    rows = []
    for column in columns:
        row: list[Any] = [column.name, _type(column), column.data_type.is_nullable, keys.get(column.name)]
        row += [column.explain_extras(), marks.get(column.name)]
        rows.append([*row, column.comment] if commented else row)
    names = ["name", "type", "null", "key", "extras", "watermark", *(["comment"] if commented else [])]
    return texts(names, rows, booleans=["null"])


def _type(column: Column) -> str:
    kind = column.data_type
    if getattr(kind, "time_attribute", None) is not None:
        return sql_text(kind.nullable())
    return type_name(kind)
