"""Tables in memory, and the way from SQL to a plan and to the rows of a job on the local executor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from headrace.common import Configuration
from headrace.datastream import DataStream, StreamExecutionEnvironment
from headrace.table.analysis.catalog_view import ResolvedTable
from headrace.table.analysis.entries import analyse_insert, analyse_query, analyse_table
from headrace.table.changelog_mode import ChangelogMode
from headrace.table.connectors.access import SourceAccess
from headrace.table.connectors.base import TableSink, TableSource
from headrace.table.plan.describe import Text, description
from headrace.table.plan.nodes.base import Node
from headrace.table.plan.planner import PhysicalPlan, plan, translate
from headrace.table.plan.settings import PlanSettings
from headrace.table.sql import parse_statements

Row = tuple[Any, ...]


class Rows(TableSource):
    """Given rows in internal form."""

    def __init__(self, rows: Iterable[Row], mode: ChangelogMode, projects: bool = False) -> None:
        self.rows, self.changelog_mode, self._projects = list(rows), mode, projects

    def stream(self, env: StreamExecutionEnvironment, name: str) -> DataStream:
        return env.from_collection(self.rows).name(name)

    def projected(self, columns: tuple[int, ...]) -> TableSource | None:
        if not self._projects:
            return None
        return Rows([tuple(row[c] for c in columns) for row in self.rows], self.changelog_mode)


class Printed(TableSink):
    """Takes some kinds of changes and prints them."""

    def __init__(self, mode: ChangelogMode | None) -> None:
        self._mode = mode

    def changelog_mode(self, requested: ChangelogMode) -> ChangelogMode:
        return self._mode or requested

    def consume(self, stream: DataStream, name: str) -> Any:
        return stream.print().name(name)


class Access(SourceAccess):
    """Reads given rows, writes to the console."""

    def __init__(self, source: TableSource, mode: ChangelogMode | None) -> None:
        super().__init__(source)
        self._mode = mode

    def sink(self, table: Any, options: Any = (), **more: Any) -> TableSink:
        return Printed(self._mode)


class Tables:
    """A catalog whose tables are made of DDL and rows."""

    def __init__(self) -> None:
        self._tables: dict[str, ResolvedTable] = {}

    def create(
        self,
        ddl: str,
        rows: Iterable[Row] = (),
        mode: ChangelogMode | None = None,
        takes: ChangelogMode | None = None,
        projects: bool = False,
    ) -> Tables:
        [node] = parse_statements(f"CREATE TABLE {ddl} WITH ('connector' = 'memory')")
        table, _ = analyse_table(node, self)  # type: ignore[arg-type]
        source = Rows(rows, mode or ChangelogMode.insert_only(), projects)
        name = ("default_catalog", "default_database", table.name[-1])
        self._tables[table.name[-1]] = replace(table, name=name, source=Access(source, takes))
        return self

    def view(self, name: str, query: str) -> Tables:
        """Add a view."""
        [node] = parse_statements(query)
        self._tables[name] = ResolvedTable(("default_catalog", "default_database", name), view=node)  # type: ignore[arg-type]
        return self

    def replace_access(self, name: str, access: SourceAccess) -> None:
        """Let a table be read and written in another way."""
        self._tables[name] = replace(self._tables[name], source=access)

    def resolve(self, name: tuple[str, ...]) -> ResolvedTable | None:
        return self._tables.get(name[-1])

    def function(self, name: tuple[str, ...]) -> None:
        return None

    def table_names(self) -> list[str]:
        return list(self._tables)

    def function_names(self) -> list[str]:
        return []

    def plan(self, sql: str, settings: PlanSettings | None = None) -> PhysicalPlan:
        """Return the plan of a statement."""
        settings = settings or PlanSettings()
        [node] = parse_statements(sql)
        if sql.lstrip().upper().startswith("INSERT"):
            return plan(analyse_insert(node, self, settings.session, sql), settings)  # type: ignore[arg-type]
        return plan(analyse_query(node, self, settings.session, sql), settings)  # type: ignore[arg-type]

    def rows(self, sql: str, settings: PlanSettings | None = None, parallelism: int = 1) -> list[Row]:
        """Return the rows of a query, run on the local executor, with kinds if it has any."""
        env = local_environment(parallelism)
        return list(translate(self.plan(sql, settings), env).stream.execute_and_collect())


def local_environment(parallelism: int = 1) -> StreamExecutionEnvironment:
    """Return an environment without a JVM."""
    configuration = Configuration().set_string("headrace.executor", "local")
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(parallelism)


def lines(node: Node, depth: int = 0) -> list[str]:
    """Return the nodes of a plan with their changelog modes, indented."""
    found = ["  " * depth + description(node, Text(), changelog=True)]
    for each in node.inputs:
        found += lines(each, depth + 1)
    return found


def labels(node: Node) -> list[str]:
    """Return the names of the nodes of a plan, the root first."""
    return [node.label, *(label for each in node.inputs for label in labels(each))]


def find(node: Node, label: str) -> Node:
    """Return the first node with a name."""
    waiting = [node]
    while waiting:
        each = waiting.pop(0)
        if each.label == label:
            return each
        waiting += each.inputs
    raise AssertionError(f"no {label} in {labels(node)}")
