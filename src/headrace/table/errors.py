"""The errors of statements that parse but cannot be run, with the place in the statement where that can be told."""

from __future__ import annotations

from typing import Any, ClassVar

from headrace.errors import HeadraceError

__all__ = ["SqlNotSupportedError", "SqlRuntimeError", "SqlValidationError"]


class SqlValidationError(HeadraceError):
    """A statement or a call of the Table API has no meaning: unknown names, wrong types, misplaced clauses.

    The analyser raises it with the `position` of the syntax node, and `located` adds line, column and caret once the text of
    the statement is known.

    >>> error = SqlValidationError("Unknown column 'nam'", position=7, remedy="did you mean 'name'?")
    >>> print(error.located("SELECT nam FROM users").args[0])
    Unknown column 'nam' at line 1, column 8:
      SELECT nam FROM users
             ^
    """

    code: ClassVar[str] = "SQL_VALIDATION"

    def __init__(self, message: str, *, position: int = -1, **details: Any) -> None:
        """`position` is the offset of the part of the statement that is wrong, -1 if there is no text."""
        super().__init__(message, **details)
        self.position = position
        self._shown = details

    def located(self, text: str) -> SqlValidationError:
        """Return the error with the line of `text` that it is about; the error itself if its position is not known."""
        if not 0 <= self.position <= len(text):
            return self
        before = text[: self.position]
        line, column = before.count("\n") + 1, self.position - (before.rfind("\n") + 1) + 1
        row = text.split("\n")[line - 1].rstrip("\r")
        pointer = "".join("\t" if c == "\t" else " " for c in row[: column - 1]) + "^"
        message = f"{self.args[0]} at line {line}, column {column}:\n  {row}\n  {pointer}"
        return type(self)(message, **self._shown)


class SqlNotSupportedError(SqlValidationError):
    """A statement is valid Flink SQL, but this version cannot run it."""

    code: ClassVar[str] = "SQL_NOT_SUPPORTED"


class SqlRuntimeError(HeadraceError):
    """A row made an expression fail, such as a division by zero or a string that cannot be cast."""

    code: ClassVar[str] = "SQL_RUNTIME"
