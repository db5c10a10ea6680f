"""What the analyser needs to know of catalogs: the tables, views and functions behind names.

The environment implements `Catalog`. The analyser never reads or writes a catalog in any other way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Protocol

from headrace.table.functions.definition import AggregateFunction, ScalarFunction, TableFunction
from headrace.table.plan.relations import Relation
from headrace.table.plan.rex import Rex
from headrace.table.sql.syntax.queries import Query
from headrace.types.logical_types import DataType, RowField, RowType, TimeAttribute

Function = ScalarFunction | AggregateFunction | TableFunction
"""A function of a user or a catalog."""


class ColumnKind(Enum):
    """Where the values of a column come from."""

    PHYSICAL = "physical"
    METADATA = "metadata"
    COMPUTED = "computed"


@dataclass(frozen=True)
class ResolvedColumn:
    """A column of a table.

    The expression of a computed column refers to the columns of `ResolvedSchema.source_type`.
    """

    name: str
    type: DataType
    kind: ColumnKind = ColumnKind.PHYSICAL
    expression: Rex | None = None
    metadata_key: str | None = None
    virtual: bool = False
    """A metadata column that is only read."""
    comment: str | None = None
    text: str | None = None
    """The text of a computed column's expression, if known."""

    @property
    def persisted(self) -> bool:
        """Return whether INSERT writes the column."""
        return self.kind is ColumnKind.PHYSICAL or (self.kind is ColumnKind.METADATA and not self.virtual)


@dataclass(frozen=True)
class ResolvedWatermark:
    """A watermark: the index of its column, and an expression over all columns of the schema."""

    column: int
    expression: Rex
    text: str | None = None
    """The text of the expression, if known."""


@dataclass(frozen=True)
class ResolvedSchema:
    """The columns of a table with their types, its watermark and its primary key.

    >>> from headrace.types.logical_types import IntType
    >>> ResolvedSchema((ResolvedColumn("a", IntType()),)).row_type.field_names()
    ['a']
    """

    columns: tuple[ResolvedColumn, ...]
    watermark: ResolvedWatermark | None = None
    primary_key: tuple[str, ...] = ()
    primary_key_name: str | None = None

    @property
    def row_type(self) -> RowType:
        """Return the type of rows that a query reads: all columns, with the time attribute of the watermark."""
        fields = []
        for index, column in enumerate(self.columns):
            kind = column.type
            if self.watermark is not None and self.watermark.column == index:
                kind = replace(kind, time_attribute=TimeAttribute.ROWTIME)  # type: ignore[call-arg]
            fields.append(RowField(column.name, kind, column.comment))
        return RowType(tuple(fields), is_nullable=False)

    @property
    def source_columns(self) -> tuple[ResolvedColumn, ...]:
        """Return the columns that a source provides: the physical ones, then the metadata columns."""
        physical = tuple(each for each in self.columns if each.kind is ColumnKind.PHYSICAL)
        return physical + tuple(each for each in self.columns if each.kind is ColumnKind.METADATA)

    @property
    def source_type(self) -> RowType:
        """Return the type of rows that a source provides."""
        return _row_of(self.source_columns)

    @property
    def sink_columns(self) -> tuple[ResolvedColumn, ...]:
        """Return the columns that a sink writes, in their declared order."""
        return tuple(each for each in self.columns if each.persisted)

    @property
    def sink_type(self) -> RowType:
        """Return the type of rows that a sink writes."""
        return _row_of(self.sink_columns)


def _row_of(columns: Iterable[ResolvedColumn]) -> RowType:
    return RowType(tuple(RowField(each.name, each.type, each.comment) for each in columns), is_nullable=False)


@dataclass(frozen=True)
class ResolvedTable:
    """A table or view of a catalog.

    `view` is the relation of a view, or its query, which is then analysed with the same catalog. The columns of a view get
    the names of `schema`, unless it has none. `source` is whatever the planner needs to read and write the table.
    """

    name: tuple[str, ...]
    schema: ResolvedSchema = ResolvedSchema(())
    options: tuple[tuple[str, str], ...] = ()
    view: Relation | Query | None = None
    partitioned_by: tuple[str, ...] = ()
    source: Any = None
    comment: str | None = None

    @property
    def is_view(self) -> bool:
        """Return whether a query stands behind the name."""
        return self.view is not None


class Catalog(Protocol):
    """The catalogs of a session, with its current catalog and database."""

    def resolve(self, name: tuple[str, ...]) -> ResolvedTable | None:
        """Return the table or view with a name, which may lack the catalog and the database."""

    def function(self, name: tuple[str, ...]) -> Function | None:
        """Return the function of a user or a catalog with a name; names of functions ignore case."""

    def table_names(self) -> Iterable[str]:
        """Return the names of tables that exist, to suggest one for a name that does not."""

    def function_names(self) -> Iterable[str]:
        """Return the names of the functions of users, to suggest one for a name that does not exist."""


class EmptyCatalog:
    """A catalog without tables and functions.

    >>> EmptyCatalog().resolve(("t",)) is None
    True
    """

    def resolve(self, name: tuple[str, ...]) -> ResolvedTable | None:
        """Return None."""
        return None

    def function(self, name: tuple[str, ...]) -> Function | None:
        """Return None."""
        return None

    def table_names(self) -> Iterable[str]:
        """Return nothing."""
        return ()

    def function_names(self) -> Iterable[str]:
        """Return nothing."""
        return ()
