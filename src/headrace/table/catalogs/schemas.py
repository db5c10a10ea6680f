"""ResolvedSchema: the columns of a table, whose types and expressions are known.

These are the classes that programs see. The analyser has a form of its own (`headrace.table.analysis.catalog_view`), which
`public_schema` converts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidProgramError
from headrace.table.catalogs.quoting import identifier, identifiers
from headrace.table.functions.type_text import sql_text
from headrace.types.logical_types import DataType, RowField, RowType

if TYPE_CHECKING:
    from typing_extensions import Self

    from headrace.table.analysis.catalog_view import ResolvedSchema as AnalysedSchema
    from headrace.table.plan.rex import Rex

__all__ = [
    "Column",
    "ComputedColumn",
    "Constraint",
    "MetadataColumn",
    "PhysicalColumn",
    "ResolvedSchema",
    "UniqueConstraint",
    "WatermarkSpec",
]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    >>> from headrace.table import DataTypes
    >>> Column.physical("a", DataTypes.INT()).as_summary_string()
    '`a` INT'
    """

    name: str
    data_type: DataType
    comment: str | None = None

    @staticmethod
    def physical(name: str, data_type: DataType) -> PhysicalColumn:
        """Return a column that the connector stores."""
        return PhysicalColumn(name, data_type)

    @staticmethod
    def computed(name: str, resolved_expression: Any) -> ComputedColumn:
        """Return a column that is computed from others."""
        return ComputedColumn(name, resolved_expression.type, expression=resolved_expression)

    @staticmethod
    def metadata(name: str, data_type: DataType, metadata_key: str | None, is_virtual: bool) -> MetadataColumn:
        """Return a column of the connector's metadata."""
        return MetadataColumn(name, data_type, metadata_key=metadata_key, virtual=is_virtual)

    def get_name(self) -> str:
        """Return the name."""
        return self.name

    def get_data_type(self) -> DataType:
        """Return the type."""
        return self.data_type

    def get_comment(self) -> str | None:
        """Return the comment, None if there is none."""
        return self.comment

    def with_comment(self, comment: str | None) -> Self:
        """Return the column with a comment."""
        return replace(self, comment=comment) if comment is not None else self

    def copy(self, new_type: DataType) -> Self:
        """Return the column with another type."""
        return replace(self, data_type=new_type)

    def rename(self, new_name: str) -> Self:
        """Return the column with another name."""
        return replace(self, name=new_name)

    def is_physical(self) -> bool:
        """Return whether the connector stores it."""
        return isinstance(self, PhysicalColumn)

    def is_persisted(self) -> bool:
        """Return whether INSERT writes it."""
        return True

    def explain_extras(self) -> str | None:
        """Return what the summary says after the type, None for nothing."""
        return None

    def as_summary_string(self) -> str:
        """Return the column in the form of DDL."""
        parts = [identifier(self.name), sql_text(self.data_type), self.explain_extras() or ""]
        return " ".join(part for part in parts if part)


@dataclass(frozen=True)
class PhysicalColumn(Column):
    """A column that the connector stores.

    >>> from headrace.table import DataTypes
    >>> PhysicalColumn("a", DataTypes.INT()).is_physical()
    True
    """


@dataclass(frozen=True)
class ComputedColumn(Column):
    """A column that is computed from others.

    >>> from headrace.table import DataTypes
    >>> ComputedColumn("b", DataTypes.INT(), text="a + 1").as_summary_string()
    '`b` INT AS a + 1'
    """

    expression: Rex | None = None
    text: str = ""
    """The expression as SQL."""

    def get_expression(self) -> Any:
        """Return the resolved expression."""
        return self.expression

    def is_persisted(self) -> bool:
        """Return False: INSERT does not write it."""
        return False

    def explain_extras(self) -> str | None:
        """Return the expression."""
        return f"AS {self.text}"


@dataclass(frozen=True)
class MetadataColumn(Column):
    """A column of the connector's metadata.

    >>> from headrace.table import DataTypes
    >>> MetadataColumn("at", DataTypes.TIMESTAMP_LTZ(3), metadata_key="timestamp", virtual=True).as_summary_string()
    "`at` TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL"
    """

    metadata_key: str | None = None
    virtual: bool = False

    @property
    def key(self) -> str:
        """The name of the metadata."""
        return self.name if self.metadata_key is None else self.metadata_key

    def get_metadata_key(self) -> str | None:
        """Return the name of the metadata if it differs from that of the column."""
        return self.metadata_key

    def is_virtual(self) -> bool:
        """Return whether it is read only."""
        return self.virtual

    def is_persisted(self) -> bool:
        """Return whether INSERT writes it."""
        return not self.virtual

    def explain_extras(self) -> str | None:
        """Return where it comes from."""
        source = "" if self.metadata_key is None else f" FROM '{self.metadata_key}'"
        return f"METADATA{source}{' VIRTUAL' if self.virtual else ''}"


@dataclass(frozen=True)
class WatermarkSpec:
    """Event time of a table.

    >>> WatermarkSpec("ts", text="ts - INTERVAL '5' SECOND").as_summary_string()
    "WATERMARK FOR `ts` AS ts - INTERVAL '5' SECOND"
    """

    rowtime_attribute: str
    expression: Rex | None = None
    text: str = ""
    """The expression as SQL."""

    @staticmethod
    def of(rowtime_attribute: str, watermark_expression: Any) -> WatermarkSpec:
        """Return the watermark of a column."""
        return WatermarkSpec(rowtime_attribute, watermark_expression)

    def get_rowtime_attribute(self) -> str:
        """Return the column."""
        return self.rowtime_attribute

    def get_watermark_expression(self) -> Any:
        """Return the resolved expression."""
        return self.expression

    def as_summary_string(self) -> str:
        """Return the watermark in the form of DDL."""
        return f"WATERMARK FOR {identifier(self.rowtime_attribute)} AS {self.text}"


@dataclass(frozen=True)
class Constraint:
    """A constraint of a table; it is never enforced."""

    class ConstraintType(Enum):
        """The kind of a constraint.

        >>> Constraint.ConstraintType.PRIMARY_KEY.name
        'PRIMARY_KEY'
        """

        PRIMARY_KEY = 0
        UNIQUE_KEY = 1

    name: str

    def get_name(self) -> str:
        """Return the name."""
        return self.name

    def get_type(self) -> Constraint.ConstraintType:
        """Return the kind."""
        return Constraint.ConstraintType.PRIMARY_KEY

    def is_enforced(self) -> bool:
        """Return False: connectors do not check it."""
        return False

    def as_summary_string(self) -> str:
        """Return the constraint in the form of DDL."""
        return f"CONSTRAINT {identifier(self.name)}"


@dataclass(frozen=True)
class UniqueConstraint(Constraint):
    """A primary key.

    >>> UniqueConstraint.primary_key("PK_a", ["a"]).as_summary_string()
    'CONSTRAINT `PK_a` PRIMARY KEY (`a`) NOT ENFORCED'
    """

    columns: tuple[str, ...] = ()

    @staticmethod
    def primary_key(name: str, columns: Sequence[str]) -> UniqueConstraint:
        """Return the primary key of some columns."""
        return UniqueConstraint(name, tuple(columns))

    def get_columns(self) -> list[str]:
        """Return the columns."""
        return list(self.columns)

    def get_type_string(self) -> str:
        """Return the kind in the form of DDL."""
        return "PRIMARY KEY"

    def as_summary_string(self) -> str:
        """Return the constraint in the form of DDL."""
        return f"CONSTRAINT {identifier(self.name)} PRIMARY KEY ({identifiers(self.columns)}) NOT ENFORCED"


@dataclass(frozen=True)
class ResolvedSchema:
    """The columns of a table, its event time and its primary key.

    >>> from headrace.table import DataTypes
    >>> schema = ResolvedSchema.physical(["a", "b"], [DataTypes.INT(), DataTypes.STRING()])
    >>> schema.get_column_names(), schema.get_column("b").get_data_type()
    (['a', 'b'], VarCharType(2147483647, true))
    >>> print(schema)
    (
      `a` INT,
      `b` STRING
    )
    """

    columns: tuple[Column, ...] = ()
    watermark_specs: tuple[WatermarkSpec, ...] = ()
    primary_key: UniqueConstraint | None = None

    @staticmethod
    def of(columns: Sequence[Column]) -> ResolvedSchema:
        """Return the schema of some columns."""
        return ResolvedSchema(tuple(columns))

    @staticmethod
    def physical(column_names: Sequence[str], column_data_types: Sequence[DataType]) -> ResolvedSchema:
        """Return the schema of columns that a connector stores."""
        if len(column_names) != len(column_data_types):
            raise InvalidProgramError(
                "Every column needs a name and a type",
                seen=f"{len(column_names)} names and {len(column_data_types)} types",
            )
        return ResolvedSchema(tuple(map(PhysicalColumn, column_names, column_data_types)))

    def get_columns(self) -> list[Column]:
        """Return the columns."""
        return list(self.columns)

    def get_column_count(self) -> int:
        """Return the number of columns."""
        return len(self.columns)

    def get_column_names(self) -> list[str]:
        """Return the names of the columns."""
        return [column.name for column in self.columns]

    def get_column_data_types(self) -> list[DataType]:
        """Return the types of the columns."""
        return [column.data_type for column in self.columns]

    def get_column(self, column_index_or_name: int | str) -> Column | None:
        """Return a column by its index, from 0, or by its name; None if there is none."""
        if isinstance(column_index_or_name, int):
            known = 0 <= column_index_or_name < len(self.columns)
            return self.columns[column_index_or_name] if known else None
        return next((column for column in self.columns if column.name == column_index_or_name), None)

    def get_watermark_specs(self) -> list[WatermarkSpec]:
        """Return the watermarks: none or one."""
        return list(self.watermark_specs)

    def get_primary_key(self) -> UniqueConstraint | None:
        """Return the primary key, None if there is none."""
        return self.primary_key

    def get_primary_key_indexes(self) -> list[int]:
        """Return the indexes of the key's columns among the physical columns."""
        names = [column.name for column in self.columns if column.is_physical()]
        return [] if self.primary_key is None else [names.index(name) for name in self.primary_key.columns]

    def to_source_row_data_type(self) -> RowType:
        """Return the type of the rows that a query sees: all columns."""
        return _row(self.columns)

    def to_physical_row_data_type(self) -> RowType:
        """Return the type of the columns that the connector stores."""
        return _row([column for column in self.columns if column.is_physical()])

    def to_sink_row_data_type(self) -> RowType:
        """Return the type of the columns that INSERT writes."""
        return _row([column for column in self.columns if column.is_persisted()])

    def __str__(self) -> str:
        """Return the schema in the form of DDL."""
        lines = [column.as_summary_string() for column in self.columns]
        lines += [watermark.as_summary_string() for watermark in self.watermark_specs]
        lines += [] if self.primary_key is None else [self.primary_key.as_summary_string()]
        return "(\n  " + ",\n  ".join(lines) + "\n)"


def _row(columns: Sequence[Column]) -> RowType:
    fields = tuple(RowField(column.name, column.data_type, column.comment) for column in columns)
    return RowType(fields, is_nullable=False)


def public_schema(schema: AnalysedSchema) -> ResolvedSchema:
    """Return the form of a schema that programs see."""
    columns: list[Column] = []
    for found, typed in zip(schema.columns, schema.row_type.fields):
        kind, comment = typed.data_type, found.comment
        match found.kind.value:
            case "computed":
                columns.append(
                    ComputedColumn(found.name, kind, comment, expression=found.expression, text=found.text or "")
                )
            case "metadata":
                columns.append(
                    MetadataColumn(found.name, kind, comment, metadata_key=found.metadata_key, virtual=found.virtual)
                )
            case _:
                columns.append(PhysicalColumn(found.name, kind, comment))
    watermark = schema.watermark
    specs: tuple[WatermarkSpec, ...] = ()
    if watermark is not None:
        specs = (WatermarkSpec(schema.columns[watermark.column].name, watermark.expression, watermark.text or ""),)
    name = schema.primary_key_name or f"PK_{'_'.join(schema.primary_key)}"
    key = UniqueConstraint(name, schema.primary_key) if schema.primary_key else None
    return ResolvedSchema(tuple(columns), specs, key)


def schema_of_row(row_type: RowType) -> ResolvedSchema:
    """Return the schema of the rows of a query."""
    return ResolvedSchema(tuple(PhysicalColumn(field.name, field.data_type) for field in row_type.fields))
