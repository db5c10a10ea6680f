"""Which expressions can fail for some values: those are evaluated only for the rows that need them."""

from __future__ import annotations

from headrace.table.functions.type_families import DATETIME, EXACT_NUMERIC, INTERVAL, Family, family
from headrace.table.plan.rex import Call, Literal, Rex, children

_TOTAL = frozenset(
    {"=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "AND", "OR", "NOT", "IN", "NOT IN"}
    | {"BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC", "NOT BETWEEN SYMMETRIC", "IS NULL", "IS NOT NULL", "IS TRUE"}
    | {"IS NOT TRUE", "IS FALSE", "IS NOT FALSE", "IS UNKNOWN", "IS NOT UNKNOWN", "CASE", "IF", "COALESCE", "IFNULL"}
    | {"NULLIF", "GREATEST", "LEAST", "+", "-", "*", "ABS", "SIGN", "CEIL", "FLOOR", "TRY_CAST", "TYPEOF"}
)
"""Functions that have a result for all values."""


def can_fail(rex: Rex) -> bool:
    """Return whether an expression can raise an error.

    >>> from headrace.table.plan.rex import InputRef
    >>> from headrace.types.logical_types import IntType
    >>> can_fail(InputRef(IntType(), 0))
    False
    """
    if isinstance(rex, Call) and _call_can_fail(rex):
        return True
    return any(map(can_fail, children(rex)))


def _call_can_fail(call: Call) -> bool:
    name = call.function.name
    if name in _TOTAL:
        return False
    if name in ("/", "%"):
        divisor = call.arguments[1]
        return family(call.type) is not Family.APPROXIMATE and not (isinstance(divisor, Literal) and divisor.value)
    if name == "CAST":
        source, target = family(call.arguments[0].type), family(call.type)
        if target is Family.CHARACTER or (source in DATETIME and target in DATETIME):
            return False
        if source in (Family.INTEGER, Family.BOOLEAN) or target is Family.APPROXIMATE:
            return source is Family.CHARACTER or target in INTERVAL
        return source not in EXACT_NUMERIC or target is not Family.DECIMAL
    return True
