"""Names and expressions that a program writes in SQL."""

from __future__ import annotations

from headrace.errors import TypeMismatchError
from headrace.table.errors import SqlValidationError
from headrace.table.sql import parse_statements
from headrace.table.sql.syntax import expressions as syntax
from headrace.table.sql.syntax.queries import Select


def parsed_expression(text: str) -> syntax.Expression:
    """Return the expression that a text means.

    >>> parsed_expression("a + 1")
    Binary(operator='+', left=Identifier(names=('a',)), right=Literal(kind='INTEGER', value=1, charset=None))
    """
    if not isinstance(text, str):
        raise TypeMismatchError("call_sql takes an expression as a text", seen=text)
    statements = parse_statements(f"SELECT {text}")
    query = statements[0] if len(statements) == 1 else None
    if not isinstance(query, Select) or len(query.items) != 1 or query.source is not None or query.items[0].alias:
        raise SqlValidationError("The text is not a single expression", seen=text, expected="such as UPPER(a)")
    return query.items[0].expression


def parsed_name(text: str) -> tuple[str, ...]:
    """Return the parts of a function's name.

    >>> parsed_name("db.f")
    ('db', 'f')
    """
    if text.replace("_", "a").isalnum():
        return (text,)
    node = parsed_expression(text)
    if not isinstance(node, syntax.Identifier):
        raise SqlValidationError("This is not the name of a function", seen=text)
    return node.names
