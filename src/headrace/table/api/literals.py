"""Python values as constants of an expression."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from headrace.errors import TypeMismatchError
from headrace.table.analysis.inline import InlineExpression
from headrace.table.conversion import to_internal
from headrace.table.plan.rex import Literal
from headrace.table.sql.syntax import expressions as syntax
from headrace.types.logical_types import (
    ArrayType,
    DataType,
    DateType,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    TimestampType,
    TimeType,
)

_KINDS: dict[type, str] = {bool: "BOOLEAN", int: "INTEGER", float: "DOUBLE", str: "STRING", Decimal: "DECIMAL"}
_LARGEST = 2**63


def constant(value: Any, data_type: DataType | None = None) -> syntax.Expression:
    """Return a value as a constant, of the type that Flink gives it or of a given one.

    >>> constant(3)
    Literal(kind='INTEGER', value=3, charset=None)
    """
    if data_type is not None:
        return _typed(value, data_type)
    if value is None:
        return syntax.Literal("NULL", None)
    if isinstance(value, int) and not isinstance(value, bool) and not -_LARGEST <= value < _LARGEST:
        raise TypeMismatchError("An integer constant has at most 64 bits", seen=value, remedy="use Decimal")
    kind = _KINDS.get(type(value))
    if kind is not None:
        return syntax.Literal(kind, value)
    if isinstance(value, (bytes, bytearray)):
        return syntax.Literal("BINARY", bytes(value))
    found = _type_of(value)
    if found is not None:
        return _typed(value, found)
    if isinstance(value, (list, tuple)):
        return syntax.CollectionConstructor("ARRAY", tuple(constant(each) for each in value))
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "shape", None) == ():
        return constant(item())  # a number of numpy
    raise TypeMismatchError(
        f"A {type(value).__name__} cannot be used as a constant",
        seen=value,
        expected="a number, text, boolean, bytes, date, time, datetime, timedelta, list or an Expression",
        remedy="use lit(value, data_type)",
    )


def _typed(value: Any, data_type: DataType) -> syntax.Expression:
    if value is None:
        return InlineExpression(Literal(data_type.nullable(), None))
    element = data_type.element_type if isinstance(data_type, ArrayType) else None
    if element is not None and isinstance(value, (list, tuple)):
        items = tuple(_typed(each, element) for each in value)
        return syntax.CollectionConstructor("ARRAY", items)
    if isinstance(data_type, DayTimeIntervalType) and isinstance(value, datetime.timedelta):
        return InlineExpression(Literal(data_type, value // datetime.timedelta(milliseconds=1)))
    return InlineExpression(Literal(data_type, to_internal(data_type)(value)))


def _type_of(value: Any) -> DataType | None:
    match value:
        case datetime.datetime():
            digits = len(f"{value.microsecond:06}".rstrip("0"))
            if value.tzinfo is not None:
                return LocalZonedTimestampType(digits, is_nullable=False)
            return TimestampType(digits, is_nullable=False)
        case datetime.date():
            return DateType(is_nullable=False)
        case datetime.time():
            return TimeType(0, is_nullable=False)
        case datetime.timedelta():
            return DayTimeIntervalType("SECOND", 3, is_nullable=False)
    return None
