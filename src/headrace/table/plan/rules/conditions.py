"""Conditions as lists of conjuncts: taken apart, put together, and asked what they compare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain

from headrace.table.functions.definition import ScalarFunction
from headrace.table.functions.registry import scalar_function
from headrace.table.plan.rex import Call, InputRef, Literal, OverCall, Rex, Subquery, walk
from headrace.types.logical_types import BooleanType, DataType

MIRRORED = {
    "=": "=",
    "<>": "<>",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
    "IS NOT DISTINCT FROM": "IS NOT DISTINCT FROM",
}
"""Comparisons with the one that holds when the operands change places."""
TRUE = Literal(BooleanType(is_nullable=False), True)
FALSE = Literal(BooleanType(is_nullable=False), False)
_REJECT_NULLS = {"=", "<>", "<", "<=", ">", ">=", "BETWEEN", "LIKE", "IS NOT NULL", "IS TRUE"}


@cache
def function(name: str) -> ScalarFunction:
    """Return a built-in function."""
    return scalar_function(name)


def call(name: str, kind: DataType, *arguments: Rex) -> Call:
    """Return a call of a built-in function."""
    return Call(kind, function(name), arguments)


def conjuncts(condition: Rex | None) -> list[Rex]:
    """Return the parts of a condition that must all hold; BETWEEN counts as two comparisons."""
    if condition is None or is_true(condition):
        return []
    if isinstance(condition, Call):
        name, arguments = condition.function.name, condition.arguments
        if name == "AND":
            return list(chain.from_iterable(map(conjuncts, arguments)))
        if name == "BETWEEN" and len(arguments) == 3:
            value, low, high = arguments
            return [call(">=", condition.type, value, low), call("<=", condition.type, value, high)]
    return [condition]


def conjunction(parts: Iterable[Rex]) -> Rex | None:
    """Return the condition that all parts hold; None if there are none."""
    unique = list(dict.fromkeys(part for part in parts if not is_true(part)))
    if not unique:
        return None
    if len(unique) == 1:
        return unique[0]
    return call("AND", BooleanType(is_nullable=any(p.type.is_nullable for p in unique)), *unique)


def is_true(rex: Rex | None) -> bool:
    """Return whether an expression is the constant TRUE."""
    return isinstance(rex, Literal) and rex.value is True


def is_false(rex: Rex | None) -> bool:
    """Return whether a condition is constant and never true."""
    return isinstance(rex, Literal) and not rex.value and isinstance(rex.type, BooleanType)


def comparison(rex: Rex) -> tuple[str, Rex, Rex] | None:
    """Return the operator and the operands of a comparison."""
    if isinstance(rex, Call) and rex.function.name in MIRRORED and len(rex.arguments) == 2:
        return rex.function.name, rex.arguments[0], rex.arguments[1]
    return None


def movable(expressions: Sequence[Rex] | Rex) -> bool:
    """Return whether expressions may be evaluated elsewhere, or more than once, without a difference."""
    each = (expressions,) if isinstance(expressions, Rex) else expressions
    return all(
        not isinstance(part, (OverCall, Subquery)) and not (isinstance(part, Call) and not part.function.deterministic)
        for rex in each
        for part in walk(rex)
    )


def rejects_nulls(rex: Rex, columns: range) -> bool:
    """Return whether a conjunct is not true for rows in which all of `columns` are null."""
    if not isinstance(rex, Call) or rex.function.name not in _REJECT_NULLS:
        return False
    return any(_null_with(argument, columns) for argument in rex.arguments)


def _null_with(rex: Rex, columns: range) -> bool:
    if isinstance(rex, InputRef):
        return rex.index in columns
    if isinstance(rex, Call) and rex.function.strict and rex.function.name not in ("IS NULL", "IS NOT NULL"):
        return any(_null_with(argument, columns) for argument in rex.arguments)
    return False
