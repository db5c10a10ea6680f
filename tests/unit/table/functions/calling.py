"""Calls of functions by hand: arguments as (type, value), constants or columns."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from headrace.table.functions.definition import Argument, CallSite, Session
from headrace.table.functions.registry import scalar_function
from headrace.types.logical_types import (
    BigIntType,
    BooleanType,
    CharType,
    DataType,
    DoubleType,
    IntType,
    NullType,
    VarBinaryType,
)

INT_LIMIT = 2**31


class Keyword(str):
    """A keyword argument, such as DAY."""


def argument(value: Any) -> Argument:
    """Return a value as a constant argument with the type of its literal."""
    match value:
        case Argument():
            return value
        case Keyword():
            return Argument(NullType(), str(value))
        case None:
            return Argument(NullType(), None)
        case bool():
            return Argument(BooleanType().not_null(), value)
        case int():
            return Argument((IntType() if abs(value) < INT_LIMIT else BigIntType()).not_null(), value)
        case float():
            return Argument(DoubleType().not_null(), value)
        case str():
            return Argument(CharType(len(value)).not_null(), value)
        case bytes():
            return Argument(VarBinaryType().not_null(), value)
    raise TypeError(value)


def site(name: str, *values: Any, session: Session | None = None) -> CallSite:
    """Return the call site of constants."""
    arguments = [argument(value) for value in values]
    signature = scalar_function(name).infer(arguments)
    typed = tuple(Argument(t, a.value) for t, a in zip(signature.arguments, arguments, strict=True))
    return CallSite(typed, signature.result, session or Session())


def call(name: str, *values: Any, session: Session | None = None) -> Any:
    """Return the result of a call of constants."""
    function = scalar_function(name)
    found = site(name, *values, session=session)
    plain = [each.value for each in found.arguments]
    if function.strict and any(value is None for value in plain):
        return None
    return function.rows(found)(*plain)


def result_type(name: str, *values: Any) -> DataType:
    """Return the type of the result of a call of constants."""
    return site(name, *values).result


def both_forms(name: str, *values: Any, session: Session | None = None) -> tuple[list[Any], list[Any]]:
    """Return the results of the row form and of the column form; columns are (type, list of values)."""
    function = scalar_function(name)
    arguments = [Argument(v[0]) if isinstance(v, tuple) else argument(v) for v in values]
    signature = function.infer(arguments)
    typed = tuple(Argument(t, a.value) for t, a in zip(signature.arguments, arguments, strict=True))
    found = CallSite(typed, signature.result, session or Session())
    count = next(len(v[1]) for v in values if isinstance(v, tuple))
    rows = [[v[1][i] if isinstance(v, tuple) else argument(v).value for v in values] for i in range(count)]
    compute = function.rows(found)
    by_row = [None if function.strict and None in row else compute(*row) for row in rows]
    assert function.columns is not None
    columns = function.columns(found)
    assert columns is not None, f"no column form for {name}"
    arrays = [pa.array(v[1]) if isinstance(v, tuple) else pa.scalar(argument(v).value) for v in values]
    return by_row, columns(*arrays).to_pylist()
