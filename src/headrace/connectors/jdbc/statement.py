"""SQL with `?` for its parameters, as JDBC has it: counts them, and writes them as a driver wants them. Pure."""

from __future__ import annotations

import re

from headrace.errors import InvalidProgramError

__all__ = ["Statement"]

# What a question mark may stand in without being a parameter, and the mark itself; `??` is an operator of PostgreSQL.
_STANDARD = re.compile(
    r"""'(?:[^']|'')*'              # a text
      | "(?:[^"]|"")*"              # a name
      | --[^\n]*                    # comments
      | /\*.*?\*/
      | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$  # a text of PostgreSQL
      | \?\?
      | \?
      """,
    re.VERBOSE | re.DOTALL,
)
_MYSQL = re.compile(
    r"""'(?:[^'\\]|''|\\.)*'         # texts, in which a backslash escapes
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
        """`mysql`: the statement is written in MySQL's way, which has other quotes and comments."""
        if not isinstance(sql, str) or not sql.strip():
            raise InvalidProgramError("A JDBC sink needs an SQL statement", seen=sql)
        self.sql = sql
        self._tokens = _MYSQL if mysql else _STANDARD
        self.parameters = sum(1 for token in self._tokens.finditer(sql) if token.group() == "?")

    def with_marks(self, mark: str) -> str:
        """The statement with another mark for its parameters; where that is `%s`, percent signs are doubled."""
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
