"""Operand: what all groups of members of `Expression` build on."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from headrace.table.api.literals import constant
from headrace.table.sql.syntax import expressions as syntax
from headrace.types.logical_types import DataType

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Operand", "data_type_of", "node_of", "reads"]


class Operand:
    """An immutable tree: the syntax node of a value, which has no type before a table uses it."""

    def __init__(self, node: syntax.Expression) -> None:
        """Programs call `col`, `lit` and the members of other expressions."""
        self.node = node

    def _make(self, node: syntax.Expression) -> Self:
        return type(self)(node)

    def _call(self, name: str, *arguments: Any) -> Self:
        return self._make(syntax.Call((name,), (self.node, *map(node_of, arguments))))

    def _given(self, name: str, *arguments: Any) -> Self:
        """Return a call with the arguments up to the first one that is None."""
        given = itertools.takewhile(lambda each: each is not None, arguments)
        return self._call(name, *given)


def node_of(value: Any) -> syntax.Expression:
    """Return the node of an expression, or of a Python value as a constant."""
    return value.node if isinstance(value, Operand) else constant(value)


def data_type_of(given: DataType | str) -> DataType:
    """Return a type that is given as an object or as SQL."""
    if isinstance(given, str):
        from headrace.table.type_texts import parsed_type

        return parsed_type(given)
    return given


def reads(function: str, doc: str) -> Any:
    """Return a property that calls a function with the expression as its only argument."""
    return property(lambda self: self._call(function), doc=doc)
