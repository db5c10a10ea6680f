"""Flink's Table API and SQL: tables, SQL statements, and conversions of streams and tables.

    from headrace.table import EnvironmentSettings, TableEnvironment

    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.execute_sql("SELECT name, COUNT(*) FROM orders GROUP BY name").print()

Names are imported when they are first used, so that parts of the package can be used without the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headrace.table.changelog_mode import ChangelogMode
    from headrace.table.environment_settings import EnvironmentSettings
    from headrace.table.explain_detail import ExplainDetail
    from headrace.table.module import ModuleEntry
    from headrace.table.result_kind import ResultKind
    from headrace.table.schema import Schema
    from headrace.table.sql_dialect import SqlDialect
    from headrace.table.statement_set import StatementSet
    from headrace.table.table import Table
    from headrace.table.table_config import TableConfig
    from headrace.table.table_descriptor import FormatDescriptor, TableDescriptor
    from headrace.table.table_environment import StreamTableEnvironment, TableEnvironment
    from headrace.table.table_pipeline import TablePipeline
    from headrace.table.table_result import TableResult
    from headrace.table.table_schema import TableSchema
    from headrace.table.udf import FunctionContext, ScalarFunction, TableFunction
    from headrace.types.data_types import DataTypes
    from headrace.types.row import Row, RowKind

__all__ = [
    "ChangelogMode",
    "DataTypes",
    "EnvironmentSettings",
    "ExplainDetail",
    "FormatDescriptor",
    "FunctionContext",
    "ModuleEntry",
    "ResultKind",
    "Row",
    "RowKind",
    "ScalarFunction",
    "Schema",
    "SqlDialect",
    "StatementSet",
    "StreamTableEnvironment",
    "Table",
    "TableConfig",
    "TableDescriptor",
    "TableEnvironment",
    "TableFunction",
    "TablePipeline",
    "TableResult",
    "TableSchema",
]

_HOMES = {
    "headrace.table.changelog_mode": "ChangelogMode",
    "headrace.table.environment_settings": "EnvironmentSettings",
    "headrace.table.explain_detail": "ExplainDetail",
    "headrace.table.module": "ModuleEntry",
    "headrace.table.result_kind": "ResultKind",
    "headrace.table.schema": "Schema",
    "headrace.table.sql_dialect": "SqlDialect",
    "headrace.table.statement_set": "StatementSet",
    "headrace.table.table": "Table",
    "headrace.table.table_config": "TableConfig",
    "headrace.table.table_descriptor": "FormatDescriptor TableDescriptor",
    "headrace.table.table_environment": "StreamTableEnvironment TableEnvironment",
    "headrace.table.table_pipeline": "TablePipeline",
    "headrace.table.table_result": "TableResult",
    "headrace.table.table_schema": "TableSchema",
    "headrace.table.udf": "FunctionContext ScalarFunction TableFunction",
    "headrace.types.data_types": "DataTypes",
    "headrace.types.row": "Row RowKind",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
