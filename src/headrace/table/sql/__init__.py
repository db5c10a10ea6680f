"""Flink SQL as a syntax tree.

>>> from headrace.table.sql import parse_statements
>>> [statement] = parse_statements("SELECT name FROM users WHERE age > 17;")
>>> statement.items[0].expression
Identifier(names=('name',))
"""

from headrace.table.sql.errors import SqlParseError
from headrace.table.sql.parser.statements import parse_statements

__all__ = ["SqlParseError", "parse_statements"]
