"""Whole statements, and scripts of several."""

from __future__ import annotations

from collections.abc import Callable

from headrace.table.sql.errors import SqlParseError
from headrace.table.sql.parser.utility import Utility
from headrace.table.sql.syntax.node import Node


class Parser(Utility):
    """All rules."""

    def statements(self) -> list[Node]:
        """Statements with semicolons between them."""
        found = [self.statement()]
        while self.take(";"):
            if self.token.kind == "end":
                break
            if self.token.key != ";":
                found.append(self.statement())
        if self.token.kind != "end":
            self.fail()
        return found

    def statement(self) -> Node:
        """A statement, chosen by its first word."""
        if self.token.kind == "word":
            rule = _STATEMENTS.get(self.token.key)
            if rule is not None:
                return rule(self)
        if self.starts_query() or self.at("("):
            return self.query()
        self.wanted("a statement")


_STATEMENTS: dict[str, Callable[[Parser], Node]] = {
    "CREATE": Parser.create,
    "REPLACE": Parser.replace_table,
    "ALTER": Parser.alter,
    "DROP": Parser.drop,
    "INSERT": Parser.insert,
    "UPSERT": Parser.insert,
    "DELETE": Parser.delete,
    "UPDATE": Parser.update,
    "MERGE": Parser.merge,
    "TRUNCATE": Parser.truncate,
    "CALL": Parser.call_procedure,
    "BEGIN": Parser.begin,
    "END": Parser.end,
    "EXECUTE": Parser.execute,
    "COMPILE": Parser.compile_plan,
    "EXPLAIN": Parser.explain,
    "DESCRIBE": Parser.describe,
    "DESC": Parser.describe,
    "SHOW": Parser.show,
    "USE": Parser.use,
    "SET": Parser.set_option,
    "RESET": Parser.reset_option,
    "LOAD": Parser.module,
    "UNLOAD": Parser.module,
    "ADD": Parser.jar,
    "REMOVE": Parser.jar,
    "ANALYZE": Parser.analyze,
    "STOP": Parser.stop_job,
}


def parse_statements(text: str) -> list[Node]:
    """Return the statements of a script. Raise `SqlParseError` if one cannot be parsed.

    >>> len(parse_statements("SELECT 1; SELECT 2"))
    2
    """
    try:
        return Parser(text).statements()
    except SqlParseError:
        # Parse again and record which tokens are expected, for a better message.
        return Parser(text, tracing=True).statements()
