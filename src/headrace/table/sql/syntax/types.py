"""Nodes that name a type."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.table.sql.syntax.node import Node


@dataclass(frozen=True, slots=True)
class TypeField(Node):
    """A field of a ROW or STRUCTURED type."""

    name: str
    type: DataType
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class DataType(Node):
    """A type with the arguments in its parentheses or angle brackets.

    Precision and scale are integers, element types are types, fields of rows are fields, the classes of RAW and STRUCTURED
    are strings. `nullable` is None if it is not specified.
    """

    name: str
    arguments: tuple[int | str | DataType | TypeField, ...] = ()
    nullable: bool | None = None
