"""Column types, which describe the rows of files. The Table API itself is not part of this version."""

from headrace.types.data_types import DataTypes

__all__ = ["DataTypes"]
