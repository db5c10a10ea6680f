"""Schema: the columns of a table as a program declares them, with expressions that are not resolved yet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headrace.errors import TypeMismatchError
from headrace.table.catalogs.quoting import identifier, identifiers, literal
from headrace.table.functions.type_text import sql_text
from headrace.table.sql import parse_statements
from headrace.table.sql.syntax.statements import CreateTable
from headrace.table.sql.syntax.tables import Element
from headrace.table.sql.syntax.tables import PhysicalColumn as PhysicalElement
from headrace.types.logical_types import DataType, RowType

if TYPE_CHECKING:
    from typing_extensions import Self

    from headrace.table.catalogs.schemas import ResolvedSchema

__all__ = ["Schema"]

_LONGEST = 2**31 - 1


class Schema:
    """The columns of a table, its watermark and its primary key, in the form of DDL.

    >>> from headrace.table import DataTypes
    >>> schema = Schema.new_builder().column("id", DataTypes.BIGINT().not_null()).column("at", "TIMESTAMP(3)")
    >>> schema = schema.watermark("at", "at - INTERVAL '5' SECOND").primary_key("id").build()
    >>> print(schema)
    (
      `id` BIGINT NOT NULL,
      `at` TIMESTAMP(3),
      WATERMARK FOR `at` AS at - INTERVAL '5' SECOND,
      CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED
    )
    """

    def __init__(self, lines: Sequence[str]) -> None:
        """Programs call `new_builder`."""
        self.lines = tuple(lines)

    def elements(self) -> tuple[Element, ...]:
        """Return the lines as the parser understands them."""
        if not self.lines:
            return ()
        (statement,) = parse_statements(f"CREATE TABLE t {self}")
        assert isinstance(statement, CreateTable)
        return statement.elements

    def __str__(self) -> str:
        """Return the lines of DDL."""
        return "(\n  " + ",\n  ".join(self.lines) + "\n)"

    def __repr__(self) -> str:
        """Return the lines of DDL."""
        return str(self)

    def __eq__(self, other: object) -> bool:
        """Compare the lines."""
        return isinstance(other, Schema) and self.lines == other.lines

    def __hash__(self) -> int:
        """Hash the lines."""
        return hash(self.lines)

    @staticmethod
    def new_builder() -> Schema.Builder:
        """Return a builder."""
        return Schema.Builder()

    class Builder:
        """Collects the columns of a schema.

        >>> from headrace.table import DataTypes
        >>> Schema.Builder().from_fields(["a"], [DataTypes.INT()]).column_by_expression("b", "a + 1").build()
        (
          `a` INT,
          `b` AS a + 1
        )
        """

        def __init__(self) -> None:
            """Programs call `Schema.new_builder`."""
            self._lines: list[str] = []

        def from_schema(self, unresolved_schema: Schema) -> Self:
            """Add everything of another schema."""
            self._lines += unresolved_schema.lines
            return self

        def from_resolved_schema(self, resolved_schema: ResolvedSchema) -> Self:
            """Add everything of a table's schema."""
            for column in resolved_schema.get_columns():
                self._lines.append(column_line(column))
            self._lines += [each.as_summary_string() for each in resolved_schema.get_watermark_specs()]
            key = resolved_schema.get_primary_key()
            return self if key is None else self.primary_key_named(key.get_name(), *key.get_columns())

        def from_row_data_type(self, data_type: DataType) -> Self:
            """Add a column for each field of a row type."""
            if not isinstance(data_type, RowType):
                raise TypeMismatchError("from_row_data_type takes a row type", seen=data_type)
            return self.from_fields(data_type.field_names(), data_type.field_types())

        def from_fields(self, field_names: Sequence[str], field_data_types: Sequence[DataType]) -> Self:
            """Add columns by their names and types."""
            if len(field_names) != len(field_data_types):
                raise TypeMismatchError(
                    "from_fields takes as many types as names", seen=f"{len(field_names)} and {len(field_data_types)}"
                )
            for name, kind in zip(field_names, field_data_types):
                self.column(name, kind)
            return self

        def column(self, column_name: str, data_type: str | DataType) -> Self:
            """Add a column that the connector stores; its type is a DataType or SQL."""
            self._lines.append(f"{identifier(_name(column_name))} {_type(data_type)}")
            return self

        def column_by_expression(self, column_name: str, expr: Any) -> Self:
            """Add a column that is computed from others by an SQL expression."""
            self._lines.append(f"{identifier(_name(column_name))} AS {_expression(expr)}")
            return self

        def column_by_metadata(
            self,
            column_name: str,
            data_type: DataType | str,
            metadata_key: str | None = None,
            is_virtual: bool = False,
        ) -> Self:
            """Add a column of the connector's metadata."""
            source = "" if metadata_key is None else f" FROM {literal(metadata_key)}"
            virtual = " VIRTUAL" if is_virtual else ""
            self._lines.append(f"{identifier(_name(column_name))} {_type(data_type)} METADATA{source}{virtual}")
            return self

        def watermark(self, column_name: str, watermark_expr: Any) -> Self:
            """Make a column the event time, with an SQL expression for watermarks."""
            self._lines.append(f"WATERMARK FOR {identifier(_name(column_name))} AS {_expression(watermark_expr)}")
            return self

        def primary_key(self, *column_names: str) -> Self:
            """Declare the primary key, which is not enforced."""
            return self.primary_key_named("PK_" + "_".join(map(_name, column_names)), *column_names)

        def primary_key_named(self, constraint_name: str, *column_names: str) -> Self:
            """Declare the primary key with a name."""
            names = identifiers(map(_name, column_names))
            self._lines.append(f"CONSTRAINT {identifier(constraint_name)} PRIMARY KEY ({names}) NOT ENFORCED")
            return self

        def build(self) -> Schema:
            """Return the schema."""
            return Schema(self._lines)


def column_line(column: Any, stored: bool = False) -> str:
    """Return the line of DDL for a resolved column, without the mark of a time attribute.

    With `stored`, STRING and BYTES are written with their lengths, as SHOW CREATE TABLE does.
    """
    from headrace.table.catalogs.schemas import ComputedColumn

    comment = "" if column.comment is None else f" COMMENT {literal(column.comment)}"
    if isinstance(column, ComputedColumn):
        return f"{identifier(column.name)} AS {column.text}{comment}"
    extras = column.explain_extras()
    kind = plain_type(column.data_type)
    if stored:
        kind = re.sub(r"\bSTRING\b", f"VARCHAR({_LONGEST})", re.sub(r"\bBYTES\b", f"VARBINARY({_LONGEST})", kind))
    return " ".join(filter(None, [identifier(column.name), kind, extras])) + comment


def plain_type(kind: DataType) -> str:
    """Return a type as SQL, without the mark of a time attribute.

    >>> from headrace.types.logical_types import TimeAttribute, TimestampType
    >>> plain_type(TimestampType(3, time_attribute=TimeAttribute.ROWTIME))
    'TIMESTAMP(3)'
    """
    from dataclasses import replace

    if getattr(kind, "time_attribute", None) is not None:
        kind = replace(kind, time_attribute=None)  # type: ignore[call-arg]
    return sql_text(kind)


def physical_names(elements: Sequence[Element]) -> list[str]:
    """Return the names of the physical columns of a schema."""
    return [element.name[-1] for element in elements if isinstance(element, PhysicalElement)]


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeMismatchError("The name of a column is a string", seen=name)
    return name


def _type(kind: object) -> str:
    if isinstance(kind, str):
        return kind
    if not isinstance(kind, DataType):
        raise TypeMismatchError("The type of a column is a DataType or a string", seen=kind, expected="DataTypes.INT()")
    return plain_type(kind)


def _expression(expr: Any) -> str:
    if isinstance(expr, str):
        return expr
    text = getattr(expr, "as_sql", None)
    if callable(text):
        return str(text())
    raise TypeMismatchError("An expression of a schema is SQL in a string", seen=expr, expected="e.g. 'a + 1'")
