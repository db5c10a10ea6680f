"""Re-export of `headrace.types.data_types`."""

from headrace.types.data_types import (
    DataType,
    DataTypes,
    RowField,
    RowType,
    row_type_of_stream,
    stream_type,
)

__all__ = [
    "DataType",
    "DataTypes",
    "RowField",
    "RowType",
    "row_type_of_stream",
    "stream_type",
]
