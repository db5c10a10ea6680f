"""How columns of CSV files are read and written: as the fields of messages are, but decimal numbers fit their column."""

from __future__ import annotations

from headrace.formats.csv_values import (
    Reader,
    Writer,
    array_reader,
    array_writer,
    null_reader,
    null_writer,
    reader_of,
    writer_of,
)
from headrace.types import java_parsing
from headrace.types.data_types import ArrayType, DataType, DecimalType, stream_type
from headrace.types.decimals import fitting, shortest_text

__all__ = ["column_reader", "column_writer"]


def column_reader(data_type: DataType, separator: str, null: str | None = None) -> Reader:
    """Return the function that reads the text of a column; a number with too many digits is None.

    >>> from headrace.table import DataTypes
    >>> read = column_reader(DataTypes.ARRAY(DataTypes.DECIMAL(3, 1)), ";")
    >>> read("1;2.25;1000")
    [Decimal('1.0'), Decimal('2.3'), None]
    """
    if isinstance(data_type, DecimalType):
        fit = fitting(data_type.precision, data_type.scale)
        return null_reader(lambda text: fit(java_parsing.decimal_number(text)), null)
    if isinstance(data_type, ArrayType):
        return null_reader(array_reader(column_reader(data_type.element_type, separator, null), separator), null)
    return reader_of(stream_type(data_type), separator, null)


def column_writer(data_type: DataType, separator: str, null: str = "") -> Writer:
    """Return the function that makes the text of a column; a number with too many digits is written as null.

    >>> from decimal import Decimal
    >>> from headrace.table import DataTypes
    >>> write = column_writer(DataTypes.DECIMAL(3, 1), ";", "null")
    >>> write(Decimal("2.25")), write(Decimal("1.0")), write(Decimal(1000))
    ('2.3', '1', 'null')
    """
    if isinstance(data_type, DecimalType):
        fit, text = fitting(data_type.precision, data_type.scale), null_writer(shortest_text, null)
        return null_writer(lambda value: text(fit(value)), null)
    if isinstance(data_type, ArrayType):
        return null_writer(array_writer(column_writer(data_type.element_type, separator, null), separator), null)
    return writer_of(stream_type(data_type), separator, null)
