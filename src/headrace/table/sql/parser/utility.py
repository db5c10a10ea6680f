"""Statements for inspection and settings: EXPLAIN, DESCRIBE, SHOW, USE, SET, modules, jars, jobs."""

from __future__ import annotations

from headrace.table.sql.parser.changes import Changes
from headrace.table.sql.syntax.node import Name
from headrace.table.sql.syntax.statements import (
    AnalyzeTable,
    CreateTable,
    Describe,
    Explain,
    Jar,
    ModuleStatement,
    PartitionValue,
    SetOption,
    Show,
    Statement,
    StopJob,
    Use,
)

_DETAILS = ("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE")
_DESCRIBED = ("CATALOG", "DATABASE", "FUNCTION", "MODEL", "CONNECTION")
_CREATED = ("TABLE", "VIEW", "CATALOG", "MODEL", "CONNECTION")
_LISTS = {
    "TABLES": ("LIKE",),
    "VIEWS": ("LIKE",),
    "MODELS": ("LIKE",),
    "CONNECTIONS": ("LIKE",),
    "DATABASES": ("LIKE", "ILIKE"),
    "FUNCTIONS": ("LIKE", "ILIKE"),
    "PROCEDURES": ("LIKE", "ILIKE"),
}
"""What SHOW lists of a database or catalog, and how the list can be filtered."""


class Utility(Changes):
    """Rules for statements that do not change data."""

    def explain(self) -> Statement:
        """`EXPLAIN [PLAN FOR | details] statement`."""
        position = self.need("EXPLAIN")
        details: tuple[str, ...] = ()
        if not self.take("PLAN", "FOR") and self.at(*_DETAILS):
            details = self.separated(lambda: self.need_any(*_DETAILS))
        if self.at("EXECUTE"):
            return Explain(self.execute(), details, position=position)
        if self.at("CREATE", "REPLACE"):
            where = self.token.position
            created = self.create() if self.at("CREATE") else self.replace_table()
            if not isinstance(created, CreateTable) or created.query is None:
                self.fail("EXPLAIN takes CREATE TABLE only with AS and a query", where)
            return Explain(created, details, position=position)
        return Explain(self.changing(), details, position=position)

    def describe(self) -> Statement:
        """`DESCRIBE [kind] [EXTENDED] name`."""
        position = self.token.position
        self.need_any("DESCRIBE", "DESC")
        if self.take("JOB"):
            return Describe("JOB", self.string(), position=position)
        if self.at(*_DESCRIBED) and self.peek().key != ".":
            kind = self.advance().key
            extended = self.take("EXTENDED")
            return Describe(kind, self.name(), extended, position=position)
        if self.take("STATEMENT") or (self.starts_query() and not self.at("TABLE")) or self.at("("):
            return Explain(self.changing(), position=position)
        if self.at("INSERT", "UPSERT", "DELETE", "UPDATE", "MERGE"):
            rule = {"DELETE": self.delete, "UPDATE": self.update, "MERGE": self.merge}.get(self.token.key, self.insert)
            return Explain(rule(), position=position)
        if self.take("TABLE"):
            found = Describe("TABLE", self.name(), position=position)
            if self.is_identifier():
                self.identifier()
            return found
        extended = self.take("EXTENDED")
        return Describe("TABLE", self.name(), extended, position=position)

    # -- SHOW -----------------------------------------------------------------------------------------------------

    def show(self) -> Statement:
        """`SHOW ...`."""
        position = self.need("SHOW")
        if self.take("CREATE"):
            return self._show_create(position)
        if self.take("CURRENT"):
            return Show(f"CURRENT {self.need_any('CATALOG', 'DATABASE')}", position=position)
        if self.take("FULL"):
            self.need("MODULES")
            return Show("FULL MODULES", position=position)
        if self.at("MODULES", "JARS", "JOBS"):
            return Show(self.advance().key, position=position)
        if self.take("CATALOGS"):
            return self._filtered("CATALOGS", None, ("LIKE", "ILIKE"), position)
        if self.take("COLUMNS"):
            self.need_any("FROM", "IN")
            return self._filtered("COLUMNS", self.name(), ("LIKE",), position)
        if self.take("PARTITIONS"):
            name = self.name()
            partition: tuple[PartitionValue, ...] = self.partition() if self.take("PARTITION") else ()
            return Show("PARTITIONS", name, partition=partition, position=position)
        prefix = ""
        if self.take("USER"):
            prefix = "USER "
            if not self.at("FUNCTIONS"):
                self.need("FUNCTIONS")
        elif self.take("MATERIALIZED"):
            prefix = "MATERIALIZED "
            if not self.at("TABLES"):
                self.need("TABLES")
        what = self.need_any(*_LISTS)
        source = self.name() if self.take_any("FROM", "IN") else None
        return self._filtered(prefix + what, source, _LISTS[what], position)

    def _show_create(self, position: int) -> Statement:
        if self.take("MATERIALIZED"):
            self.need("TABLE")
            return Show("CREATE MATERIALIZED TABLE", self.name(), position=position)
        kind = self.need_any(*_CREATED)
        return Show(f"CREATE {kind}", self.name(), position=position)

    def _filtered(self, what: str, source: Name | None, kinds: tuple[str, ...], position: int) -> Statement:
        negated = self.take("NOT")
        if negated and not self.at(*kinds):
            self.need(*kinds)
        kind = self.take_any(*kinds)
        pattern = self.string() if kind else None
        return Show(what, None, source, pattern, kind, negated, position=position)

    # -- session --------------------------------------------------------------------------------------------------

    def use(self) -> Statement:
        """`USE [CATALOG] name` or `USE MODULES a, b`."""
        position = self.need("USE")
        if self.take("MODULES"):
            return Use("MODULES", self.separated(lambda: (self.identifier(),)), position=position)
        if self.at("CATALOG") and self.peek().key != ".":
            self.advance()
            return Use("CATALOG", ((self.identifier(),),), position=position)
        return Use("DATABASE", (self.name(),), position=position)

    def set_option(self) -> Statement:
        """`SET 'key' = 'value'`."""
        position = self.need("SET")
        if self.token.kind != "string" and (self.token.kind == "end" or self.at(";")):
            return SetOption(position=position)
        key = self.string()
        self.need("=")
        return SetOption(key, self.string(), position=position)

    def reset_option(self) -> Statement:
        """`RESET 'key'`."""
        position = self.need("RESET")
        if self.token.kind == "end" or self.at(";"):
            return SetOption(reset=True, position=position)
        return SetOption(self.string(), reset=True, position=position)

    def module(self) -> Statement:
        """`LOAD MODULE name [WITH (...)]` or `UNLOAD MODULE name`."""
        position = self.token.position
        load = self.need_any("LOAD", "UNLOAD") == "LOAD"
        self.need("MODULE")
        name = self.identifier()
        return ModuleStatement(name, load, self.with_options() if load else (), position=position)

    def jar(self) -> Statement:
        """`ADD JAR 'path'` or `REMOVE JAR 'path'`."""
        position = self.token.position
        add = self.need_any("ADD", "REMOVE") == "ADD"
        self.need("JAR")
        return Jar(self.string(), add, position=position)

    def analyze(self) -> Statement:
        """`ANALYZE TABLE ...`."""
        position = self.need("ANALYZE", "TABLE")
        table = self.name()
        partition = self.partition(open_ended=True) if self.take("PARTITION") else ()
        self.need("COMPUTE", "STATISTICS")
        if not self.take("FOR"):
            return AnalyzeTable(table, partition, position=position)
        if self.take("ALL"):
            self.need("COLUMNS")
            return AnalyzeTable(table, partition, all_columns=True, position=position)
        self.need("COLUMNS")
        return AnalyzeTable(table, partition, self.separated(self.identifier), position=position)

    def stop_job(self) -> Statement:
        """`STOP JOB 'id' [WITH SAVEPOINT [WITH DRAIN]]`."""
        position = self.need("STOP", "JOB")
        job_id = self.string()
        savepoint = drain = False
        if self.take("WITH"):
            self.need("SAVEPOINT")
            savepoint = True
            if self.take("WITH"):
                self.need("DRAIN")
                drain = True
        return StopJob(job_id, savepoint, drain, position=position)
