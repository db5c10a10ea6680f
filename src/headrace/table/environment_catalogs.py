"""EnvironmentCatalogs: the methods of a TableEnvironment that work on catalogs, databases, tables, views and functions."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.table.analysis.catalog_view import ResolvedColumn, ResolvedSchema, ResolvedTable
from headrace.table.analysis.entries import analyse_schema
from headrace.table.catalogs.catalog import Catalog
from headrace.table.connectors.access import ConnectorAccess
from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.sql import parse_statements
from headrace.table.sql.syntax.queries import ExplicitTable
from headrace.table.statements.settings import use_modules
from headrace.table.statements.source_texts import with_texts
from headrace.table.table_descriptor import TableDescriptor
from headrace.table.udf import UserDefinedFunctionWrapper

if TYPE_CHECKING:
    from headrace.table.session import TableSession
    from headrace.table.table import Table

_NUMBERS = itertools.count()
Name = tuple[str, ...]


class EnvironmentCatalogs:
    """What exists in an environment. Base of TableEnvironment."""

    def __init__(self, session: TableSession) -> None:
        """Set what statements work on."""
        self.session = session

    def path(self, text: object) -> Name:
        """Return the parts of a path such as `catalog.db.t`; parts may be in backquotes."""
        if not isinstance(text, str):
            raise TypeMismatchError("A path is a string", seen=text)
        (node,) = parse_statements(f"TABLE {text}")
        if not isinstance(node, ExplicitTable):
            raise SqlValidationError("A path has one to three names", seen=text)
        return node.name

    # -- catalogs and databases ---------------------------------------------------------------------------------------

    def register_catalog(self, catalog_name: str, catalog: Catalog) -> None:
        """Add a catalog."""
        if not isinstance(catalog, Catalog):
            raise TypeMismatchError("register_catalog takes a Catalog", seen=catalog)
        self.session.manager.register(catalog_name, catalog)

    def create_catalog(self, catalog_name: str, catalog_descriptor: Any) -> None:
        """Create a catalog from a descriptor with its options."""
        options = catalog_descriptor.configuration.to_dict()
        if options.get("type") != "generic_in_memory":
            raise SqlNotSupportedError(
                "There is no catalog of this type", seen=options.get("type"), expected="'type' = 'generic_in_memory'"
            )
        default = options.get("default-database", "default")
        self.session.manager.register(catalog_name, Catalog(catalog_name, default, options))

    def get_catalog(self, catalog_name: str) -> Catalog | None:
        """Return a catalog, None if there is none."""
        return self.session.manager.catalogs.get(catalog_name)

    def use_catalog(self, catalog_name: str) -> None:
        """Make a catalog current, with its default database."""
        self.session.manager.use_catalog(catalog_name)

    def use_database(self, database_name: str) -> None:
        """Make a database current."""
        self.session.manager.use_database(database_name)

    def get_current_catalog(self) -> str | None:
        """Return the name of the current catalog."""
        return self.session.manager.current_catalog

    def get_current_database(self) -> str | None:
        """Return the name of the current database."""
        return self.session.manager.current_database

    def list_catalogs(self) -> list[str]:
        """Return the names of the catalogs."""
        return sorted(self.session.manager.catalogs)

    def list_databases(self) -> list[str]:
        """Return the names of the databases in the current catalog."""
        return self.session.manager.catalog(self.session.manager.current()[0]).list_databases()

    # -- modules ------------------------------------------------------------------------------------------------------

    def load_module(self, module_name: str, module: Any) -> None:
        """Raise an error: modules are written in Java."""
        raise SqlNotSupportedError(f"There is no module '{module_name}'", remedy="register functions")

    def unload_module(self, module_name: str) -> None:
        """Raise an error: the only module has all built-in functions."""
        raise SqlNotSupportedError("Modules cannot be unloaded", seen=module_name)

    def use_modules(self, *module_names: str) -> None:
        """Choose the modules that are used."""
        use_modules(self.session, list(module_names))

    def list_modules(self) -> list[str]:
        """Return the modules that are used."""
        return list(self.session.used_modules)

    def list_full_modules(self) -> list[Any]:
        """Return all modules, and whether they are used."""
        from headrace.table.module import ModuleEntry

        return [ModuleEntry(name, name in self.session.used_modules) for name in self.session.modules]

    # -- tables -------------------------------------------------------------------------------------------------------

    def create_temporary_table(self, path: str, descriptor: TableDescriptor, ignoreIfExists: bool = False) -> None:
        """Create a table that exists as long as the environment."""
        name = self.path(path)
        table = self.described(descriptor, name)
        self.session.manager.create(name, table, temporary=True, ignore=ignoreIfExists)

    def create_table(self, path: str, descriptor: TableDescriptor, ignoreIfExists: bool | None = False) -> None:
        """Create a table in a catalog."""
        name = self.path(path)
        table = self.described(descriptor, name)
        self.session.manager.create(name, table, temporary=False, ignore=bool(ignoreIfExists))

    def described(self, descriptor: object, name: Name, columns: ResolvedSchema | None = None) -> ResolvedTable:
        """Return the table of a descriptor; `columns` are those of a query, if it has none."""
        if not isinstance(descriptor, TableDescriptor):
            raise TypeMismatchError("A table is described by a TableDescriptor", seen=descriptor)
        schema = columns or ResolvedSchema(())
        if descriptor.schema is not None:
            elements, text = descriptor.schema.elements(), f"CREATE TABLE t {descriptor.schema}"
            schema = analyse_schema(elements, self.session.manager, self.session.functions(), text)
            schema = with_texts(schema, elements, text)
        if not schema.columns:
            raise SqlValidationError("A table needs a schema", remedy="call schema() of the descriptor's builder")
        for key in descriptor.partition_keys:
            if key not in schema.row_type.field_names():
                raise SqlValidationError(f"The partition key '{key}' is not a column of the table")
        return ResolvedTable(
            name,
            schema,
            tuple(descriptor.options.items()),
            partitioned_by=tuple(descriptor.partition_keys),
            source=ConnectorAccess(),
            comment=descriptor.comment,
        )

    def sink_path(self, target: object, table: Table) -> Name:
        """Return the path of a sink; a descriptor is registered as a temporary table first."""
        if isinstance(target, str):
            return self.path(target)
        from headrace.table.analysis.schemas import schema_of_row

        name = (f"*anonymous_{next(_NUMBERS)}*",)
        made = self.described(target, name, schema_of_row(table.relation.row_type))
        self.session.manager.create(name, made, temporary=True)
        return name

    def create_temporary_view(self, view_path: str, table_or_data_stream: Any, *fields_or_schema: Any) -> None:
        """Create a view of a table or a stream that exists as long as the environment."""
        from headrace.table.table import Table

        table = table_or_data_stream
        if not isinstance(table, Table):
            if not hasattr(self, "from_data_stream"):
                raise TypeMismatchError("create_temporary_view takes a Table", seen=table)
            table = self.from_data_stream(table, *fields_or_schema)
        elif fields_or_schema:
            raise InvalidProgramError("Fields are for streams only; select the columns of a table first")
        self._view(view_path, table, temporary=True, ignore=False)

    def create_view(self, view_path: str, table: Table, ignore_if_exists: bool = False) -> bool:
        """Create a view in a catalog. Return whether it was created."""
        return self._view(view_path, table, temporary=False, ignore=ignore_if_exists)

    def _view(self, path: str, table: Table, temporary: bool, ignore: bool) -> bool:
        if table.t_env is not self:
            raise InvalidProgramError("Only a table of the same TableEnvironment can become a view")
        relation = table.relation
        columns = tuple(ResolvedColumn(field.name, field.data_type) for field in relation.row_type.fields)
        view = ResolvedTable((), ResolvedSchema(columns), view=relation)
        return self.session.manager.create(self.path(path), view, temporary=temporary, ignore=ignore)

    def drop_temporary_view(self, view_path: str) -> bool:
        """Drop a temporary view. Return whether there was one."""
        return self.session.manager.drop(self.path(view_path), view=True, temporary=True, ignore=True)

    def drop_temporary_table(self, table_path: str) -> bool:
        """Drop a temporary table. Return whether there was one."""
        return self.session.manager.drop(self.path(table_path), view=False, temporary=True, ignore=True)

    def drop_table(self, table_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Drop a table of a catalog. Return whether there was one."""
        return self.session.manager.drop(self.path(table_path), view=False, ignore=bool(ignore_if_not_exists))

    def drop_view(self, view_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Drop a view of a catalog. Return whether there was one."""
        return self.session.manager.drop(self.path(view_path), view=True, ignore=bool(ignore_if_not_exists))

    def list_tables(self) -> list[str]:
        """Return the names of tables and views in the current database."""
        return list(self.session.manager.tables())

    def list_views(self) -> list[str]:
        """Return the names of views in the current database."""
        return [name for name, table in self.session.manager.tables().items() if table.is_view]

    def list_temporary_tables(self) -> list[str]:
        """Return the names of temporary tables in the current database."""
        return self._temporary(view=False)

    def list_temporary_views(self) -> list[str]:
        """Return the names of temporary views in the current database."""
        return self._temporary(view=True)

    def _temporary(self, view: bool) -> list[str]:
        here = self.session.manager.current()
        found = self.session.manager.temporary_tables.items()
        return sorted(key[2] for key, table in found if key[:2] == here and table.is_view == view)

    def list_materialized_tables(self) -> list[str]:
        """Return nothing: there are no materialized tables."""
        return []

    # -- functions ----------------------------------------------------------------------------------------------------

    def create_temporary_function(self, path: str, function: Any) -> None:
        """Register a function in the current database, as long as the environment exists."""
        name = self.path(path)
        self.session.manager.create_function(name, self._function(name, function), temporary=True)

    def create_temporary_system_function(self, name: str, function: Any) -> None:
        """Register a function that is found in all databases, as long as the environment exists."""
        made = self._function((name,), function)
        self.session.manager.create_function((name,), made, temporary=True, system=True)

    def _function(self, name: Name, function: Any) -> Any:
        from headrace.table.user_functions import user_function

        if not isinstance(function, UserDefinedFunctionWrapper) and isinstance(function, type):
            raise TypeMismatchError("A function is an instance, not a class", seen=function)
        return user_function(name[-1], function)

    def drop_function(self, path: str) -> bool:
        """Drop a function of a catalog. Return whether there was one."""
        return self.session.manager.drop_function(self.path(path), temporary=False, ignore=True)

    def drop_temporary_function(self, path: str) -> bool:
        """Drop a temporary function. Return whether there was one."""
        return self.session.manager.drop_function(self.path(path), temporary=True, ignore=True)

    def drop_temporary_system_function(self, name: str) -> bool:
        """Drop a temporary system function. Return whether there was one."""
        return self.session.manager.drop_function((name,), temporary=True, system=True, ignore=True)

    def list_functions(self) -> list[str]:
        """Return the names of all functions."""
        from headrace.table.functions.registry import aggregate_functions, scalar_functions, table_functions

        built_in = {**scalar_functions(), **aggregate_functions(), **table_functions()}
        names = {name.lower() for name in built_in if name[:1].isalpha()}
        return sorted(names | set(self.list_user_defined_functions()))

    def list_user_defined_functions(self) -> list[str]:
        """Return the names of the functions of the program and of the current database."""
        return self.session.manager.function_names()

    def create_java_function(self, path: str, function_class_name: str, ignore_if_exists: bool | None = None) -> None:
        """Raise an error: there are no Java functions."""
        raise _no_java(function_class_name)

    def create_java_temporary_function(self, path: str, function_class_name: str) -> None:
        """Raise an error: there are no Java functions."""
        raise _no_java(function_class_name)

    def create_java_temporary_system_function(self, name: str, function_class_name: str) -> None:
        """Raise an error: there are no Java functions."""
        raise _no_java(function_class_name)

    # -- models -------------------------------------------------------------------------------------------------------

    def create_model(self, model_path: str, model_descriptor: Any, ignore_if_exists: bool = False) -> None:
        """Raise an error: models are not supported."""
        raise _no_models()

    def create_temporary_model(self, model_path: str, model_descriptor: Any, ignore_if_exists: bool = False) -> None:
        """Raise an error: models are not supported."""
        raise _no_models()

    def drop_model(self, model_path: str, ignore_if_not_exists: bool = True) -> bool:
        """Return False: there are no models."""
        return False

    def drop_temporary_model(self, model_path: str) -> bool:
        """Return False: there are no models."""
        return False

    def list_models(self) -> list[str]:
        """Return nothing: there are no models."""
        return []

    def list_temporary_models(self) -> list[str]:
        """Return nothing: there are no models."""
        return []


def _no_java(name: str) -> SqlNotSupportedError:
    return SqlNotSupportedError(
        "There are no Java functions", seen=name, remedy="write the function in Python and use udf()"
    )


def _no_models() -> SqlNotSupportedError:
    return SqlNotSupportedError("Models are not supported", remedy="call the model from a Python function")
