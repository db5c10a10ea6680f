"""TableEnvironment: runs SQL and makes tables. StreamTableEnvironment also converts streams and tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from headrace.config.configuration import Configuration
from headrace.errors import TypeMismatchError
from headrace.table.analysis.catalog_view import ResolvedColumn, ResolvedSchema, ResolvedTable
from headrace.table.analysis.tables import scan
from headrace.table.connectors.access import SourceAccess
from headrace.table.connectors.base import TableSource
from headrace.table.environment_catalogs import EnvironmentCatalogs
from headrace.table.environment_settings import EnvironmentSettings
from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.session import TableSession
from headrace.table.sql.syntax.queries import Query
from headrace.table.statement_set import StatementSet
from headrace.table.statements.dispatch import execute, explained, only_statement
from headrace.table.table import Table
from headrace.table.table_config import TableConfig
from headrace.table.table_result import TableResult
from headrace.types.logical_types import DataType, RowType

if TYPE_CHECKING:
    from headrace.datastream import DataStream, StreamExecutionEnvironment
    from headrace.table.changelog_mode import ChangelogMode
    from headrace.table.schema import Schema
    from headrace.types.typeinfo import TypeInformation

__all__ = ["StreamTableEnvironment", "TableEnvironment"]

_NUMBERS = itertools.count()


class TableEnvironment(EnvironmentCatalogs):
    """Runs SQL statements, and makes tables of elements, of SQL and of catalogs.

    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> t_env.execute_sql("CREATE TABLE orders (id BIGINT) WITH ('connector' = 'datagen')").get_result_kind()
    0
    >>> t_env.list_tables()
    ['orders']
    """

    def __init__(self, env: StreamExecutionEnvironment, settings: EnvironmentSettings) -> None:
        """Programs call `create`."""
        super().__init__(
            TableSession(
                env,
                TableConfig(settings.get_configuration()),
                settings.get_built_in_catalog_name(),
                settings.get_built_in_database_name(),
            )
        )

    @staticmethod
    def create(environment_settings: EnvironmentSettings | Configuration) -> TableEnvironment:
        """Return a new environment."""
        from headrace.datastream import StreamExecutionEnvironment

        settings = _settings(environment_settings)
        env = StreamExecutionEnvironment.get_execution_environment(settings.get_configuration())
        return TableEnvironment(env, settings)

    def get_config(self) -> TableConfig:
        """Return the options, which apply to all statements that follow."""
        return self.session.config

    # -- statements ---------------------------------------------------------------------------------------------------

    def execute_sql(self, stmt: str) -> TableResult:
        """Run a statement. A query or an INSERT starts a job and does not wait for it."""
        return execute(self.session, _text(stmt, "execute_sql"))

    def sql_query(self, query: str) -> Table:
        """Return the table of a query, which does not run yet."""
        node = only_statement(_text(query, "sql_query"), "sql_query")
        if not isinstance(node, Query):
            raise SqlValidationError(
                "Unsupported SQL query! sql_query() only accepts a single SQL query of type SELECT, UNION, INTERSECT, "
                "EXCEPT, VALUES, WITH, and ORDER_BY.",
                remedy="use execute_sql()",
            )
        return Table(self.session.analyse(node, query), self)

    def explain_sql(self, stmt: str, *extra_details: int) -> str:
        """Return the plan of a query, an INSERT or a statement set."""
        node = only_statement(_text(stmt, "explain_sql"), "explain_sql")
        return self.session.explain(explained(self.session, node, stmt), extra_details)

    def create_statement_set(self) -> StatementSet:
        """Return a set of INSERTs that run as one job."""
        return StatementSet(self)

    # -- tables -------------------------------------------------------------------------------------------------------

    def from_path(self, path: str) -> Table:
        """Return a table or view of a catalog, by a path such as `db.t`."""
        from headrace.table.sql.syntax.queries import ExplicitTable

        return Table(self.session.analyse(ExplicitTable(self.path(path))), self)

    def from_elements(
        self,
        elements: Iterable[Any],
        schema: DataType | list[str] | None = None,
        verify_schema: bool = True,
    ) -> Table:
        """Return a table of the program's own rows.

        `schema` is a row type, or the names of columns whose types are inferred.
        """
        from headrace.table.elements import ElementSource, rows_of

        zone = self.get_config().get_local_timezone()
        row_type, rows = rows_of(elements, schema, zone, verify_schema)
        return self.source_table(ElementSource(rows), row_type, "PythonInputFormat")

    def from_pandas(self, pdf: Any, schema: Any = None, splits_num: int = 1) -> Table:
        """Return a table of the rows of a pandas DataFrame."""
        from headrace.table.pandas_frames import frame_rows

        del splits_num  # the rows are read by one subtask
        rows, names = frame_rows(pdf)
        return self.from_elements(rows, schema if schema is not None else names)

    def from_descriptor(self, descriptor: Any) -> Table:
        """Return a table with a connector that is in no catalog."""
        table = self.described(descriptor, ("*anonymous*",))
        return Table(scan(table), self)

    def source_table(self, source: TableSource, row_type: RowType, name: str) -> Table:
        """Return the table of a source that is in no catalog."""
        schema = ResolvedSchema(
            tuple(ResolvedColumn(f.name, f.data_type, comment=f.description) for f in row_type.fields)
        )
        table = ResolvedTable((f"{name}${next(_NUMBERS)}",), schema, source=SourceAccess(source))
        return Table(scan(table), self)

    def register_unnamed(self, table: Table) -> str:
        """Register a table under a name that SQL can use. Return the name, quoted."""
        name = f"UnnamedTable${next(_NUMBERS)}"
        self.create_temporary_view(f"`{name}`", table)
        return f"`{name}`"

    # -- Python -------------------------------------------------------------------------------------------------------

    def add_python_file(self, file_path: str) -> None:
        """Make a Python file or package available to functions in tasks."""
        self.session.env.add_python_file(file_path)

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        """Name a file with the packages that functions need."""
        self.session.env.set_python_requirements(requirements_file_path, requirements_cache_dir)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Make an archive available to functions in tasks."""
        self.session.env.add_python_archive(archive_path, target_dir)

    # -- plans --------------------------------------------------------------------------------------------------------

    def compile_plan_sql(self, stmt: str) -> None:
        """Raise an error: plans are not stored."""
        raise SqlNotSupportedError("Plans are not stored", seen=stmt, remedy="run the statement with execute_sql()")

    def load_plan(self, plan_reference: Any) -> None:
        """Raise an error: plans are not stored."""
        raise SqlNotSupportedError("Plans are not stored", remedy="run statements with execute_sql()")

    def execute_plan(self, plan_reference: Any) -> None:
        """Raise an error: plans are not stored."""
        raise SqlNotSupportedError("Plans are not stored", remedy="run statements with execute_sql()")


class StreamTableEnvironment(TableEnvironment):
    """A TableEnvironment on top of a StreamExecutionEnvironment, with conversions of streams and tables.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> t_env = StreamTableEnvironment.create(env)
    >>> from headrace.common import Types
    >>> stream = env.from_collection([(1, "a")], Types.ROW_NAMED(["id", "text"], [Types.LONG(), Types.STRING()]))
    >>> t_env.from_data_stream(stream).get_schema().get_field_names()
    ['id', 'text']
    """

    @staticmethod
    def create(  # type: ignore[override]
        stream_execution_environment: StreamExecutionEnvironment | None = None,
        environment_settings: EnvironmentSettings | Configuration | None = None,
    ) -> StreamTableEnvironment:
        """Return a new environment that runs its jobs like `stream_execution_environment`."""
        from headrace.datastream import StreamExecutionEnvironment

        env = stream_execution_environment
        if env is not None and not isinstance(env, StreamExecutionEnvironment):
            raise TypeMismatchError("create takes a StreamExecutionEnvironment", seen=env)
        settings = (
            EnvironmentSettings.in_streaming_mode() if environment_settings is None else _settings(environment_settings)
        )
        if env is None:
            env = StreamExecutionEnvironment.get_execution_environment(settings.get_configuration())
        elif environment_settings is None:
            settings = EnvironmentSettings.new_instance().build()
        return StreamTableEnvironment(env, settings)

    def from_data_stream(self, data_stream: DataStream, *fields_or_schema: Schema | Any) -> Table:
        """Return the table of a stream: a column for each field of its rows, or the columns of a schema."""
        from headrace.table.bridge import from_stream

        return from_stream(self, data_stream, fields_or_schema)

    def from_changelog_stream(
        self, data_stream: DataStream, schema: Schema | None = None, changelog_mode: ChangelogMode | None = None
    ) -> Table:
        """Return the table of a stream of changes: rows with kinds."""
        from headrace.table.bridge import from_changes

        return from_changes(self, data_stream, schema, changelog_mode)

    def to_data_stream(self, table: Table) -> DataStream:
        """Return the rows of a table to which rows are only added; the stream is part of the environment's job."""
        from headrace.table.bridge import to_stream

        return to_stream(self, table)

    def to_changelog_stream(
        self, table: Table, target_schema: Schema | None = None, changelog_mode: ChangelogMode | None = None
    ) -> DataStream:
        """Return the changes of a table: rows with kinds."""
        from headrace.table.bridge import to_changes

        return to_changes(self, table, target_schema, changelog_mode)

    def to_append_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        """Return the rows of a table to which rows are only added, as elements of a type."""
        from headrace.table.bridge import to_append

        return to_append(self, table, type_info)

    def to_retract_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        """Return pairs: whether a row is added (otherwise it is taken back), and the row as an element of a type."""
        from headrace.table.bridge import to_retractions

        return to_retractions(self, table, type_info)


def _settings(given: object) -> EnvironmentSettings:
    if isinstance(given, EnvironmentSettings):
        return given
    if isinstance(given, Configuration):
        return EnvironmentSettings.new_instance().with_configuration(given).build()
    raise TypeMismatchError("create takes EnvironmentSettings or a Configuration", seen=given)


def _text(given: object, call: str) -> str:
    if not isinstance(given, str):
        raise TypeMismatchError(f"{call} takes a statement as a string", seen=given)
    return given
