"""Catalog: databases with tables, views and functions, kept in memory.

Decides what exists in one catalog. Names are those of one database; `manager` resolves qualified names, and knows about
temporary objects, which are in no catalog.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from headrace.table.catalogs.quoting import identifier
from headrace.table.errors import SqlNotSupportedError, SqlValidationError

if TYPE_CHECKING:
    from headrace.table.analysis.catalog_view import ResolvedTable

__all__ = ["Catalog", "CatalogDatabase", "ObjectIdentifier", "ObjectPath"]


@dataclass(frozen=True)
class ObjectPath:
    """The name of a table, view or function in a catalog.

    >>> ObjectPath.from_string("db.t").get_object_name()
    't'
    """

    database_name: str = ""
    object_name: str = ""

    @staticmethod
    def from_string(full_name: str) -> ObjectPath:
        """Return the path of a name such as `db.t`."""
        parts = full_name.split(".")
        if len(parts) != 2 or not all(parts):
            raise SqlValidationError("The name of an object has the form 'database.object'", seen=full_name)
        return ObjectPath(*parts)

    def get_database_name(self) -> str:
        """Return the database."""
        return self.database_name

    def get_object_name(self) -> str:
        """Return the object."""
        return self.object_name

    def get_full_name(self) -> str:
        """Return both names with a dot."""
        return f"{self.database_name}.{self.object_name}"

    def __str__(self) -> str:
        """Return the full name."""
        return self.get_full_name()


@dataclass(frozen=True)
class ObjectIdentifier:
    """The full name of a table, view or function.

    >>> ObjectIdentifier.of("c", "d", "t").as_serializable_string()
    '`c`.`d`.`t`'
    """

    catalog_name: str
    database_name: str
    object_name: str

    @staticmethod
    def of(catalog_name: str, database_name: str, object_name: str) -> ObjectIdentifier:
        """Return a full name."""
        return ObjectIdentifier(catalog_name, database_name, object_name)

    def get_catalog_name(self) -> str:
        """Return the catalog."""
        return self.catalog_name

    def get_database_name(self) -> str:
        """Return the database."""
        return self.database_name

    def get_object_name(self) -> str:
        """Return the object."""
        return self.object_name

    def to_object_path(self) -> ObjectPath:
        """Return the name without the catalog."""
        return ObjectPath(self.database_name, self.object_name)

    def to_list(self) -> list[str]:
        """Return the three names."""
        return [self.catalog_name, self.database_name, self.object_name]

    def as_serializable_string(self) -> str:
        """Return the name with backquotes."""
        return identifier(*self.to_list())

    def as_summary_string(self) -> str:
        """Return the name with dots."""
        return ".".join(self.to_list())


@dataclass(frozen=True)
class CatalogDatabase:
    """The properties and the comment of a database.

    >>> CatalogDatabase.create_instance({"a": "1"}, "mine").get_comment()
    'mine'
    """

    properties: dict[str, str] = field(default_factory=dict)
    comment: str | None = None

    @staticmethod
    def create_instance(properties: dict[str, str], comment: str | None = None) -> CatalogDatabase:
        """Return a database with properties."""
        return CatalogDatabase(dict(properties), comment)

    def get_properties(self) -> dict[str, str]:
        """Return the properties."""
        return dict(self.properties)

    def get_comment(self) -> str | None:
        """Return the comment."""
        return self.comment

    def get_description(self) -> str | None:
        """Return the comment."""
        return self.comment

    def get_detailed_description(self) -> str | None:
        """Return the comment."""
        return self.comment

    def copy(self) -> CatalogDatabase:
        """Return a copy."""
        return replace(self, properties=dict(self.properties))


@dataclass
class _Database:
    facts: CatalogDatabase
    tables: dict[str, ResolvedTable] = field(default_factory=dict)
    functions: dict[str, Any] = field(default_factory=dict)


class Catalog:
    """A catalog that lives as long as the program.

    >>> catalog = Catalog("mine", "db")
    >>> catalog.create_database("other", CatalogDatabase(), ignore_if_exists=False)
    >>> catalog.list_databases(), catalog.list_tables("db")
    (['db', 'other'], [])
    """

    def __init__(
        self,
        name: str,
        default_database: str = "default",
        options: dict[str, str] | None = None,
        comment: str | None = None,
    ) -> None:
        """Create a catalog with one empty database."""
        self.name, self.options, self.comment = name, dict(options or {}), comment
        self._default = default_database
        self._databases = {default_database: _Database(CatalogDatabase())}

    # -- databases ----------------------------------------------------------------------------------------------------

    def get_default_database(self) -> str:
        """Return the database that is current after USE CATALOG."""
        return self._default

    def list_databases(self) -> list[str]:
        """Return the names of the databases."""
        return sorted(self._databases)

    def database_exists(self, database_name: str) -> bool:
        """Return whether there is a database."""
        return database_name in self._databases

    def get_database(self, database_name: str) -> CatalogDatabase:
        """Return the properties of a database."""
        return self._database(database_name).facts

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        """Create a database."""
        if name in self._databases:
            if not ignore_if_exists:
                raise SqlValidationError(f"Database {name} already exists in Catalog {self.name}.")
            return
        self._databases[name] = _Database(database)

    def alter_database(self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool) -> None:
        """Replace the properties of a database."""
        if name in self._databases or not ignore_if_not_exists:
            self._database(name).facts = new_database

    def drop_database(self, name: str, ignore_if_exists: bool, cascade: bool = False) -> None:
        """Drop a database; it must be empty unless `cascade`."""
        if name not in self._databases and ignore_if_exists:
            return
        found = self._database(name)
        if (found.tables or found.functions) and not cascade:
            raise SqlValidationError(
                f"Database {name} in Catalog {self.name} is not empty",
                seen=", ".join([*found.tables, *found.functions]),
                remedy="drop what is in it, or use DROP DATABASE ... CASCADE",
            )
        del self._databases[name]

    def _database(self, name: str) -> _Database:
        if name not in self._databases:
            from headrace.table.analysis.errors import unknown

            error = unknown("database", name, self._databases)
            raise SqlValidationError(f"Database {name} does not exist in Catalog {self.name}.", remedy=error.remedy)
        return self._databases[name]

    # -- tables and views ---------------------------------------------------------------------------------------------

    def tables(self, database_name: str) -> dict[str, ResolvedTable]:
        """Return the tables and views of a database by name."""
        return self._database(database_name).tables

    def list_tables(self, database_name: str) -> list[str]:
        """Return the names of tables and views."""
        return sorted(self.tables(database_name))

    def list_views(self, database_name: str) -> list[str]:
        """Return the names of views."""
        return sorted(name for name, table in self.tables(database_name).items() if table.is_view)

    def list_materialized_tables(self, database_name: str) -> list[str]:
        """Return nothing: there are no materialized tables."""
        self._database(database_name)
        return []

    def table_exists(self, table_path: ObjectPath) -> bool:
        """Return whether there is a table or view."""
        found = self._databases.get(table_path.database_name)
        return found is not None and table_path.object_name in found.tables

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Drop a table or view."""
        if self.table_exists(table_path):
            del self.tables(table_path.database_name)[table_path.object_name]
        elif not ignore_if_not_exists:
            raise self._no_table(table_path)

    def rename_table(self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool) -> None:
        """Rename a table or view."""
        if not self.table_exists(table_path):
            if ignore_if_not_exists:
                return
            raise self._no_table(table_path)
        tables = self.tables(table_path.database_name)
        if new_table_name in tables:
            raise SqlValidationError(
                f"Table (or view) {table_path.database_name}.{new_table_name} already exists in Catalog {self.name}."
            )
        moved = tables.pop(table_path.object_name)
        tables[new_table_name] = replace(moved, name=(self.name, table_path.database_name, new_table_name))

    def _no_table(self, path: ObjectPath) -> SqlValidationError:
        return SqlValidationError(f"Table (or view) {path} does not exist in Catalog {self.name}.")

    # -- functions ----------------------------------------------------------------------------------------------------

    def functions(self, database_name: str) -> dict[str, Any]:
        """Return the functions of a database by their names in lower case."""
        return self._database(database_name).functions

    def list_functions(self, database_name: str) -> list[str]:
        """Return the names of functions."""
        return sorted(self.functions(database_name))

    def function_exists(self, function_path: ObjectPath) -> bool:
        """Return whether there is a function."""
        found = self._databases.get(function_path.database_name)
        return found is not None and function_path.object_name.lower() in found.functions

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Drop a function."""
        if self.function_exists(function_path):
            del self.functions(function_path.database_name)[function_path.object_name.lower()]
        elif not ignore_if_not_exists:
            raise SqlValidationError(f"Function {function_path} does not exist in Catalog {self.name}.")

    # -- partitions ---------------------------------------------------------------------------------------------------

    def list_partitions(self, table_path: ObjectPath, partition_spec: Any = None) -> list[Any]:
        """Raise an error: a catalog in memory does not know the partitions of its tables."""
        del partition_spec
        raise SqlNotSupportedError(f"The catalog in memory does not keep partitions, those of {table_path} neither")
