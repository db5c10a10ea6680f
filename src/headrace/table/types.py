"""The classes of the types that `DataTypes` creates."""

from headrace.types.data_types import DataType, DataTypes, RowField, RowType

__all__ = ["DataType", "DataTypes", "RowField", "RowType"]
