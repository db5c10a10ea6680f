"""What values become before they are written to the columns of files, as Flink's writers make it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.common.data_types import DataType, DecimalType
from headrace.common.decimals import fitting

__all__ = ["fitted"]


def fitted(data_type: DataType) -> Callable[[Any], Any] | None:
    """Give the function for values of a type, None if they stay what they are: decimal numbers fit their column.

    >>> from headrace.table import DataTypes
    >>> fitted(DataTypes.DECIMAL(2, 0))(1.5), fitted(DataTypes.INT())
    (Decimal('2'), None)
    """
    return fitting(data_type.precision, data_type.scale) if isinstance(data_type, DecimalType) else None
