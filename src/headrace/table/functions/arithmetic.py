"""The operators + - * / % and unary minus on numbers. Dates, times and intervals are in `temporal_arithmetic`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from ctypes import c_float
from decimal import Decimal
from typing import Any

from headrace.table.functions import temporal_arithmetic
from headrace.table.functions.columns.calculating import arithmetic_columns
from headrace.table.functions.decimals import (
    EXACT,
    QUOTIENT,
    addition_type,
    division_type,
    fitted,
    modulo_type,
    multiplication_type,
)
from headrace.table.functions.definition import Argument, ArgumentError, CallSite, Inline, ScalarFunction, Signature
from headrace.table.functions.inference import expect_count, expect_family, same_arguments, strict
from headrace.table.functions.numbers import (
    division_by_zero,
    double_quotient,
    double_remainder,
    integer_limits,
    integer_quotient,
    integer_remainder,
    rounded_result,
    to_float32,
    wrapper,
)
from headrace.table.functions.type_families import DATETIME, EXACT_NUMERIC, INTERVAL, NUMERIC, Family, family
from headrace.table.functions.type_rules import as_decimal, common_type
from headrace.types.logical_types import DataType, DecimalType, FloatType, NullType

_DECIMAL_TYPES: dict[str, Callable[[DecimalType, DecimalType], DecimalType]] = {
    "+": addition_type,
    "-": addition_type,
    "*": multiplication_type,
    "/": division_type,
    "%": modulo_type,
}


def _infer(name: str) -> Callable[[Sequence[Argument]], Signature]:
    def infer(arguments: Sequence[Argument]) -> Signature:
        if len(arguments) == 1 and name in "+-":
            return _infer_sign(arguments)
        expect_count(arguments, 2)
        left, right = same_arguments(arguments)
        if {family(left), family(right)} & (DATETIME | INTERVAL):
            return temporal_arithmetic.infer(name, arguments)
        for place, each in enumerate(arguments, 1):
            expect_family(each, EXACT_NUMERIC if name == "%" else NUMERIC, place)
        return _infer_numbers(name, arguments, left, right)

    return infer


def _infer_sign(arguments: Sequence[Argument]) -> Signature:
    expect_family(arguments[0], NUMERIC | INTERVAL)
    return strict(arguments, same_arguments(arguments), arguments[0].type)


def _infer_numbers(name: str, arguments: Sequence[Argument], left: DataType, right: DataType) -> Signature:
    if isinstance(left, NullType) and isinstance(right, NullType):
        raise ArgumentError(f"the type of NULL {name} NULL is not known; cast one of them")
    left = right if isinstance(left, NullType) else left
    right = left if isinstance(right, NullType) else right
    common = common_type([left, right])
    assert common is not None
    if family(left) is Family.APPROXIMATE and family(right) is Family.APPROXIMATE:
        common = left  # of FLOAT and DOUBLE, the first one
    left_decimal, right_decimal = as_decimal(left), as_decimal(right)
    if isinstance(common, DecimalType) and left_decimal is not None and right_decimal is not None:
        result: DataType = _DECIMAL_TYPES[name](left_decimal, right_decimal)
        return strict(arguments, (left_decimal, right_decimal), result)
    if name == "%" and family(common) is Family.INTEGER:
        return strict(arguments, (common, common), right)
    return strict(arguments, (common, common), common)


_INTEGER: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": integer_quotient,
    "%": integer_remainder,
}
_DOUBLE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": double_quotient,
    "%": double_remainder,
}


def _quotient(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise division_by_zero()
    return QUOTIENT.divide(left, right)


def _remainder(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise division_by_zero()
    return EXACT.remainder(left, right)


_DECIMAL: dict[str, Callable[[Any, Any], Any]] = {
    "+": EXACT.add,
    "-": EXACT.subtract,
    "*": EXACT.multiply,
    "/": _quotient,
    "%": _remainder,
}


def _rows(name: str) -> Callable[[CallSite], Callable[..., Any]]:
    def rows(site: CallSite) -> Callable[..., Any]:
        if len(site.arguments) == 1:
            return _negation(site.result) if name == "-" else lambda value: value
        if any(family(each.type) in DATETIME | INTERVAL for each in site.arguments):
            return temporal_arithmetic.rows(name, site)
        result = site.result
        match family(result):
            case Family.INTEGER:
                return rounded_result(_INTEGER[name], wrapper(result))
            case Family.DECIMAL:
                assert isinstance(result, DecimalType)
                compute, precision, scale = _DECIMAL[name], result.precision, result.scale
                return lambda left, right: fitted(compute(left, right), precision, scale)
        if isinstance(result, FloatType):
            return rounded_result(_DOUBLE[name], to_float32)
        return _DOUBLE[name]

    return rows


def _negation(data_type: DataType) -> Callable[[Any], Any]:
    match family(data_type):
        case Family.INTEGER:
            wrap = wrapper(data_type)
            return lambda value: wrap(-value)
        case Family.DECIMAL:
            return lambda value: EXACT.minus(value) if value else value
    return operator.neg


def _inline(name: str) -> Callable[[CallSite], Inline | None]:
    def inline(site: CallSite) -> Inline | None:
        if len(site.arguments) == 1:
            return None
        if any(family(each.type) in DATETIME | INTERVAL for each in site.arguments):
            return temporal_arithmetic.inline(name, site)
        result = site.result
        if name in "+-*" and family(result) is Family.INTEGER:
            low, high = integer_limits(result)
            source = f"{{t}} if {low} <= ({{t}} := {{0}} {name} {{1}}) <= {high} else {{wrap}}({{t}})"
            return Inline(source, {"wrap": wrapper(result)})
        if name in "+-*" and family(result) is Family.APPROXIMATE:
            source = f"{{0}} {name} {{1}}"
            if isinstance(result, FloatType):
                return Inline(f"{{float32}}({source}).value", {"float32": c_float})
            return Inline(source)
        return None

    return inline


def _operator(name: str) -> ScalarFunction:
    return ScalarFunction(name, _infer(name), rows=_rows(name), inline=_inline(name), columns=arithmetic_columns(name))


FUNCTIONS = tuple(map(_operator, ("+", "-", "*", "/", "%")))
ALIASES = {"MOD": "%"}
