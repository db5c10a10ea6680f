"""USE, SET, RESET, modules and jars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.sql.syntax.statements import Jar, ModuleStatement, SetOption, Use
from headrace.table.statements.results import ok, texts
from headrace.table.table_result import TableResult

if TYPE_CHECKING:
    from headrace.table.session import TableSession


def use(session: TableSession, node: Use, text: str) -> TableResult:
    """Make a catalog or a database current, or choose the modules that are used."""
    if node.kind == "MODULES":
        use_modules(session, [name[-1] for name in node.names])
        return ok()
    (name,) = node.names
    if node.kind == "CATALOG":
        session.manager.use_catalog(name[-1])
    else:
        catalog, database = session.database_name(name)
        session.manager.use_database(database, catalog)
    return ok()


def use_modules(session: TableSession, names: list[str]) -> None:
    """Choose the modules that are used."""
    for name in names:
        if name not in session.modules:
            raise SqlValidationError(f"No module with name '{name}' exists", expected=", ".join(session.modules))
    if len(set(names)) != len(names):
        raise SqlValidationError("A module is named twice", seen=", ".join(names))
    if "core" not in names:
        raise SqlNotSupportedError("The module 'core' has all built-in functions and cannot be left out")
    session.used_modules = list(names)


def set_option(session: TableSession, node: SetOption, text: str) -> TableResult:
    """Set an option of the session, reset it, or list all options."""
    if node.scope is not None:
        raise SqlNotSupportedError(f"ALTER {node.scope} SET is not supported", position=node.position, remedy="use SET")
    config = session.config
    if node.reset:
        for key in [node.key] if node.key is not None else list(config.to_map()):
            config.unset(str(key))
        return ok()
    if node.key is None:
        return texts(["key", "value"], sorted(config.to_map().items()))
    config.set(node.key, str(node.value))
    return ok()


def module(session: TableSession, node: ModuleStatement, text: str) -> TableResult:
    """Refuse to load modules, which are written in Java; `core` is always there."""
    if node.load:
        if node.name in session.modules:
            raise SqlValidationError(f"A module with name '{node.name}' already exists", position=node.position)
        raise SqlNotSupportedError(
            f"There is no module '{node.name}'",
            position=node.position,
            remedy="register functions with CREATE FUNCTION",
        )
    if node.name not in session.modules:
        raise SqlValidationError(f"No module with name '{node.name}' exists", position=node.position)
    raise SqlNotSupportedError("The module 'core' has all built-in functions and cannot be unloaded")


def jar(session: TableSession, node: Jar, text: str) -> TableResult:
    """Accept jars with a warning: connectors and formats are Python, nothing needs a jar."""
    from headrace.compatibility.jars import warn_of_jars

    if node.add:
        warn_of_jars("ADD JAR", [node.path])
    return ok()
