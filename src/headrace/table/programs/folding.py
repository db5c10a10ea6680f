"""Folding: calls of constants are computed when a program is made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headrace.table.functions import java_text
from headrace.table.functions.definition import Session
from headrace.table.plan.rex import Call, FieldAccess, Literal, Rex
from headrace.table.programs.calls import call_site
from headrace.table.programs.compiled import row_function
from headrace.table.programs.expanding import expand
from headrace.types.logical_types import CharType, DataType


def fold(rex: Rex, session: Session) -> Rex:
    """Return the expression with deterministic calls of constants replaced by their results.

    A call that fails stays: it must fail only if a row needs it. BETWEEN becomes AND, which evaluates only what it needs.

    >>> from headrace.table.functions.registry import scalar_function
    >>> from headrace.types.logical_types import IntType
    >>> two = Literal(IntType().not_null(), 2)
    >>> fold(Call(IntType().not_null(), scalar_function("+"), (two, two)), Session()).value
    4
    """
    match rex:
        case Call():
            folded = _folded_call(replace(rex, arguments=tuple(fold(each, session) for each in rex.arguments)), session)
            expanded = expand(folded)
            return folded if expanded is None else fold(expanded, session)
        case FieldAccess():
            inner = fold(rex.value, session)
            if isinstance(inner, Literal):
                return Literal(rex.type, None if inner.value is None else inner.value[rex.index])
            return replace(rex, value=inner)
    return rex


def _folded_call(call: Call, session: Session) -> Rex:
    values = [each.value for each in call.arguments if isinstance(each, Literal)]
    if not call.function.deterministic or len(values) < len(call.arguments):
        return call
    if call.function.strict and None in values:
        return Literal(call.type, None)
    try:
        return Literal(call.type, _fitted(call.type, call.function.rows(call_site(call, session))(*values)))
    except Exception:  # the call fails when, and only if, it is evaluated for a row
        return call


def _fitted(data_type: DataType, value: Any) -> Any:
    """Return a constant with the length of its type: the upper case of 'ß' is longer than its CHAR(1)."""
    return java_text.cut(value, 0, data_type.length) if isinstance(data_type, CharType) and value else value


def evaluate(rex: Rex, session: Session | None = None) -> Any:
    """Compute an expression without columns.

    >>> from headrace.types.logical_types import IntType
    >>> evaluate(Literal(IntType(), 2))
    2
    """
    session = session or Session()
    folded = fold(rex, session)
    return folded.value if isinstance(folded, Literal) else row_function(folded, session)(())
