"""The classes of the types that `DataTypes` makes."""

from headrace.types.data_types import DataType, DataTypes, RowField, RowType

__all__ = ["DataType", "DataTypes", "RowField", "RowType"]
