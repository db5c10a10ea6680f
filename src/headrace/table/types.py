"""The classes of the types that `DataTypes` makes."""

from headrace.common.data_types import DataType, DataTypes, RowField, RowType

__all__ = ["DataType", "DataTypes", "RowField", "RowType"]
