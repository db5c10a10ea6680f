"""TablePipeline: a query with the table that it is written to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.table.catalogs.catalog import ObjectIdentifier
from headrace.table.errors import SqlNotSupportedError
from headrace.table.plan.relations import Sink

if TYPE_CHECKING:
    from headrace.table.table_environment import TableEnvironment
    from headrace.table.table_result import TableResult

__all__ = ["TablePipeline"]


class TablePipeline:
    """A query with its sink; `Table.insert_into` makes it."""

    def __init__(self, sink: Sink, t_env: TableEnvironment) -> None:
        """Programs call `Table.insert_into`."""
        self.sink, self._t_env = sink, t_env

    def execute(self) -> TableResult:
        """Start the job."""
        return self._t_env.session.insert([self.sink])

    def explain(self, *extra_details: int) -> str:
        """Return the plan."""
        return self._t_env.session.explain([self.sink], extra_details)

    def print_explain(self, *extra_details: int) -> None:
        """Print the plan."""
        print(self.explain(*extra_details))  # noqa: T201

    def compile_plan(self) -> None:
        """Raise an error: plans are not stored."""
        raise SqlNotSupportedError("Plans are not stored", remedy="run the pipeline itself")

    def get_sink_identifier(self) -> ObjectIdentifier | None:
        """Return the name of the table, None if it has none."""
        return ObjectIdentifier(*self.sink.name) if len(self.sink.name) == 3 else None
