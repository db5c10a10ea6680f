"""Casts: for every pair of types, the function that converts a value that is not null."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.table.functions.casts.from_text import parsing_cast
from headrace.table.functions.casts.numeric import numeric_cast
from headrace.table.functions.casts.rules import can_cast
from headrace.table.functions.casts.temporal import temporal_cast
from headrace.table.functions.casts.to_text import text_cast
from headrace.table.functions.definition import SqlMap
from headrace.table.functions.type_families import DATETIME, INTERVAL, NUMERIC, Family, family
from headrace.table.functions.type_rules import same_type
from headrace.types.logical_types import (
    ArrayType,
    BigIntType,
    BinaryType,
    DataType,
    IntType,
    MapType,
    MultisetType,
    RowType,
    VarBinaryType,
)

__all__ = ["can_cast", "value_cast"]

Cast = Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


def value_cast(source: DataType, target: DataType, time_zone: str = "UTC") -> Cast:
    """Return the function that casts values of one type to another; they are not None.

    >>> from headrace.types.logical_types import IntType, VarCharType
    >>> value_cast(ArrayType(IntType()), ArrayType(VarCharType()))((1, None))
    ('1', None)
    """
    if same_type(source, target) and family(source) is not Family.CHARACTER:
        return _same
    one, other = family(source), family(target)
    if other is Family.CHARACTER:
        return text_cast(source, target, time_zone)
    if one is Family.CHARACTER:
        return parsing_cast(target, time_zone)
    if one in NUMERIC | {Family.BOOLEAN} and other in NUMERIC:
        return numeric_cast(source, target)
    if one in NUMERIC and other is Family.BOOLEAN:
        return bool
    if one in DATETIME and other in DATETIME:
        return temporal_cast(source, target, time_zone)
    if one in INTERVAL or other in INTERVAL:
        return _same if one is other else _interval_cast(source, target)
    if one is Family.BINARY:
        return _binary_cast(target)
    return _nested_cast(source, target, time_zone)


def _interval_cast(source: DataType, target: DataType) -> Cast:
    if family(target) in NUMERIC:
        return numeric_cast(BigIntType(), target)
    return numeric_cast(source, IntType() if family(target) is Family.MONTHS else BigIntType())


def _binary_cast(target: DataType) -> Cast:
    assert isinstance(target, (BinaryType, VarBinaryType))
    length = target.length
    if isinstance(target, BinaryType):
        return lambda value: value[:length].ljust(length, b"\0")
    return lambda value: value[:length]


def _or_none(cast: Cast) -> Cast:
    return lambda value: None if value is None else cast(value)


def _nested_cast(source: DataType, target: DataType, time_zone: str) -> Cast:
    match source, target:
        case ArrayType(), ArrayType():
            element = _or_none(value_cast(source.element_type, target.element_type, time_zone))
            return lambda values: tuple(map(element, values))
        case MultisetType(), MultisetType():
            element = _or_none(value_cast(source.element_type, target.element_type, time_zone))
            return lambda values: SqlMap({element(key): count for key, count in values.items()})
        case MapType(), MapType():
            key = _or_none(value_cast(source.key_type, target.key_type, time_zone))
            value = _or_none(value_cast(source.value_type, target.value_type, time_zone))
            return lambda values: SqlMap({key(each): value(held) for each, held in values.items()})
        case RowType(), RowType():
            casts = [
                _or_none(value_cast(one, two, time_zone))
                for one, two in zip(source.field_types(), target.field_types())
            ]
            return lambda values: tuple([cast(each) for cast, each in zip(casts, values)])
    return _same
