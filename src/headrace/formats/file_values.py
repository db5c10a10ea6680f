"""What values become before they are written to the columns of files, as Flink's writers make it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.types.data_types import ArrayType, CharType, DataType, DecimalType, MapType, RowType
from headrace.types.decimals import fitting

__all__ = ["fitted", "has_char", "padded"]


def fitted(data_type: DataType) -> Callable[[Any], Any] | None:
    """Return the function for values of a type, None if they stay what they are: decimal numbers fit their column.

    >>> from headrace.table import DataTypes
    >>> fitted(DataTypes.DECIMAL(2, 0))(1.5), fitted(DataTypes.INT())
    (Decimal('2'), None)
    """
    return fitting(data_type.precision, data_type.scale) if isinstance(data_type, DecimalType) else None


def padded(data_type: DataType) -> Callable[[Any], Any] | None:
    """Return the function for values of ORC: also, texts of CHAR have blanks up to their length.

    >>> from headrace.table import DataTypes
    >>> padded(DataTypes.CHAR(3))("a")
    'a  '
    """
    if not isinstance(data_type, CharType):
        return fitted(data_type)
    length = data_type.length
    return lambda text: text.ljust(length)


def has_char(data_type: DataType) -> bool:
    """Return whether there is a CHAR in a type.

    >>> from headrace.table import DataTypes
    >>> has_char(DataTypes.ARRAY(DataTypes.CHAR(3))), has_char(DataTypes.STRING())
    (True, False)
    """
    if isinstance(data_type, RowType):
        return any(map(has_char, data_type.field_types()))
    if isinstance(data_type, ArrayType):
        return has_char(data_type.element_type)
    if isinstance(data_type, MapType):
        return has_char(data_type.key_type) or has_char(data_type.value_type)
    return isinstance(data_type, CharType)
