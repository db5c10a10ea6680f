"""Types from their SQL."""

from __future__ import annotations

from headrace.table.analysis.types import logical_type
from headrace.table.sql import parse_statements
from headrace.table.sql.syntax.statements import CreateTable
from headrace.table.sql.syntax.tables import PhysicalColumn
from headrace.types.logical_types import DataType


def parsed_type(text: str) -> DataType:
    """Return the type that a text means.

    >>> parsed_type("ARRAY<INT NOT NULL>")
    ArrayType(IntType(false), true)
    """
    (statement,) = parse_statements(f"CREATE TABLE t (c {text})")
    assert isinstance(statement, CreateTable)
    (column,) = statement.elements
    assert isinstance(column, PhysicalColumn)
    return logical_type(column.type)
