"""Statements that change data, sets of them, and plans."""

from __future__ import annotations

from headrace.table.sql.parser.alter import Alter
from headrace.table.sql.syntax.expressions import Expression
from headrace.table.sql.syntax.node import Name, Node
from headrace.table.sql.syntax.statements import (
    CallProcedure,
    CompilePlan,
    Delete,
    Execute,
    ExecutePlan,
    Insert,
    Merge,
    PartitionValue,
    Statement,
    StatementSet,
    StatementSetEdge,
    TruncateTable,
    Update,
)
from headrace.table.sql.syntax.types import TypeField


class Changes(Alter):
    """Rules for INSERT, UPDATE, DELETE, MERGE, TRUNCATE, CALL, statement sets and plans."""

    def insert(self) -> Insert:
        """`INSERT INTO`, `INSERT OVERWRITE` or `UPSERT INTO`."""
        position = self.token.position
        upsert = self.need_any("INSERT", "UPSERT") == "UPSERT"
        overwrite = not upsert and self.take("OVERWRITE")
        if not overwrite:
            self.need("INTO")
        table = self.name()
        hints = self.hints() if self.at("/*+") else ()
        extra_columns = self._extra_columns()
        partition: tuple[PartitionValue, ...] = self.partition() if self.take("PARTITION") else ()
        columns: tuple[Name, ...] = ()
        if self.at("(") and self.is_identifier(self.peek()):
            columns = self.columns_of_names()
        query = self.query()
        conflict = None
        if self.take("ON"):
            self.need("CONFLICT", "DO")
            conflict = self.need_any("NOTHING", "DEDUPLICATE", "ERROR")
        return Insert(
            table, query, partition, columns, overwrite, upsert, hints, conflict, extra_columns, position=position
        )

    def delete(self) -> Statement:
        """`DELETE FROM table [alias] [WHERE ...]`."""
        position = self.need("DELETE", "FROM")
        table = self.name()
        hints = self.hints() if self.at("/*+") else ()
        alias = self._alias()
        where = self.expression() if self.take("WHERE") else None
        return Delete(table, alias, where, hints, position=position)

    def update(self) -> Statement:
        """`UPDATE table [alias] SET ... [WHERE ...]`."""
        position = self.need("UPDATE")
        table = self.name()
        hints = self.hints() if self.at("/*+") else ()
        extra_columns = self._extra_columns()
        alias = self._alias()
        self.need("SET")
        assignments = self.separated(lambda: self._assignment((self.identifier(),)))
        where = self.expression() if self.take("WHERE") else None
        return Update(table, assignments, alias, where, hints, extra_columns, position=position)

    def _extra_columns(self) -> tuple[TypeField, ...]:
        """`[EXTEND] (column type, ...)` after the target table."""
        if self.take("EXTEND") or (self.at("(") and self.is_identifier(self.peek()) and self._declares_column()):
            return self.parenthesized(self._extra_column)
        return ()

    def _alias(self) -> str | None:
        return self.identifier() if self.take("AS") or self.is_identifier() else None

    def _assignment(self, column: Name) -> tuple[Name, Expression]:
        self.need("=")
        return column, self.expression()

    def merge(self) -> Statement:
        """`MERGE INTO ...`."""
        position = self.need("MERGE", "INTO")
        table = self.name()
        hints = self.hints() if self.at("/*+") else ()
        alias = self._alias()
        self.need("USING")
        source = self.relation()
        self.need("ON")
        condition = self.expression()
        updates = None
        columns: tuple[Name, ...] = ()
        row: Expression | None = None
        if not self.at("WHEN"):
            self.need("WHEN")
        if self.take("WHEN", "MATCHED"):
            self.need("THEN", "UPDATE", "SET")
            updates = self.separated(lambda: self._assignment(self.name()))
        if self.take("WHEN", "NOT", "MATCHED"):
            self.need("THEN", "INSERT")
            columns = self.columns_of_names() if self.at("(") and self.is_identifier(self.peek()) else ()
            enclosed = self.take("(")
            self.need("VALUES")
            row = self._values_row()
            if enclosed:
                self.need(")")
        return Merge(table, alias, source, condition, updates, columns, row, hints, position=position)

    def truncate(self) -> Statement:
        """`TRUNCATE TABLE name`."""
        position = self.need("TRUNCATE", "TABLE")
        return TruncateTable(self.name(), position=position)

    def call_procedure(self) -> Statement:
        """`CALL procedure(...)`."""
        position = self.need("CALL")
        found = self.special_call()
        return CallProcedure(found or self.call(self.name(), position), position=position)

    # -- sets and plans -------------------------------------------------------------------------------------------

    def statement_set(self) -> StatementSet:
        """`STATEMENT SET BEGIN insert; ... END`."""
        position = self.need("STATEMENT", "SET", "BEGIN")
        inserts: list[Statement] = []
        while not inserts or not self.at("END"):
            inserts.append(self.insert())
            self.need(";")
        self.need("END")
        return StatementSet(tuple(inserts), position=position)

    def begin(self) -> Statement:
        """`BEGIN STATEMENT SET`."""
        position = self.need("BEGIN", "STATEMENT", "SET")
        return StatementSetEdge(True, position=position)

    def end(self) -> Statement:
        """`END` of a statement set."""
        position = self.need("END")
        return StatementSetEdge(False, position=position)

    def changing(self) -> Node:
        """The operand of EXECUTE, EXPLAIN and plans: a statement set, an insert or a query."""
        if self.at("STATEMENT"):
            return self.statement_set()
        return self.insert() if self.at("INSERT", "UPSERT") else self.query()

    def execute(self) -> Statement:
        """`EXECUTE statement` or `EXECUTE PLAN 'file'`."""
        position = self.need("EXECUTE")
        if self.take("PLAN"):
            return ExecutePlan(self.strings(), position=position)
        return Execute(self.changing(), position=position)

    def compile_plan(self) -> Statement:
        """`COMPILE [AND EXECUTE] PLAN 'file' FOR statement`."""
        position = self.need("COMPILE")
        execute = self.take("AND", "EXECUTE")
        self.need("PLAN")
        path = self.strings()
        if_not_exists = not execute and self.if_not_exists()
        self.need("FOR")
        statement = self.statement_set() if self.at("STATEMENT") else self.insert()
        return CompilePlan(path, statement, if_not_exists, execute, position=position)
