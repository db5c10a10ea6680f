"""CsvSchema: the columns of CSV files and the format of their lines."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NoReturn

from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.formats.csv_lines import Dialect, one_character
from headrace.types.data_types import DataTypes
from headrace.types.logical_types import (
    ArrayType,
    BigIntType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    RowType,
    SmallIntType,
    TinyIntType,
)

_NUMBERS = (TinyIntType, SmallIntType, IntType, BigIntType, FloatType, DoubleType, DecimalType)


@dataclass(frozen=True)
class CsvSchema:
    """The columns and the format of lines; created by a builder.

    >>> schema = CsvSchema.builder().add_number_column("id").add_string_column("name").build()
    >>> len(schema), schema.row_type.field_names()
    (2, ['id', 'name'])
    """

    row_type: RowType
    separators: tuple[str, ...] = ()
    dialect: Dialect = field(default_factory=Dialect)
    null_value: str | None = None
    line_separator: str = "\n"
    use_header: bool = False
    skip_first_data_row: bool = False
    strict_headers: bool = False
    allow_comments: bool = False

    @staticmethod
    def builder() -> CsvSchemaBuilder:
        """Start a schema."""
        return CsvSchemaBuilder()

    def size(self) -> int:
        """Return the number of columns."""
        return len(self.row_type)

    def __len__(self) -> int:
        return self.size()


class CsvSchemaBuilder:
    r"""Collects columns, in order, and settings.

    >>> CsvSchemaBuilder().add_array_column("tags", "|").set_column_separator("\t").build().separators
    ('|',)
    """

    def __init__(self) -> None:
        """Programs call `CsvSchema.builder`."""
        self._columns: list[tuple[str, DataType, str | None]] = []
        self._separator = ";"
        self._schema = CsvSchema(DataTypes.ROW())

    def add_number_column(self, name: str, number_type: DataType | None = None) -> CsvSchemaBuilder:
        """Add a column of numbers, BIGINT by default."""
        kind = number_type or DataTypes.BIGINT()
        if not isinstance(kind, _NUMBERS):
            raise InvalidProgramError("A number column needs a numeric type", seen=kind)
        return self._add(name, kind)

    def add_string_column(self, name: str) -> CsvSchemaBuilder:
        """Add a column of strings."""
        return self._add(name, DataTypes.STRING())

    def add_boolean_column(self, name: str) -> CsvSchemaBuilder:
        """Add a column of booleans."""
        return self._add(name, DataTypes.BOOLEAN())

    def add_array_column(
        self, name: str, separator: str = ";", element_type: DataType | None = None
    ) -> CsvSchemaBuilder:
        """Add a column of arrays, of strings by default."""
        return self._add(name, DataTypes.ARRAY(element_type or DataTypes.STRING()), separator)

    def add_columns_from(self, schema: CsvSchema) -> CsvSchemaBuilder:
        """Add the columns of another schema."""
        for each, separator in zip(schema.row_type.fields, schema.separators):
            self._add(each.name, each.data_type, separator)
        return self

    def _add(self, name: str, data_type: DataType, separator: str | None = None) -> CsvSchemaBuilder:
        if not isinstance(name, str):
            raise TypeMismatchError("The name of a column must be a string", seen=name)
        if name in [each for each, _, _ in self._columns]:
            raise InvalidProgramError("The CSV schema already has this column", seen=name)
        self._columns.append((name, data_type, separator))
        return self

    def clear_columns(self) -> CsvSchemaBuilder:
        """Remove all columns."""
        self._columns.clear()
        return self

    def set_any_property_name(self, name: str) -> NoReturn:
        """Raise an error: rows cannot contain columns that the schema does not name."""
        raise InvalidProgramError("Rows cannot contain columns that the schema does not name", seen=name)

    def disable_array_element_separator(self) -> CsvSchemaBuilder:
        """Use no separator for the elements of arrays."""
        return self.set_array_element_separator("")

    def remove_array_element_separator(self, index: int) -> CsvSchemaBuilder:
        """Use no separator for the elements of one column."""
        name, data_type, _ = self._columns[index]
        self._columns[index] = (name, data_type, "")
        return self

    def set_array_element_separator(self, separator: str) -> CsvSchemaBuilder:
        """Set the default separator of the elements of arrays."""
        self._separator = separator
        return self

    def disable_escape_char(self) -> CsvSchemaBuilder:
        """Use no escape character."""
        return self._with(dialect=replace(self._schema.dialect, escape=None))

    def set_escape_char(self, char: str) -> CsvSchemaBuilder:
        """Set the escape character."""
        return self._with(dialect=replace(self._schema.dialect, escape=one_character(char, "The escape character")))

    def disable_quote_char(self) -> CsvSchemaBuilder:
        """Never quote fields."""
        return self._with(dialect=replace(self._schema.dialect, quote=None))

    def set_quote_char(self, char: str) -> CsvSchemaBuilder:
        """Set the quote character."""
        return self._with(dialect=replace(self._schema.dialect, quote=one_character(char, "The quote character")))

    def set_column_separator(self, char: str) -> CsvSchemaBuilder:
        """Set the separator of columns."""
        return self._with(dialect=replace(self._schema.dialect, delimiter=one_character(char, "The column separator")))

    def set_line_separator(self, separator: str) -> CsvSchemaBuilder:
        """Set the end of written lines; lines that are read may end with a line feed, a carriage return, or both."""
        return self._with(line_separator=separator)

    def set_null_value(self, null_value: str) -> CsvSchemaBuilder:
        """Set the string for null."""
        return self._with(null_value=null_value)

    def set_use_header(self, use: bool = True) -> CsvSchemaBuilder:
        """Skip the first line, or write one with the names. Columns are matched by position, as in Flink."""
        return self._with(use_header=use)

    def set_skip_first_data_row(self, skip: bool = True) -> CsvSchemaBuilder:
        """Skip the first line, or the first one after the header."""
        return self._with(skip_first_data_row=skip)

    def set_strict_headers(self, strict: bool = True) -> CsvSchemaBuilder:
        """Fail if a header has other names than the schema, or another order."""
        return self._with(strict_headers=strict)

    def set_allow_comments(self, allow: bool = True) -> CsvSchemaBuilder:
        """Skip lines that start with ``#``."""
        return self._with(allow_comments=allow)

    def _with(self, **settings: object) -> CsvSchemaBuilder:
        self._schema = replace(self._schema, **settings)  # type: ignore[arg-type]
        return self

    def size(self) -> int:
        """Return the number of columns."""
        return len(self._columns)

    def __len__(self) -> int:
        return self.size()

    def build(self) -> CsvSchema:
        """Build the schema."""
        rows = DataTypes.ROW([DataTypes.FIELD(name, data_type) for name, data_type, _ in self._columns])
        separators = tuple(
            self._separator if separator is None else separator if isinstance(data_type, ArrayType) else ""
            for _, data_type, separator in self._columns
        )
        return replace(self._schema, row_type=rows, separators=separators)
