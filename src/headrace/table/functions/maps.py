"""The MAP_ functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace.table.errors import SqlRuntimeError
from headrace.table.functions.definition import Argument, ArgumentError, ScalarFunction, Signature
from headrace.table.functions.making import plain
from headrace.table.functions.signatures import ARRAY, MAP, nullable_if_any, signature
from headrace.table.functions.type_rules import common_type, sql_text
from headrace.types.logical_types import ArrayType, DataType, MapType, RowField, RowType
from headrace.types.sql_map import SqlMap


def _map_of(types: Sequence[DataType]) -> MapType:
    found = types[0]
    assert isinstance(found, MapType)
    return found


def _keys(types: Sequence[DataType]) -> DataType:
    return ArrayType(_map_of(types).key_type)


def _values(types: Sequence[DataType]) -> DataType:
    return ArrayType(_map_of(types).value_type)


def _entries(types: Sequence[DataType]) -> DataType:
    found = _map_of(types)
    return ArrayType(RowType((RowField("key", found.key_type), RowField("value", found.value_type))))


def _from_arrays_type(types: Sequence[DataType]) -> DataType:
    keys, values = types
    assert isinstance(keys, ArrayType) and isinstance(values, ArrayType)
    return MapType(keys.element_type, values.element_type)


def _from_arrays(keys: tuple[Any, ...], values: tuple[Any, ...]) -> SqlMap:
    if len(keys) != len(values):
        raise SqlRuntimeError(
            f"MAP_FROM_ARRAYS got {len(keys)} keys and {len(values)} values", remedy="pass arrays of the same length"
        )
    return SqlMap(zip(keys, values, strict=True))


def _union_infer(arguments: Sequence[Argument]) -> Signature:
    types = [each.type for each in arguments]
    if not types or not all(isinstance(each, MapType) for each in types):
        raise ArgumentError("all arguments must be maps")
    found = common_type(types)
    if found is None:
        raise ArgumentError(f"no common type of {', '.join(map(sql_text, types))}")
    return Signature((found,) * len(types), found)


def _union(*maps: SqlMap) -> SqlMap:
    """Return the entries of all maps; the last one counts. Entries of later maps come first."""
    result: dict[Any, Any] = dict(maps[0])
    for each in maps[1:]:
        if each:
            result = {**each, **{key: value for key, value in result.items() if key not in each}}
    return SqlMap(result)


FUNCTIONS: tuple[ScalarFunction, ...] = (
    plain("MAP_KEYS", signature(MAP, result=nullable_if_any(_keys)), tuple),
    plain("MAP_VALUES", signature(MAP, result=nullable_if_any(_values)), lambda value: tuple(value.values())),
    plain("MAP_ENTRIES", signature(MAP, result=nullable_if_any(_entries)), lambda value: tuple(value.items())),
    plain("MAP_FROM_ARRAYS", signature(ARRAY, ARRAY, result=nullable_if_any(_from_arrays_type)), _from_arrays),
    plain("MAP_UNION", _union_infer, _union),
)
