"""Nodes of table schemas."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.table.sql.syntax.expressions import Expression
from headrace.table.sql.syntax.node import Name, Node
from headrace.table.sql.syntax.types import DataType

Options = tuple[tuple[str, str], ...]
"""The pairs of a WITH clause, in their order."""


@dataclass(frozen=True, slots=True)
class Element(Node):
    """A line of a schema: a column, a constraint or a watermark."""


@dataclass(frozen=True, slots=True)
class ColumnPlace(Node):
    """`FIRST`, or `AFTER column`."""

    after: Name | None = None


@dataclass(frozen=True, slots=True)
class Constraint(Element):
    """A key. `columns` is empty if it follows the type of its column; `enforced` is None if it is not specified."""

    kind: str
    columns: tuple[str, ...] = ()
    name: str | None = None
    enforced: bool | None = None


@dataclass(frozen=True, slots=True)
class PhysicalColumn(Element):
    """`name type [constraint] [COMMENT '...']`."""

    name: Name
    type: DataType
    constraint: Constraint | None = None
    comment: str | None = None
    place: ColumnPlace | None = None


@dataclass(frozen=True, slots=True)
class ComputedColumn(Element):
    """`name AS expression`."""

    name: Name
    expression: Expression
    comment: str | None = None
    place: ColumnPlace | None = None


@dataclass(frozen=True, slots=True)
class MetadataColumn(Element):
    """`name type METADATA [FROM 'key'] [VIRTUAL]`."""

    name: Name
    type: DataType
    key: str | None = None
    virtual: bool = False
    comment: str | None = None
    place: ColumnPlace | None = None


@dataclass(frozen=True, slots=True)
class ColumnName(Element):
    """A column by its name only, as in `CREATE TABLE t (a, b) AS ...`."""

    name: Name


@dataclass(frozen=True, slots=True)
class Watermark(Element):
    """`WATERMARK FOR column AS expression`."""

    column: Name
    expression: Expression


@dataclass(frozen=True, slots=True)
class Distribution(Node):
    """`DISTRIBUTED BY HASH(a) INTO 4 BUCKETS`."""

    kind: str | None = None
    columns: tuple[str, ...] = ()
    buckets: int | None = None


@dataclass(frozen=True, slots=True)
class LikeClause(Node):
    """`LIKE table (INCLUDING ALL, ...)`; each rule is a pair such as `("INCLUDING", "OPTIONS")`."""

    table: Name
    rules: tuple[tuple[str, str], ...] = ()
