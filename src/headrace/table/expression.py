"""Expression: a value that is computed for each row of a table, or each group."""

from __future__ import annotations

from typing import Any

from headrace.table.api.aggregates import Aggregates
from headrace.table.api.collections import Collections
from headrace.table.api.json_members import Json
from headrace.table.api.moments import Moments
from headrace.table.api.nodes import Named, Ordered
from headrace.table.api.numbers import Numbers
from headrace.table.api.strings import Strings
from headrace.table.api.texts import text_of
from headrace.table.api.units import (
    JsonExistsOnError,
    JsonOnNull,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
    JsonType,
    JsonValueOnEmptyOrError,
    TimeIntervalUnit,
    TimePointUnit,
)
from headrace.table.sql.syntax import expressions as syntax

__all__ = [
    "Expression",
    "JsonExistsOnError",
    "JsonOnNull",
    "JsonQueryOnEmptyOrError",
    "JsonQueryWrapper",
    "JsonType",
    "JsonValueOnEmptyOrError",
    "TimeIntervalUnit",
    "TimePointUnit",
]


class Expression(Numbers, Strings, Moments, Collections, Json, Aggregates):
    """A value that a table computes: a column, a constant, or a function of expressions.

    Expressions never change and have no type before a table uses them.

    >>> from headrace.table.expressions import col
    >>> (col("price") * col("amount")).alias("total")
    price * amount AS total
    """

    def alias(self, name: str, *extra_names: str) -> Expression:
        """Return the value under a name; a table function takes a name for each column."""
        value = self.node.value if isinstance(self.node, Named) else self.node
        return Expression(Named(value, (name, *extra_names)))

    def as_argument(self, name: str) -> Expression:
        """Return the value as the argument of a parameter, by its name."""
        return Expression(syntax.NamedArgument(name, self.node))

    @property
    def asc(self) -> Expression:
        """The value as one to sort by, least first."""
        return Expression(Ordered(self.node, False))

    @property
    def desc(self) -> Expression:
        """The value as one to sort by, greatest first."""
        return Expression(Ordered(self.node, True))

    def __str__(self) -> str:
        """Return the expression, much as SQL writes it."""
        return text_of(self.node)

    __repr__ = __str__

    def __iter__(self) -> Any:
        """Raise an error: an array has as many elements as its row says."""
        raise TypeError("An Expression cannot be iterated over; use get(), at() or flatten")
