"""The errors of casts. TRY_CAST returns null instead."""

from __future__ import annotations

from typing import Any

from headrace.table.errors import SqlRuntimeError
from headrace.table.functions.type_text import type_name
from headrace.types.logical_types import DataType


class CastError(SqlRuntimeError):
    """A value cannot be cast."""


def malformed(value: Any, target: DataType) -> CastError:
    """Return the error of a value that does not have the form of a type.

    >>> from headrace.types.logical_types import IntType
    >>> print(malformed("abc", IntType()).args[0])
    Cannot cast 'abc' to INT
    """
    return CastError(f"Cannot cast {value!r} to {type_name(target)}", remedy="use TRY_CAST to get NULL instead")


def overflow(value: Any, target: DataType) -> CastError:
    """Return the error of a number that a type cannot hold."""
    return CastError(
        f"{value} is out of the range of {type_name(target)}", remedy="cast to a wider type, or use TRY_CAST"
    )
