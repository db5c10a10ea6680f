"""TableSchema: names and types of columns, the older form of ResolvedSchema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace.errors import InvalidProgramError
from headrace.types.logical_types import DataType, RowField, RowType

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["TableSchema"]


class TableSchema:
    """The names and types of columns.

    >>> from headrace.table import DataTypes
    >>> TableSchema(["a"], [DataTypes.INT()]).get_field_data_type("a")
    IntType(true)
    """

    def __init__(self, field_names: Sequence[str] | None = None, data_types: Sequence[DataType] | None = None) -> None:
        """Set names and types."""
        self._names, self._types = list(field_names or ()), list(data_types or ())
        if len(self._names) != len(self._types):
            raise InvalidProgramError(
                "Every column needs a name and a type", seen=f"{len(self._names)} names and {len(self._types)} types"
            )

    def copy(self) -> TableSchema:
        """Return a copy."""
        return TableSchema(self._names, self._types)

    def get_field_count(self) -> int:
        """Return the number of columns."""
        return len(self._names)

    def get_field_names(self) -> list[str]:
        """Return the names."""
        return list(self._names)

    def get_field_name(self, field_index: int) -> str | None:
        """Return the name of a column, None if there is no such column."""
        return self._names[field_index] if 0 <= field_index < len(self._names) else None

    def get_field_data_types(self) -> list[DataType]:
        """Return the types."""
        return list(self._types)

    def get_field_data_type(self, field: int | str) -> DataType | None:
        """Return the type of a column by its index or name, None if there is no such column."""
        if isinstance(field, str):
            field = self._names.index(field) if field in self._names else -1
        return self._types[field] if 0 <= field < len(self._types) else None

    def to_row_data_type(self) -> RowType:
        """Return the type of the rows."""
        return RowType(tuple(map(RowField, self._names, self._types)))

    def __eq__(self, other: object) -> bool:
        """Compare names and types."""
        return isinstance(other, TableSchema) and (self._names, self._types) == (other._names, other._types)

    def __hash__(self) -> int:
        """Hash the names."""
        return hash(tuple(self._names))

    def __repr__(self) -> str:
        """Return a line for each column."""
        from headrace.table.functions.type_text import sql_text

        lines = [f" |-- {name}: {sql_text(kind)}" for name, kind in zip(self._names, self._types)]
        return "\n".join(["root", *lines, ""])

    @classmethod
    def builder(cls) -> TableSchema.Builder:
        """Return a builder."""
        return TableSchema.Builder()

    class Builder:
        """Collects columns.

        >>> from headrace.table import DataTypes
        >>> TableSchema.builder().field("a", DataTypes.INT()).build().get_field_names()
        ['a']
        """

        def __init__(self) -> None:
            """Programs call `TableSchema.builder`."""
            self._names: list[str] = []
            self._types: list[DataType] = []

        def field(self, name: str, data_type: DataType) -> Self:
            """Add a column."""
            self._names.append(name)
            self._types.append(data_type)
            return self

        def build(self) -> TableSchema:
            """Return the schema."""
            return TableSchema(self._names, self._types)
