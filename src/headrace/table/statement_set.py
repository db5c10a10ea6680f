"""StatementSet: several INSERTs that run as one job, in which equal parts run once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.table.errors import SqlNotSupportedError
from headrace.table.plan.relations import Sink
from headrace.table.table_pipeline import TablePipeline

if TYPE_CHECKING:
    from typing_extensions import Self

    from headrace.table.table import Table
    from headrace.table.table_descriptor import TableDescriptor
    from headrace.table.table_environment import TableEnvironment
    from headrace.table.table_result import TableResult

__all__ = ["StatementSet"]


class StatementSet:
    """INSERT statements and tables with sinks, to be run as one job.

    >>> from headrace.table import EnvironmentSettings, TableEnvironment
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> result = t_env.execute_sql("CREATE TABLE results (a INT) WITH ('connector' = 'blackhole')")
    >>> statements = t_env.create_statement_set().add_insert_sql("INSERT INTO results VALUES (1)")
    """

    def __init__(self, t_env: TableEnvironment) -> None:
        """Programs call `TableEnvironment.create_statement_set`."""
        self._t_env = t_env
        self._sinks: list[Sink] = []

    def add_insert_sql(self, stmt: str) -> Self:
        """Add an INSERT statement."""
        from headrace.table.statements.dispatch import insert_of

        self._sinks.append(insert_of(self._t_env.session, stmt))
        return self

    def add_insert(
        self, target_path_or_descriptor: str | TableDescriptor, table: Table, overwrite: bool = False
    ) -> Self:
        """Add a table and the table that it is written to."""
        return self.add(table.insert_into(target_path_or_descriptor, overwrite))

    def add(self, table_pipeline: TablePipeline) -> Self:
        """Add a pipeline."""
        if not isinstance(table_pipeline, TablePipeline):
            raise TypeMismatchError("add takes a TablePipeline", seen=table_pipeline)
        self._sinks.append(table_pipeline.sink)
        return self

    def explain(self, *extra_details: int) -> str:
        """Return the plan of all statements."""
        return self._t_env.session.explain(self._sinks, extra_details)

    def print_explain(self, *extra_details: int) -> None:
        """Print the plan of all statements."""
        print(self.explain(*extra_details))  # noqa: T201

    def compile_plan(self) -> None:
        """Raise an error: plans are not stored."""
        raise SqlNotSupportedError("Plans are not stored", remedy="execute the statement set itself")

    def execute(self) -> TableResult:
        """Start one job for all statements. The set is empty afterwards."""
        if not self._sinks:
            raise InvalidProgramError("The statement set is empty", remedy="add statements with add_insert_sql()")
        sinks, self._sinks = self._sinks, []
        return self._t_env.session.insert(sinks)

    def attach_as_datastream(self) -> None:
        """Add the statements to the job of the StreamExecutionEnvironment, which its `execute` starts."""
        sinks, self._sinks = self._sinks, []
        self._t_env.session.attach(sinks)
