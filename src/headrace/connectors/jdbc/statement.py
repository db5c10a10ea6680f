"""SQL with `?` for its parameters, as in JDBC: counts them, writes them as a driver wants them, makes rows for them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from headrace.errors import InvalidProgramError
from headrace.types.codecs import codec_for
from headrace.types.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation

# Where a question mark is not a parameter, and the mark itself; `??` is an operator of PostgreSQL.
_STANDARD = re.compile(
    r"""'(?:[^']|'')*'              # a string
      | "(?:[^"]|"")*"              # a name
      | --[^\n]*                    # comments
      | /\*.*?\*/
      | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$  # a string of PostgreSQL
      | \?\?
      | \?
      """,
    re.VERBOSE | re.DOTALL,
)
_MYSQL = re.compile(
    r"""'(?:[^'\\]|''|\\.)*'         # strings, in which a backslash escapes
      | "(?:[^"\\]|""|\\.)*"
      | `(?:[^`]|``)*`              # a name
      | (?:--\s|\#)[^\n]*          # comments
      | /\*.*?\*/
      | \?
      """,
    re.VERBOSE | re.DOTALL,
)


class Statement:
    r"""An SQL statement with parameters.

    >>> statement = Statement("INSERT INTO t VALUES (?, 'why?', ? % 2)")
    >>> statement.parameters
    2
    >>> statement.with_marks("%s")
    "INSERT INTO t VALUES (%s, 'why?', %s %% 2)"
    >>> Statement("INSERT INTO `what?` VALUES (?, 'it\\'s?')", mysql=True).parameters
    1
    """

    def __init__(self, sql: str, mysql: bool = False) -> None:
        """Take the SQL; with `mysql` in MySQL's dialect, which has other quotes and comments."""
        if not isinstance(sql, str) or not sql.strip():
            raise InvalidProgramError("A JDBC sink needs an SQL statement", seen=sql)
        self.sql = sql
        self._tokens = _MYSQL if mysql else _STANDARD
        self.parameters = sum(1 for token in self._tokens.finditer(sql) if token.group() == "?")

    def with_marks(self, mark: str) -> str:
        """Return the statement with another mark for its parameters; with `%s`, percent signs are doubled."""
        escape = "%" in mark

        def plain(text: str) -> str:
            return text.replace("%", "%%") if escape else text

        parts, end = [], 0
        for token in self._tokens.finditer(self.sql):
            parts.append(plain(self.sql[end : token.start()]))
            found = token.group()
            parts.append(mark if found == "?" else "?" if found == "??" else plain(found))
            end = token.end()
        return "".join(parts) + plain(self.sql[end:])


def check_fields(statement: Statement, kind: TypeInformation) -> None:
    """Raise unless the type is a row with as many fields as the statement has parameters.

    >>> from headrace.common.typeinfo import Types
    >>> check_fields(Statement("INSERT INTO t VALUES (?, ?)"), Types.ROW([Types.INT()]))
    Traceback (most recent call last):
    ...
    headrace.errors.InvalidProgramError: The statement and the row type do not fit [INVALID_PROGRAM]
      seen:     2 parameters in INSERT INTO t VALUES (?, ?), 1 fields in RowTypeInfo(Integer)
      remedy:   write one ? for each field
    """
    if not isinstance(kind, RowTypeInfo | TupleTypeInfo):
        raise InvalidProgramError(
            "A JDBC sink takes rows", seen=kind, expected="a type made by Types.ROW, ROW_NAMED or TUPLE"
        )
    fields = len(kind.get_field_types())
    if fields != statement.parameters:
        raise InvalidProgramError(
            "The statement and the row type do not fit",
            seen=f"{statement.parameters} parameters in {statement.sql}, {fields} fields in {kind}",
            remedy="write one ? for each field",
        )


def row_maker(kind: TypeInformation, adapt: Callable[[Any], Any]) -> Callable[[list[Any]], list[tuple[Any, ...]]]:
    """Return a function that turns elements into rows of parameters; it raises on elements of another type."""
    coerce = codec_for(kind).coerce

    def make(values: list[Any]) -> list[tuple[Any, ...]]:
        return [tuple(map(adapt, value)) for value in coerce(values)]

    return make
