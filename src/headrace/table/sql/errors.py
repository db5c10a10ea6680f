"""The error for a statement that cannot be parsed."""

from __future__ import annotations

from typing import ClassVar

from headrace.errors import HeadraceError

__all__ = ["SqlParseError"]

_LISTED = 12


class SqlParseError(HeadraceError):
    """A string is not valid Flink SQL.

    `line` and `column` count from 1; `alternatives` lists what would have been valid there.

    >>> from headrace.table.sql import parse_statements
    >>> try:
    ...     parse_statements("SELECT a FORM t")
    ... except SqlParseError as error:
    ...     print(error.line, error.column)
    1 15
    """

    code: ClassVar[str] = "SQL_PARSE"

    def __init__(self, message: str, text: str, offset: int, alternatives: tuple[str, ...] = ()) -> None:
        """`offset` is the position in `text` where parsing stopped."""
        before = text[:offset]
        self.line = before.count("\n") + 1
        self.column = offset - (before.rfind("\n") + 1) + 1
        self.alternatives = alternatives
        row = text.split("\n")[self.line - 1].rstrip("\r")
        pointer = "".join("\t" if c == "\t" else " " for c in row[: self.column - 1]) + "^"
        shown = ", ".join(alternatives[:_LISTED]) + (", ..." if len(alternatives) > _LISTED else "")
        super().__init__(
            f"{message} at line {self.line}, column {self.column}:\n  {row}\n  {pointer}", expected=shown or None
        )
