"""The classes of the types that `DataTypes` creates."""

from headrace.types.data_types import DataTypes
from headrace.types.logical_types import DataType, RowField, RowType

__all__ = ["DataType", "DataTypes", "RowField", "RowType"]
