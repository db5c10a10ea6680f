"""SQL with `?` for its parameters, as JDBC has it: counts them, and writes them as a driver wants them. Pure."""

from __future__ import annotations

import re

from headrace.common.errors import InvalidProgramError

__all__ = ["Statement"]

# What a question mark may stand in without being a parameter, and the mark itself; `??` is an operator of PostgreSQL.
_TOKENS = re.compile(
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


class Statement:
    """An SQL statement with parameters.

    >>> statement = Statement("INSERT INTO t VALUES (?, 'why?', ? % 2)")
    >>> statement.parameters
    2
    >>> statement.with_marks("%s")
    "INSERT INTO t VALUES (%s, 'why?', %s %% 2)"
    """

    def __init__(self, sql: str) -> None:
        if not isinstance(sql, str) or not sql.strip():
            raise InvalidProgramError("A JDBC sink needs an SQL statement", seen=sql)
        self.sql = sql
        self.parameters = sum(1 for token in _TOKENS.finditer(sql) if token.group() == "?")

    def with_marks(self, mark: str) -> str:
        """The statement with another mark for its parameters; where that is `%s`, percent signs are doubled."""
        escape = "%" in mark

        def plain(text: str) -> str:
            return text.replace("%", "%%") if escape else text

        parts, end = [], 0
        for token in _TOKENS.finditer(self.sql):
            parts.append(plain(self.sql[end : token.start()]))
            found = token.group()
            parts.append(mark if found == "?" else "?" if found == "??" else plain(found))
            end = token.end()
        return "".join(parts) + plain(self.sql[end:])
