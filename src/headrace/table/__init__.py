"""Flink's Table API and SQL: tables, SQL statements, and conversions of streams and tables.

from headrace.table import EnvironmentSettings, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.execute_sql("SELECT name, COUNT(*) FROM orders GROUP BY name").print()
"""

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
