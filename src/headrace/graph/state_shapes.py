"""Describes the shape of a table operator's state, so that a savepoint is only restored into an operator that can read it.

The shape is text, made of the fields of the spec that decide what the state contains: keys, aggregates, windows, limits and
types. Names of columns, expressions and options of the output are no part of it.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

from headrace.graph.specs import OperatorSpec
from headrace.graph.table_specs import Calc, TableSpec
from headrace.types.logical_types import DataType, RowType

_FREE = {
    "output_type",
    "title",
    "label",
    "columns",
    "update_before",
    "emits_kinds",
    "mini_batch",
    "batch",
    "condition",
    "early_fire",
    "late_fire",
    "allowed_lateness",
    "rank_column",
    "properties",
}
"""Fields that may change between a savepoint and its restore. State of rows and of columns is the same."""


def state_shape(spec: OperatorSpec) -> str | None:
    """Return the shape of the state, or None for an operator that is not of a table.

    >>> from headrace.graph.table_sort_specs import Deduplicate
    >>> state_shape(Deduplicate((0,), 1, True, False, ttl=5000))
    'Deduplicate(keys=[0], time=1, event_time=True, keep_last=False, ttl=True)'
    """
    return _text(spec) if isinstance(spec, TableSpec) and not isinstance(spec, Calc) else None


def _text(value: Any) -> str:
    if isinstance(value, RowType):
        return f"({', '.join(_text(kind) for kind in value.field_types())})"
    if isinstance(value, DataType):
        return str(replace(value, is_nullable=True))
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_text, value))}]"
    if value is None or isinstance(value, (bool, int, float, str)):
        return str(value)
    if isinstance(value, Enum):
        return value.name
    if is_dataclass(value) and not isinstance(value, type):
        # A value that is the default is left out, so that a field can be added to a spec in a later version.
        given = [(f.name, getattr(value, f.name)) for f in fields(value) if getattr(value, f.name) != f.default]
        parts = [_field(name, each) for name, each in given]
        return f"{type(value).__name__}({', '.join(part for part in parts if part)})"
    return type(value).__name__


def _field(name: str, value: Any) -> str:
    if name in _FREE or value == ():
        return ""
    return f"{name}={value > 0}" if name == "ttl" else f"{name}={_text(value)}"
