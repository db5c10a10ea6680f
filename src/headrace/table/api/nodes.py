"""Syntax nodes that only the Table API has. A table replaces them before it calls the analyser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.table.sql.syntax.expressions import Expression


@dataclass(frozen=True, slots=True)
class Named(Expression):
    """A value with a name; a table function has a name for each of its columns."""

    value: Expression
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ordered(Expression):
    """A value to sort by."""

    value: Expression
    descending: bool


@dataclass(frozen=True, slots=True)
class WindowProperty(Expression):
    """A property of a group window: start, end, rowtime or proctime."""

    window: Expression
    part: str


@dataclass(frozen=True, slots=True)
class OverAlias(Expression):
    """A call over a window that has a name."""

    call: Expression
    window: Expression


@dataclass(frozen=True, slots=True)
class ColumnRange(Expression):
    """The columns from one to another, by name or by number, which starts with 1."""

    start: str | int
    end: str | int


@dataclass(frozen=True, slots=True)
class ColumnChoice(Expression):
    """Some columns, or all but these."""

    items: tuple[Expression, ...]
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class Flattened(Expression):
    """A column for each field of a ROW value."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Bound(Expression):
    """The end of an OVER window: unbounded or the current row. `unit`: ROWS or RANGE."""

    unbounded: bool
    unit: str


@dataclass(frozen=True, slots=True)
class UserCall(Expression):
    """A call of a program's own function, which has no name in a catalog."""

    function: Any
    arguments: tuple[Expression, ...]
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class TableQuery(Expression):
    """The rows of a table, as candidates of IN."""

    table: Any
