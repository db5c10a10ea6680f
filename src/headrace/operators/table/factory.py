"""Create the running operator for a spec of a table. Each module of operators has a dict `OPERATORS` of its specs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from headrace.errors import InvalidProgramError
from headrace.graph.table_specs import TableSpec
from headrace.operators.base import Operator

_MODULES = (
    "calc",
    "watermarks",
    "column_groups",
    "window_aggregate",
    "window_table",
    "two_phases",
    "joins",
    "overs",
    "ranks",
    "windowed",
    "lookup_join",
    "rowwise",
    "changelog",
    "match",
    "bridge",
)
"""Modules of this package with a dict `OPERATORS`: spec class -> function of the spec that returns the operator."""


@cache
def _makers() -> dict[type[TableSpec], Callable[[Any], Operator]]:
    found: dict[type[TableSpec], Callable[[Any], Operator]] = {}
    for module in _MODULES:
        found |= import_module(f"headrace.operators.table.{module}").OPERATORS
    return found


def create(spec: TableSpec) -> Operator:
    """Return the running operator for a spec.

    >>> from headrace.graph.table_specs import DropUpdateBefore
    >>> type(create(DropUpdateBefore())).__name__
    'DropUpdateBeforeOperator'
    """
    maker = _makers().get(type(spec))
    if maker is None:
        raise InvalidProgramError(f"There is no operator for the spec {type(spec).__name__}")
    return maker(spec)
