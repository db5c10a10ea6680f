"""CatalogManager: resolves the names of tables and functions, and keeps temporary ones.

A name with one part is in the current database, with two in the current catalog. A temporary table hides a table of a
catalog with the same full name. Functions are looked up as in Flink: temporary system functions, built-in functions,
temporary functions, functions of the catalog. It implements what the analyser knows of catalogs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from headrace.table.analysis.catalog_view import Function, ResolvedTable
from headrace.table.analysis.errors import unknown
from headrace.table.catalogs.catalog import Catalog
from headrace.table.catalogs.quoting import identifier
from headrace.table.errors import SqlValidationError
from headrace.table.plan.relations import Relation
from headrace.table.sql.syntax.queries import Query

Name = tuple[str, ...]
FullName = tuple[str, str, str]


@dataclass(frozen=True)
class ViewQuery:
    """The query of a view, with the database in which its names are resolved."""

    query: Query
    text: str
    catalog: str
    database: str


class CatalogManager:
    """The catalogs of an environment.

    >>> manager = CatalogManager("default_catalog", "default_database")
    >>> manager.full_name(("t",)), manager.full_name(("db", "t"))
    (('default_catalog', 'default_database', 't'), ('default_catalog', 'db', 't'))
    """

    def __init__(self, catalog: str, database: str) -> None:
        """Create the built-in catalog with its default database, which are current."""
        self.catalogs: dict[str, Catalog] = {catalog: Catalog(catalog, database)}
        self.current_catalog: str | None = catalog
        self.current_database: str | None = database
        self.temporary_tables: dict[FullName, ResolvedTable] = {}
        self.temporary_functions: dict[FullName, Function] = {}
        self.system_functions: dict[str, Function] = {}
        self.analyse: Callable[[ViewQuery], Relation] | None = None
        """Set by the environment: analyses the query of a view with this manager."""

    # -- what is current ----------------------------------------------------------------------------------------------

    def use_catalog(self, name: str) -> None:
        """Make a catalog current, with its default database."""
        self.current_database = self.catalog(name).get_default_database()
        self.current_catalog = name

    def use_database(self, name: str, catalog: str | None = None) -> None:
        """Make a database current."""
        chosen = self.catalog(catalog or self.current()[0])
        if not chosen.database_exists(name):
            near = unknown("database", name, chosen.list_databases()).remedy
            raise SqlValidationError(
                f"A database with name [{name}] does not exist in the catalog: [{chosen.name}].", remedy=near
            )
        self.current_catalog, self.current_database = chosen.name, name

    @contextmanager
    def using(self, catalog: str, database: str) -> Iterator[None]:
        """Resolve names in another database for a while."""
        before = self.current_catalog, self.current_database
        self.current_catalog, self.current_database = catalog, database
        try:
            yield
        finally:
            self.current_catalog, self.current_database = before

    def current(self) -> tuple[str, str]:
        """Return the current catalog and database."""
        if self.current_catalog is None or self.current_database is None:
            raise SqlValidationError("No database is current", remedy="use USE CATALOG and USE first")
        return self.current_catalog, self.current_database

    # -- catalogs -----------------------------------------------------------------------------------------------------

    def catalog(self, name: str) -> Catalog:
        """Return a catalog."""
        if name not in self.catalogs:
            near = unknown("catalog", name, self.catalogs).remedy
            raise SqlValidationError(f"A catalog with name [{name}] does not exist.", remedy=near)
        return self.catalogs[name]

    def register(self, name: str, catalog: Catalog) -> None:
        """Add a catalog."""
        if name in self.catalogs:
            raise SqlValidationError(f"Catalog {name} already exists.")
        self.catalogs[name] = catalog

    def drop_catalog(self, name: str, ignore_if_not_exists: bool = False) -> None:
        """Remove a catalog that is not current."""
        if name not in self.catalogs and ignore_if_not_exists:
            return
        self.catalog(name)
        if name == self.current_catalog:
            raise SqlValidationError("Cannot drop a catalog which is currently in use.", seen=name)
        del self.catalogs[name]

    # -- tables -------------------------------------------------------------------------------------------------------

    def full_name(self, name: Name) -> FullName:
        """Return the name with catalog and database."""
        if not 1 <= len(name) <= 3 or not all(name):
            raise SqlValidationError("A name has one to three parts", seen=".".join(name))
        if len(name) == 3:
            return name[0], name[1], name[2]
        catalog, database = self.current()
        return (catalog, name[0], name[1]) if len(name) == 2 else (catalog, database, name[0])

    def find(self, name: Name) -> ResolvedTable | None:
        """Return a table or view as it was created, None if there is none."""
        full = self.full_name(name)
        temporary = self.temporary_tables.get(full)
        return temporary if temporary is not None else self.permanent(full)

    def permanent(self, full: FullName) -> ResolvedTable | None:
        """Return a table or view of a catalog, None if there is none."""
        catalog = self.catalogs.get(full[0])
        if catalog is None or not catalog.database_exists(full[1]):
            return None
        return catalog.tables(full[1]).get(full[2])

    def get(self, name: Name, kind: str = "table", position: int = -1) -> ResolvedTable:
        """Return a table or view; raise an error that names the nearest one."""
        found = self.find(name)
        if found is None:
            raise unknown(kind, ".".join(name), self.table_names(), position)
        return found

    def resolve(self, name: Name) -> ResolvedTable | None:
        """Return a table or view for the analyser: a view has its relation."""
        found = self.find(name)
        if found is None or not isinstance(found.source, ViewQuery):
            return found
        assert self.analyse is not None
        with self.using(found.source.catalog, found.source.database):
            return replace(found, view=self.analyse(found.source))

    def create(
        self, name: Name, table: ResolvedTable, *, temporary: bool, ignore: bool = False, replaces: bool = False
    ) -> bool:
        """Add a table or view. Return False if there was one and `ignore` is set."""
        full = self.full_name(name)
        owner = self._tables_for(full, temporary)
        key: Any = full if temporary else full[2]
        if key in owner and not replaces:
            if ignore:
                return False
            words = "Temporary table" if temporary else "Could not execute CreateTable: table"
            raise SqlValidationError(
                f"{words} {identifier(*full)} already exists",
                remedy="use IF NOT EXISTS, or drop it first",
            )
        owner[key] = replace(table, name=full)
        return True

    def _tables_for(self, full: FullName, temporary: bool) -> dict[Any, ResolvedTable]:
        return self.temporary_tables if temporary else self.catalog(full[0]).tables(full[1])

    def drop(self, name: Name, *, view: bool, temporary: bool = False, ignore: bool = False) -> bool:
        """Drop a table or a view. Return False if there was none and `ignore` is set."""
        full = self.full_name(name)
        kind = "view" if view else "table"
        hidden = self.temporary_tables.get(full)
        if temporary:
            if hidden is not None and hidden.is_view == view:
                del self.temporary_tables[full]
                return True
        else:
            if hidden is not None and hidden.is_view == view:
                raise SqlValidationError(
                    f"Temporary {kind} with identifier '{identifier(*full)}' exists. "
                    f"Drop it first before removing the permanent {kind}."
                )
            found = self.permanent(full)
            if found is not None and found.is_view == view:
                del self.catalog(full[0]).tables(full[1])[full[2]]
                return True
        if ignore:
            return False
        label = f"{'Temporary ' if temporary else ''}{kind}".capitalize()
        near = unknown(kind, name[-1], self.table_names()).remedy
        raise SqlValidationError(
            f"{label} with identifier '{'.'.join(full)}' does not exist.",
            remedy=None if near == f"create the {kind} first" else near,
        )

    def replace(self, table: ResolvedTable) -> None:
        """Put a changed table or view in the place of the one with its name."""
        full = self.full_name(table.name)
        if full in self.temporary_tables:
            self.temporary_tables[full] = table
        else:
            self.catalog(full[0]).tables(full[1])[full[2]] = table

    def tables(self, catalog: str | None = None, database: str | None = None) -> dict[str, ResolvedTable]:
        """Return the tables and views of a database by name, temporary ones included."""
        here = self.current()
        full = catalog or here[0], database or here[1]
        found = dict(self.catalog(full[0]).tables(full[1]))
        found |= {key[2]: table for key, table in self.temporary_tables.items() if key[:2] == full}
        return dict(sorted(found.items()))

    def table_names(self) -> Iterable[str]:
        """Return the names of the tables and views in the current database."""
        return list(self.tables()) if self.current_database is not None else []

    # -- functions ----------------------------------------------------------------------------------------------------

    def function(self, name: Name) -> Function | None:
        """Return a function of the program or of a catalog, None if there is none; case does not matter."""
        if len(name) == 1 and name[0].lower() in self.system_functions:
            return self.system_functions[name[0].lower()]
        full = self.function_name(name)
        if full in self.temporary_functions:
            return self.temporary_functions[full]
        catalog = self.catalogs.get(full[0])
        if catalog is None or not catalog.database_exists(full[1]):
            return None
        return catalog.functions(full[1]).get(full[2])

    def function_name(self, name: Name) -> FullName:
        """Return the full name of a function, in lower case."""
        catalog, database, last = self.full_name(name)
        return catalog, database, last.lower()

    def function_names(self) -> list[str]:
        """Return the names of the functions of the program and of the current database."""
        here = self.current()
        names = set(self.system_functions) | {key[2] for key in self.temporary_functions if key[:2] == here}
        return sorted(names | set(self.catalog(here[0]).functions(here[1])))

    def create_function(
        self,
        name: Name,
        function: Any,
        *,
        temporary: bool,
        system: bool = False,
        ignore: bool = False,
        replaces: bool = False,
    ) -> bool:
        """Add a function. Return False if there was one and `ignore` is set."""
        owner, key = self._functions_for(name, temporary, system)
        if key in owner and not replaces:
            if ignore:
                return False
            words = "Temporary system function" if system else "Temporary function" if temporary else "Function"
            raise SqlValidationError(f"{words} '{'.'.join(name)}' is already defined", remedy="drop it first")
        owner[key] = function
        return True

    def drop_function(self, name: Name, *, temporary: bool, system: bool = False, ignore: bool = False) -> bool:
        """Remove a function. Return False if there was none and `ignore` is set."""
        owner, key = self._functions_for(name, temporary, system)
        if key in owner:
            del owner[key]
            return True
        if ignore:
            return False
        words = "Temporary system function" if system else "Temporary catalog function" if temporary else "Function"
        near = unknown("function", name[-1], self.function_names()).remedy
        raise SqlValidationError(f"{words} {'.'.join(name)} doesn't exist", remedy=near)

    def _functions_for(self, name: Name, temporary: bool, system: bool) -> tuple[dict[Any, Any], Any]:
        if system:
            return self.system_functions, name[-1].lower()
        full = self.function_name(name)
        return (self.temporary_functions, full) if temporary else (self.catalog(full[0]).functions(full[1]), full[2])
