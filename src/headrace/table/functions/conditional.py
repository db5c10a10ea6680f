"""CASE, IF, COALESCE, IFNULL, NULLIF, IN, GREATEST and LEAST.

Programs evaluate CASE, IF, COALESCE and IFNULL lazily: branches that are not taken never fail. The functions here define
the result for values that are already computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from headrace.table.functions.columns.comparing import in_columns
from headrace.table.functions.comparison import compared_types
from headrace.table.functions.definition import Argument, ArgumentError, CallSite, Inline, ScalarFunction, Signature
from headrace.table.functions.inference import (
    UNBOUNDED,
    any_nullable,
    expect_count,
    expect_family,
    same_arguments,
    strict,
)
from headrace.table.functions.type_families import Family
from headrace.table.functions.type_rules import common_type, with_nullability
from headrace.table.functions.type_text import sql_text
from headrace.types.logical_types import BooleanType, DataType, NullType


def _common(arguments: Sequence[Argument]) -> DataType:
    types = [each.type for each in arguments]
    found = common_type(types)
    if found is not None:
        return found
    if all(isinstance(each, NullType) for each in types):
        return NullType()
    raise ArgumentError(f"no common type of {', '.join(map(sql_text, types))}; cast some of them")


def _infer_case(arguments: Sequence[Argument]) -> Signature:
    if len(arguments) < 3 or len(arguments) % 2 == 0:
        raise ArgumentError("CASE takes pairs of a condition and a value, then the value otherwise")
    for place in range(0, len(arguments) - 1, 2):
        expect_family(arguments[place], {Family.BOOLEAN}, place + 1)
    result = _common([*arguments[1::2], arguments[-1]])
    types = tuple(
        with_nullability(
            BooleanType() if place % 2 == 0 and place < len(arguments) - 1 else result, each.type.is_nullable
        )
        for place, each in enumerate(arguments)
    )
    return Signature(types, result)


def _infer_if(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 3)
    return _infer_case(arguments)


def _case(*values: Any) -> Any:
    for place in range(0, len(values) - 1, 2):
        if values[place]:
            return values[place + 1]
    return values[-1]


def _infer_coalesce(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 1, UNBOUNDED)
    found = _common(arguments)
    nullable = all(each.type.is_nullable for each in arguments)
    return Signature(
        tuple(with_nullability(found, each.type.is_nullable) for each in arguments), with_nullability(found, nullable)
    )


def _infer_if_null(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 2)
    return _infer_coalesce(arguments)


def _coalesce(*values: Any) -> Any:
    return next((each for each in values if each is not None), None)


def _infer_null_if(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 2)
    compared_types(same_arguments(arguments), ordered=False)
    first, second = arguments
    return Signature((first.type, second.type), with_nullability(first.type, True))


def _null_if(value: Any, other: Any) -> Any:
    return None if value is not None and value == other else value


def _infer_in(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 2, UNBOUNDED)
    types = compared_types(same_arguments(arguments), ordered=False)
    return strict(arguments, types, BooleanType())


def _in(value: Any, *candidates: Any) -> bool | None:
    if value is None:
        return None
    if value in candidates:
        return True
    return None if None in candidates else False


def _rows_in(negated: bool) -> Callable[[CallSite], Callable[..., Any]]:
    def rows(site: CallSite) -> Callable[..., Any]:
        if all(each.constant for each in site.arguments[1:]):
            return _constant_in(site, negated)
        return (lambda *values: _inverted(_in(*values))) if negated else _in

    return rows


def _constant_in(site: CallSite, negated: bool) -> Callable[..., Any]:
    values = frozenset(each.value for each in site.arguments[1:])
    found, absent = not negated, None if None in values else negated

    def contains(value: Any, *_: Any) -> bool | None:
        return None if value is None else found if value in values else absent

    return contains


def _inline_in(negated: bool) -> Callable[[CallSite], Inline | None]:
    def inline(site: CallSite) -> Inline | None:
        candidates = site.arguments[1:]
        if not all(each.constant and each.value is not None for each in candidates):
            return None
        values = frozenset(each.value for each in candidates)
        source = "{0} not in {values}" if negated else "{0} in {values}"
        if site.arguments[0].type.is_nullable:
            source = f"None if ({{t}} := {{0}}) is None else {source.replace('{0}', '{t}')}"
        return Inline(source, {"values": values})

    return inline


def _inverted(value: bool | None) -> bool | None:
    return None if value is None else not value


def _infer_extreme(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 1, UNBOUNDED)
    found = _common(arguments)
    return strict(arguments, [found] * len(arguments), with_nullability(found, any_nullable(arguments)))


FUNCTIONS = (
    ScalarFunction("CASE", _infer_case, rows=lambda site: _case, strict=False),
    ScalarFunction("IF", _infer_if, rows=lambda site: _case, strict=False),
    ScalarFunction("COALESCE", _infer_coalesce, rows=lambda site: _coalesce, strict=False),
    ScalarFunction("IFNULL", _infer_if_null, rows=lambda site: _coalesce, strict=False),
    ScalarFunction("NULLIF", _infer_null_if, rows=lambda site: _null_if, strict=False),
    ScalarFunction(
        "IN", _infer_in, rows=_rows_in(False), columns=in_columns(False), strict=False, inline=_inline_in(False)
    ),
    ScalarFunction(
        "NOT IN", _infer_in, rows=_rows_in(True), columns=in_columns(True), strict=False, inline=_inline_in(True)
    ),
    ScalarFunction(
        "GREATEST", _infer_extreme, rows=lambda site: max if len(site.arguments) > 1 else lambda value: value
    ),
    ScalarFunction("LEAST", _infer_extreme, rows=lambda site: min if len(site.arguments) > 1 else lambda value: value),
)
