"""Expansion: BETWEEN is computed as comparisons joined by AND and OR, so its limits are evaluated only when needed."""

from __future__ import annotations

from headrace.table.functions.registry import scalar_function
from headrace.table.plan.rex import Call, Rex, children
from headrace.types.logical_types import BooleanType


def expand(rex: Rex) -> Call | None:
    """Return what a call of BETWEEN stands for, or None for other expressions.

    >>> from headrace.table.plan.rex import InputRef
    >>> from headrace.types.logical_types import IntType
    >>> a, b, c = (InputRef(IntType().not_null(), place) for place in range(3))
    >>> between = Call(BooleanType().not_null(), scalar_function("BETWEEN"), (a, b, c))
    >>> [each.function.name for each in expand(between).arguments]
    ['>=', '<=']
    """
    if not isinstance(rex, Call) or not rex.function.name.removeprefix("NOT ").startswith("BETWEEN"):
        return None
    if not is_deterministic(rex):
        return None  # the operands may be evaluated only once
    value, low, high = rex.arguments
    found = _within(value, low, high)
    if rex.function.name.endswith("SYMMETRIC"):
        found = _call("OR", found, _within(value, high, low))
    return _call("NOT", found) if rex.function.name.startswith("NOT ") else found


def is_deterministic(rex: Rex) -> bool:
    """Return whether every evaluation for the same row has the same result."""
    if isinstance(rex, Call) and not rex.function.deterministic:
        return False
    return all(map(is_deterministic, children(rex)))


def _within(value: Rex, low: Rex, high: Rex) -> Call:
    return _call("AND", _call(">=", value, low), _call("<=", value, high))


def _call(name: str, *arguments: Rex) -> Call:
    nullable = any(each.type.is_nullable for each in arguments)
    return Call(BooleanType() if nullable else BooleanType().not_null(), scalar_function(name), arguments)
