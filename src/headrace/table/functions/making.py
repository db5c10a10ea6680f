"""Shorthands for the modules that define functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.table.functions.definition import CallSite, Infer, ScalarFunction


def plain(
    name: str,
    infer: Infer,
    compute: Callable[..., Any],
    columns: Callable[[CallSite], Callable[..., Any] | None] | None = None,
    *,
    strict: bool = True,
    deterministic: bool = True,
) -> ScalarFunction:
    """Return a function whose row form is the same for every call."""
    return ScalarFunction(name, infer, lambda site: compute, columns, strict=strict, deterministic=deterministic)
