"""The ARRAY_ functions. Elements are equal as `=` sees them; NULL elements are equal to each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from typing import Any

from headrace.table.functions.definition import Argument, ArgumentError, ScalarFunction, Signature
from headrace.table.functions.making import plain
from headrace.table.functions.signatures import (
    ARRAY,
    BINARY_TYPES,
    BOOLEAN,
    DATETIME_TYPES,
    INT,
    NUMERIC_TYPES,
    STRING,
    STRING_TYPES,
    Result,
    argument,
    nullable_if_any,
    nullable_if_first,
    signature,
)
from headrace.table.functions.type_rules import can_cast_implicitly, common_type, sql_text
from headrace.types.logical_types import ArrayType, BooleanType, DataType, IntType, NullType, VarCharType

Values = tuple[Any, ...]


def _element_infer(result: Callable[[Sequence[DataType], Sequence[Argument]], DataType]) -> Any:
    """Return an inference for an array and an element that can be cast to its element type."""

    def infer(arguments: Sequence[Argument]) -> Signature:
        if len(arguments) != 2 or not isinstance(arguments[0].type, ArrayType):
            raise ArgumentError("expected an array and an element")
        array, needle = arguments[0].type, arguments[1].type
        element = array.element_type
        if needle.is_nullable and not element.is_nullable:
            element = element.nullable()
        if not can_cast_implicitly(needle, element):
            raise ArgumentError(f"the element must be {sql_text(element)}, got {sql_text(needle)}")
        if not needle.is_nullable and needle.nullable() == element.nullable():
            element = element.not_null()
        types = (array, element)
        return Signature(types, result(types, arguments))

    return infer


def _added(types: Sequence[DataType], arguments: Sequence[Argument]) -> DataType:
    array = types[0]
    assert isinstance(array, ArrayType)
    nullable = array.is_nullable or types[1].is_nullable
    element = array.element_type.nullable() if types[1].is_nullable else array.element_type
    return ArrayType(element, is_nullable=nullable)


def _comparable(argument: Argument) -> DataType | None:
    """Fit an array whose elements can be ordered."""
    if not isinstance(argument.type, ArrayType):
        return None
    element = argument.type.element_type
    families = (*NUMERIC_TYPES, *STRING_TYPES, *BINARY_TYPES, *DATETIME_TYPES, NullType)
    return argument.type if isinstance(element, families) else None


def _common_infer(least: int, most: int | None) -> Any:
    """Return an inference for arrays that are cast to their common type."""

    def infer(arguments: Sequence[Argument]) -> Signature:
        count = len(arguments)
        if count < least or (most is not None and count > most):
            raise ArgumentError(f"expected {least if most == least else f'at least {least}'} arrays, got {count}")
        types = [each.type for each in arguments]
        if not all(isinstance(each, ArrayType) for each in types):
            raise ArgumentError("all arguments must be arrays")
        found = common_type(types)
        if found is None:
            raise ArgumentError(f"no common type of {', '.join(map(sql_text, types))}")
        nullable = any(each.is_nullable for each in types)
        found = found.nullable() if nullable else found.not_null()
        return Signature((found,) * count, found)

    return infer


def _contains(values: Values | None, needle: Any) -> bool | None:
    return None if values is None else needle in values


def _remove(values: Values | None, needle: Any) -> Values | None:
    return None if values is None else tuple(each for each in values if each != needle)


def _position(values: Values, needle: Any) -> int:
    return values.index(needle) + 1 if needle in values else 0


def _distinct(values: Values) -> Values:
    return tuple(dict.fromkeys(values))


def _slice(values: Values, start: int, end: int | None = None) -> Values:
    size = len(values)
    last = size if end is None else end + size + 1 if end < 0 else end
    first = max(1, start + size + 1 if start < 0 else start)
    last = 1 if last == 0 else min(last, size)
    return values[first - 1 : last] if values and last >= first else ()


def _compare(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def _sort(values: Values, ascending: bool = True, nulls_first: bool | None = None) -> Values:
    nulls_first = ascending if nulls_first is None else nulls_first
    known = sorted((each for each in values if each is not None), key=cmp_to_key(_compare), reverse=not ascending)
    nulls = (None,) * (len(values) - len(known))
    return (*nulls, *known) if nulls_first else (*known, *nulls)


def _extreme(choose: Callable[[list[Any]], Any]) -> Callable[[Values], Any]:
    def compute(values: Values) -> Any:
        known = [each for each in values if each is not None]
        return choose(known) if known else None

    return compute


def _except(left: Values, right: Values) -> Values:
    excluded = set(right)
    return tuple(each for each in dict.fromkeys(left) if each not in excluded)


def _intersect(left: Values, right: Values) -> Values:
    wanted = set(right)
    return tuple(each for each in dict.fromkeys(left) if each in wanted)


def _concat(*arrays: Values) -> Values:
    return tuple(each for array in arrays for each in array)


def _join(values: Values, delimiter: str, for_null: str | None = None) -> str:
    shown = (for_null if each is None else each for each in values)
    return delimiter.join(each for each in shown if each is not None)


def _texts(argument: Argument) -> DataType | None:
    array = argument.type
    return array if isinstance(array, ArrayType) and isinstance(array.element_type, STRING_TYPES) else None


def _element_of(types: Sequence[DataType]) -> DataType:
    array = types[0]
    assert isinstance(array, ArrayType)
    found: DataType = array.element_type.nullable()
    return found


def _fixed(result: DataType, *, first: bool) -> Any:
    compute: Result = nullable_if_first(result) if first else nullable_if_any(result)
    return _element_infer(lambda types, arguments: compute(types))


_SAME = nullable_if_any(argument(0))

FUNCTIONS: tuple[ScalarFunction, ...] = (
    plain("ARRAY_CONTAINS", _fixed(BooleanType(), first=True), _contains, strict=False),
    plain("ARRAY_POSITION", _fixed(IntType(), first=False), _position),
    plain(
        "ARRAY_REMOVE",
        _element_infer(lambda types, arguments: types[0]),
        _remove,
        strict=False,
    ),
    plain(
        "ARRAY_APPEND",
        _element_infer(_added),
        lambda values, item: None if values is None else (*values, item),
        strict=False,
    ),
    plain(
        "ARRAY_PREPEND",
        _element_infer(_added),
        lambda values, item: None if values is None else (item, *values),
        strict=False,
    ),
    plain("ARRAY_DISTINCT", signature(ARRAY, result=_SAME), _distinct),
    plain("ARRAY_REVERSE", signature(ARRAY, result=_SAME), lambda values: values[::-1]),
    plain("ARRAY_SLICE", signature(ARRAY, INT, INT, result=_SAME, optional=1), _slice),
    plain("ARRAY_SORT", signature(_comparable, BOOLEAN, BOOLEAN, result=_SAME, optional=2), _sort),
    plain("ARRAY_MAX", signature(_comparable, result=_element_of), _extreme(max)),
    plain("ARRAY_MIN", signature(_comparable, result=_element_of), _extreme(min)),
    plain("ARRAY_UNION", _common_infer(2, 2), lambda left, right: _distinct(left + right)),
    plain("ARRAY_EXCEPT", _common_infer(2, 2), _except),
    plain("ARRAY_INTERSECT", _common_infer(2, 2), _intersect),
    plain("ARRAY_CONCAT", _common_infer(1, None), _concat),
    plain("ARRAY_JOIN", signature(_texts, STRING, STRING, result=nullable_if_any(VarCharType()), optional=1), _join),
)
