"""The names of columns that a program gives to tables, and choices of columns."""

from __future__ import annotations

from collections.abc import Sequence

from headrace.table.analysis.errors import invalid, unknown
from headrace.table.analysis.inline import InlineField
from headrace.table.api import nodes
from headrace.table.sql.syntax import expressions as syntax


def name_of(node: syntax.Expression) -> str | None:
    """Return the name that a column of a select list has by itself; None if it has none."""
    match node:
        case nodes.Named():
            if len(node.names) != 1:
                raise invalid(f"A column has one name, not {len(node.names)}: {', '.join(node.names)}")
            return node.names[0]
        case syntax.Identifier():
            return node.names[-1]
        case InlineField() | syntax.FieldAccess():
            inner = name_of(node.value)
            return None if inner is None else f"{inner}${node.field}"
    return None


def chosen(node: syntax.Expression, columns: Sequence[str]) -> list[str] | None:
    """Return the columns that a choice means, None if the node is no choice.

    >>> chosen(nodes.ColumnRange(2, "c"), ["a", "b", "c"])
    ['b', 'c']
    """
    match node:
        case nodes.ColumnRange():
            start, end = (_place(each, columns) for each in (node.start, node.end))
            if start > end:
                raise invalid(f"Column {node.end} comes before column {node.start}")
            return list(columns[start : end + 1])
        case nodes.ColumnChoice():
            found: list[str] = []
            for item in node.items:
                inner = chosen(item, columns)
                found += [columns[_place(_plain_name(item), columns)]] if inner is None else inner
            return [each for each in columns if each not in found] if node.excluded else found
    return None


def _plain_name(node: syntax.Expression) -> str:
    if not isinstance(node, syntax.Identifier):
        raise invalid("with_columns and without_columns take columns, their numbers and ranges of columns")
    return node.names[-1]


def _place(given: str | int, columns: Sequence[str]) -> int:
    if isinstance(given, int):
        if not 1 <= given <= len(columns):
            raise invalid(f"{given} is not the number of a column (1 to {len(columns)})")
        return given - 1
    if given not in columns:
        raise unknown("column", given, columns, -1)
    return columns.index(given)
