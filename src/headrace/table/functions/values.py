"""Construction of collections and rows, and access to what is inside: ARRAY, MAP, ROW, ITEM, CARDINALITY, ELEMENT."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from headrace.table.errors import SqlRuntimeError
from headrace.table.functions.definition import Argument, ArgumentError, CallSite, ScalarFunction, Signature
from headrace.table.functions.making import plain
from headrace.table.functions.signatures import (
    ARRAY,
    COLLECTION,
    INTEGER_TYPES,
    STRING_TYPES,
    nullable_if_any,
    signature,
)
from headrace.table.functions.type_rules import can_cast_implicitly, common_type, sql_text
from headrace.types.logical_types import (
    ArrayType,
    BigIntType,
    DataType,
    IntType,
    MapType,
    MultisetType,
    NullType,
    RowField,
    RowType,
    VarCharType,
)
from headrace.types.sql_map import SqlMap


def _common(types: Sequence[DataType], what: str) -> DataType:
    found = common_type(list(types))
    if found is None:
        raise ArgumentError(f"{what} have no common type: {', '.join(map(sql_text, types))}")
    return found


def _array_infer(arguments: Sequence[Argument]) -> Signature:
    types = [each.type for each in arguments]
    if not types:
        raise ArgumentError("an array needs at least one element")
    element = _common(types, "the elements")
    return Signature((element,) * len(types), ArrayType(element, is_nullable=False))


def _map_infer(arguments: Sequence[Argument]) -> Signature:
    if len(arguments) % 2 or not arguments:
        raise ArgumentError("a map needs a value for each key")
    types = [each.type for each in arguments]
    key = _common(types[::2], "the keys")
    untyped = all(isinstance(each, NullType) for each in types[1::2])
    value = VarCharType() if untyped else _common(types[1::2], "the values")
    return Signature((key, value) * (len(types) // 2), MapType(key, value, is_nullable=False))


def _row_infer(arguments: Sequence[Argument]) -> Signature:
    types = tuple(each.type for each in arguments)
    fields = tuple(RowField(f"EXPR${index}", each) for index, each in enumerate(types))
    return Signature(types, RowType(fields, is_nullable=False))


def _map(*items: Any) -> SqlMap:
    return SqlMap(zip(items[::2], items[1::2], strict=True))


def _item_infer(arguments: Sequence[Argument]) -> Signature:
    if len(arguments) != 2:
        raise ArgumentError("expected a collection and an index or key")
    collection, index = (each.type for each in arguments)
    match collection:
        case ArrayType():
            if not isinstance(index, INTEGER_TYPES) or isinstance(index, BigIntType):
                raise ArgumentError(f"the index of an array must be an integer, got {sql_text(index)}")
            if arguments[1].constant and arguments[1].value is not None and arguments[1].value <= 0:
                raise ArgumentError(f"the index of an array starts at 1, got {arguments[1].value}")
            return Signature((collection, index), collection.element_type.nullable())
        case MapType():
            strings = isinstance(index, STRING_TYPES) and isinstance(collection.key_type, STRING_TYPES)
            if not strings and not can_cast_implicitly(index, collection.key_type):
                raise ArgumentError(f"the key must be {sql_text(collection.key_type)}, got {sql_text(index)}")
            key = index if strings else collection.key_type
            key = key.nullable() if index.is_nullable else key
            return Signature((collection, key), collection.value_type.nullable())
        case RowType():
            return _field_infer(collection, arguments[1])
    raise ArgumentError(f"expected an array, a map or a row, got {sql_text(collection)}")


def _field_infer(row: RowType, index: Argument) -> Signature:
    place = _place(row, index.value) if index.constant else -1
    if place < 0:
        raise ArgumentError("the field of a row must be a constant position or name")
    found = row.fields[place].data_type
    return Signature((row, index.type), found.nullable() if row.is_nullable else found)


def _place(row: RowType, key: Any) -> int:
    names = row.field_names()
    if isinstance(key, str):
        return names.index(key) if key in names else -1
    return key - 1 if isinstance(key, int) and 1 <= key <= len(names) else -1


def _element_at(values: tuple[Any, ...], index: int) -> Any:
    if index <= 0:
        raise SqlRuntimeError(f"The index of an array starts at 1, got {index}")
    return values[index - 1] if index <= len(values) else None


def _item_rows(site: CallSite) -> Callable[..., Any]:
    collection = site.arguments[0].type
    if isinstance(collection, MapType):
        return lambda values, key: values.get(key)
    if isinstance(collection, RowType):
        place = _place(collection, site.arguments[1].value)
        return lambda values, _: values[place]
    return _element_at


def _cardinality_rows(site: CallSite) -> Callable[..., int]:
    if isinstance(site.arguments[0].type, MultisetType):
        return lambda values: sum(values.values())
    return len


def _element_type(types: Sequence[DataType]) -> DataType:
    array = types[0]
    assert isinstance(array, ArrayType)
    return array.element_type.nullable() if array.is_nullable else array.element_type


def _element(values: tuple[Any, ...]) -> Any:
    if len(values) > 1:
        raise SqlRuntimeError(f"ELEMENT needs an array with one element at most, got {len(values)}")
    return values[0] if values else None


FUNCTIONS: tuple[ScalarFunction, ...] = (
    plain("ARRAY", _array_infer, lambda *items: items, strict=False),
    plain("MAP", _map_infer, _map, strict=False),
    plain("ROW", _row_infer, lambda *items: items, strict=False),
    ScalarFunction("ITEM", _item_infer, _item_rows),
    ScalarFunction("CARDINALITY", signature(COLLECTION, result=nullable_if_any(IntType())), _cardinality_rows),
    plain(
        "ELEMENT",
        signature(ARRAY, result=_element_type),
        _element,
    ),
)
