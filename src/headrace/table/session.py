"""TableSession: what statements work on: catalogs, options, and the environment that runs jobs.

It is the one place that calls the analyser and the planner. `TableEnvironment` has the methods that programs see.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headrace.table.analysis.entries import analyse_insert, analyse_query
from headrace.table.catalogs.manager import CatalogManager, ViewQuery
from headrace.table.errors import SqlValidationError
from headrace.table.functions.definition import Session
from headrace.table.plan.relations import Relation, Sink
from headrace.table.sql.syntax.queries import Query
from headrace.table.sql.syntax.statements import Insert
from headrace.table.table_config import TIME_ZONE, TableConfig

if TYPE_CHECKING:
    from headrace.datastream import StreamExecutionEnvironment
    from headrace.table.table_result import TableResult

Name = tuple[str, ...]


class TableSession:
    """The state of a TableEnvironment."""

    def __init__(self, env: StreamExecutionEnvironment, config: TableConfig, catalog: str, database: str) -> None:
        """Start with an empty database."""
        self.env, self.config = env, config
        self.manager = CatalogManager(catalog, database)
        self.manager.analyse = self._analyse_view
        self.modules = ["core"]
        self.used_modules = ["core"]

    # -- settings -----------------------------------------------------------------------------------------------------

    @property
    def batch(self) -> bool:
        """Whether queries run in batch mode."""
        return str(self.options().get("execution.runtime-mode", "STREAMING")).upper() == "BATCH"

    def options(self) -> dict[str, str]:
        """Return all options of the session, with its time zone."""
        found = {**self.env.get_configuration().to_dict(), **self.config.to_map()}
        found[TIME_ZONE] = self.config.get_local_timezone()
        return found

    def functions(self) -> Session:
        """Return the settings that functions see."""
        batch = self.batch
        now = time.time_ns() // 1000 if batch else None
        options = tuple(sorted(self.config.to_map().items()))
        return Session(self.config.get_local_timezone(), batch, now, options, self.manager.current_database or "")

    def database_name(self, name: Name) -> tuple[str, str]:
        """Return catalog and database of a database's name."""
        if len(name) == 2:
            return name[0], name[1]
        return self.manager.current()[0], name[0]

    # -- meaning ------------------------------------------------------------------------------------------------------

    def analyse(self, query: Query, text: str | None = None) -> Relation:
        """Return the relation of a query."""
        return analyse_query(query, self.manager, self.functions(), text)

    def _analyse_view(self, view: ViewQuery) -> Relation:
        return analyse_query(view.query, self.manager, self.functions())

    def analyse_insert(self, node: Insert, text: str | None = None) -> Sink:
        """Return the sink of an INSERT statement."""
        return analyse_insert(node, self.manager, self.functions(), text)

    def sink(self, relation: Relation, name: Name, overwrite: bool = False) -> Sink:
        """Return the sink that writes a relation to a table."""
        from headrace.table.analysis.inserts import sink

        table = self.manager.get(name)
        if table.is_view:
            raise SqlValidationError(f"'{'.'.join(name)}' is a view; a sink needs a table")
        return sink(relation, table, overwrite=overwrite)

    # -- jobs ---------------------------------------------------------------------------------------------------------

    def query(self, relation: Relation) -> TableResult:
        """Start the job of a query and return its rows."""
        from headrace.table.jobs import start_query

        return start_query(self, relation)

    def insert(self, sinks: Sequence[Sink]) -> TableResult:
        """Start one job for some sinks."""
        from headrace.table.jobs import start_inserts

        return start_inserts(self, sinks)

    def attach(self, sinks: Sequence[Sink]) -> None:
        """Add sinks to the job of the stream environment."""
        from headrace.table.jobs import attach

        attach(self, sinks)

    def insert_relation(self, relation: Relation, name: Name, overwrite: bool = False) -> TableResult:
        """Start the job that writes a relation to a table."""
        return self.insert([self.sink(relation, name, overwrite)])

    def explain(self, relations: Sequence[Relation], details: Sequence[int] = ()) -> str:
        """Return the plans of queries and sinks."""
        from headrace.table.jobs import explain

        return explain(self, relations, details)

    def job_environment(self) -> StreamExecutionEnvironment:
        """Return the environment of a job of its own."""
        return self.env.separate(self.job_options())

    def job_options(self) -> Mapping[str, str]:
        """Return the options of the session that jobs may have."""
        options = self.config.to_map()
        parallelism = self.config.get("table.exec.resource.default-parallelism", "-1")
        return options if int(parallelism) <= 0 else {**options, "parallelism.default": parallelism}
