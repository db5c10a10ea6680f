"""Comparisons: = <> < <= > >=, IS [NOT] DISTINCT FROM, BETWEEN, and the tests for null and truth."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from headrace.table.functions.columns.comparing import between_columns, comparison_columns, distinct_columns
from headrace.table.functions.definition import Argument, ArgumentError, CallSite, Inline, ScalarFunction, Signature
from headrace.table.functions.inference import expect_count, same_arguments, strict
from headrace.table.functions.type_families import DATETIME, EXACT_NUMERIC, NUMERIC, Family, family, integer_digits
from headrace.table.functions.type_rules import comparison_type, same_type, with_nullability
from headrace.table.functions.type_text import sql_text
from headrace.types.logical_types import BooleanType, DataType, DecimalType

_UNORDERED = frozenset({Family.MAP, Family.MULTISET, Family.RAW, Family.ARRAY})


def compared_types(types: Sequence[DataType], ordered: bool) -> tuple[DataType, ...]:
    """Return the types that values are cast to before they are compared with the first; raise ArgumentError if they cannot.

    >>> from headrace.types.logical_types import IntType, BigIntType, VarCharType
    >>> compared_types([IntType().not_null(), BigIntType()], ordered=True)
    (BigIntType(false), BigIntType(true))
    """
    found: DataType | None = types[0]
    for each in types[1:]:
        found = None if found is None else comparison_type(found, each)
    if found is None:
        raise ArgumentError(f"cannot compare {' with '.join(map(sql_text, types))}")
    if ordered and family(found) in _UNORDERED:
        raise ArgumentError(f"{sql_text(found)} has no order")
    return tuple(_compared_as(each, found) for each in types)


def _compared_as(data_type: DataType, target: DataType) -> DataType:
    kind, target_family = family(data_type), family(target)
    if kind is Family.NULL:
        return with_nullability(target, True)
    if kind in EXACT_NUMERIC and target_family is Family.DECIMAL and _loses_digits(data_type, target):
        return data_type  # numbers of different scales can be compared as they are
    if kind in NUMERIC and not same_type(data_type, target):
        return with_nullability(target, data_type.is_nullable)
    if kind is not target_family and (kind in DATETIME or kind is Family.CHARACTER):
        return with_nullability(target, data_type.is_nullable)
    return data_type


def _loses_digits(data_type: DataType, target: DataType) -> bool:
    assert isinstance(target, DecimalType)
    whole = (
        data_type.precision - data_type.scale if isinstance(data_type, DecimalType) else integer_digits(data_type) or 0
    )
    return target.precision - target.scale < whole


def _infer_comparison(ordered: bool) -> Callable[[Sequence[Argument]], Signature]:
    def infer(arguments: Sequence[Argument]) -> Signature:
        expect_count(arguments, 2)
        types = compared_types(same_arguments(arguments), ordered)
        return strict(arguments, types, BooleanType())

    return infer


def _comparison(name: str, compare: Callable[[Any, Any], bool], source: str, ordered: bool) -> ScalarFunction:
    return ScalarFunction(
        name,
        _infer_comparison(ordered),
        rows=lambda site: compare,
        inline=lambda site: Inline(f"{{0}} {source} {{1}}"),
        columns=comparison_columns(name),
    )


def _infer_distinct(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 2)
    types = compared_types(same_arguments(arguments), ordered=False)
    return Signature(types, BooleanType().not_null())


def _distinct(name: str, source: str, compare: Callable[[Any, Any], bool]) -> ScalarFunction:
    return ScalarFunction(
        name,
        _infer_distinct,
        rows=lambda site: compare,
        inline=lambda site: Inline(f"{{0}} {source} {{1}}"),
        columns=distinct_columns(negated=compare is operator.eq),
        strict=False,
    )


def _infer_between(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 3)
    types = compared_types(same_arguments(arguments), ordered=True)
    return strict(arguments, types, BooleanType())


def _not_below(left: Any, right: Any) -> bool | None:
    return None if left is None or right is None else left >= right


def _and(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _inverted(value: bool | None) -> bool | None:
    return None if value is None else not value


def _between(value: Any, low: Any, high: Any) -> bool | None:
    return _and(_not_below(value, low), _not_below(high, value))


def _symmetric(value: Any, low: Any, high: Any) -> bool | None:
    # (low <= value and value <= high) or the same with the limits exchanged
    first, second = _between(value, low, high), _between(value, high, low)
    if first or second:
        return True
    return None if first is None or second is None else False


def _between_function(name: str, compute: Callable[..., bool | None], *, negated: bool) -> ScalarFunction:
    def rows(site: CallSite) -> Callable[..., Any]:
        return (lambda *values: _inverted(compute(*values))) if negated else compute

    columns = between_columns(negated, symmetric=compute is _symmetric)
    return ScalarFunction(name, _infer_between, rows, columns=columns, strict=False)


FUNCTIONS = (
    _comparison("=", operator.eq, "==", False),
    _comparison("<>", operator.ne, "!=", False),
    _comparison("<", operator.lt, "<", True),
    _comparison("<=", operator.le, "<=", True),
    _comparison(">", operator.gt, ">", True),
    _comparison(">=", operator.ge, ">=", True),
    _distinct("IS DISTINCT FROM", "!=", operator.ne),
    _distinct("IS NOT DISTINCT FROM", "==", operator.eq),
    _between_function("BETWEEN", _between, negated=False),
    _between_function("NOT BETWEEN", _between, negated=True),
    _between_function("BETWEEN SYMMETRIC", _symmetric, negated=False),
    _between_function("NOT BETWEEN SYMMETRIC", _symmetric, negated=True),
)
ALIASES = {"!=": "<>"}
