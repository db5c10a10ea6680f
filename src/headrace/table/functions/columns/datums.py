"""What column forms share: pyarrow on first use, and arrays from arguments that may be scalars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.operators.table.batches import arrow_type, numpy, pyarrow

__all__ = ["ColumnForm", "any_true", "arrow_type", "compute", "if_else", "is_true", "numpy", "pyarrow"]

ColumnForm = Callable[..., Any]


def compute() -> Any:
    """Return `pyarrow.compute`."""
    return pyarrow("pyarrow.compute")


def is_true(condition: Any) -> Any:
    """Return a condition with nulls replaced by false."""
    return compute().fill_null(condition, False) if _has_nulls(condition) else condition


def _has_nulls(datum: Any) -> bool:
    return datum.null_count > 0 if hasattr(datum, "null_count") else not datum.is_valid


def any_true(condition: Any) -> bool:
    """Return whether a condition is true for at least one row."""
    if hasattr(condition, "null_count"):
        return compute().any(condition).as_py() is True
    return condition.as_py() is True


def if_else(condition: Any, value: Any, otherwise: Any) -> Any:
    """Choose by a condition; null counts as false."""
    return compute().if_else(is_true(condition), value, otherwise)
