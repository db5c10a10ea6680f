"""Mathematical functions of DOUBLE, and ABS, SIGN, CEIL, FLOOR, ROUND, TRUNCATE of all numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from typing import Any

from headrace.table.errors import SqlRuntimeError
from headrace.table.functions.decimals import EXACT, fitted, rounding_type
from headrace.table.functions.definition import Argument, CallSite, ScalarFunction, Signature
from headrace.table.functions.inference import doubles, expect_count, expect_family, fixed, strict
from headrace.table.functions.numbers import double_power, double_quotient, or_nan, to_float32, wrapper
from headrace.table.functions.type_families import INTERVAL, NUMERIC, Family, family
from headrace.types.logical_types import DataType, DecimalType, DoubleType, FloatType, IntType


def _double(name: str, compute: Callable[..., float], count: int = 1) -> ScalarFunction:
    return ScalarFunction(name, doubles(count), rows=lambda site: compute)


def _log(value: float) -> float:
    return _natural(value)


_natural = or_nan(math.log, at_pole=-math.inf)


def _log_of_base(*values: float) -> float:
    if len(values) == 1:
        return _natural(values[0])
    base, value = values
    return double_quotient(_natural(value), _natural(base))


def _infer_log(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 1, 2)
    return doubles(len(arguments))(arguments)


def _hyperbolic(compute: Callable[[float], float]) -> Callable[[float], float]:
    def safe(value: float) -> float:
        try:
            return compute(value)
        except OverflowError:
            return math.copysign(math.inf, value) if compute is math.sinh else math.inf

    return safe


def _cotangent(value: float) -> float:
    return double_quotient(1.0, math.tan(value)) if math.isfinite(value) else math.nan


def _infer_same(families: frozenset[Family]) -> Callable[[Sequence[Argument]], Signature]:
    def infer(arguments: Sequence[Argument]) -> Signature:
        expect_count(arguments, 1)
        expect_family(arguments[0], families)
        data_type = DoubleType() if family(arguments[0].type) is Family.NULL else arguments[0].type
        return strict(arguments, (data_type,), data_type)

    return infer


def _absolute(site: CallSite) -> Callable[[Any], Any]:
    match family(site.result):
        case Family.INTEGER:
            wrap = wrapper(site.result)
            return lambda value: wrap(abs(value))
        case Family.DECIMAL:
            return EXACT.abs
    return abs


def _sign(site: CallSite) -> Callable[[Any], Any]:
    if isinstance(site.result, DecimalType):
        precision, scale = site.result.precision, site.result.scale
        return lambda value: fitted(Decimal((value > 0) - (value < 0)), precision, scale)
    if family(site.result) is Family.INTEGER:
        return lambda value: (value > 0) - (value < 0)
    return lambda value: value if value == 0 or value != value else math.copysign(1.0, value)  # noqa: PLR0124 - NaN


def _infer_whole(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 1)
    expect_family(arguments[0], NUMERIC)
    data_type = DoubleType() if family(arguments[0].type) is Family.NULL else arguments[0].type
    result = DecimalType(data_type.precision, 0) if isinstance(data_type, DecimalType) else data_type
    return strict(arguments, (data_type,), result)


def _whole(rounding: str, of_float: Callable[[float], int]) -> Callable[[CallSite], Callable[[Any], Any]]:
    def rows(site: CallSite) -> Callable[[Any], Any]:
        match family(site.result):
            case Family.INTEGER:
                return lambda value: value
            case Family.DECIMAL:
                return lambda value: value.quantize(Decimal(1), rounding=rounding, context=EXACT) or Decimal(0)

        def of_double(value: float) -> float:
            return math.copysign(float(of_float(value)), value) if math.isfinite(value) else value

        return of_double

    return rows


def _infer_round(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 1, 2)
    expect_family(arguments[0], NUMERIC)
    if len(arguments) == 2:
        expect_family(arguments[1], frozenset({Family.INTEGER}), 2)
    data_type: DataType = DoubleType() if family(arguments[0].type) is Family.NULL else arguments[0].type
    result = data_type
    if isinstance(data_type, DecimalType):
        digits = arguments[1].value if len(arguments) == 2 and arguments[1].constant else None
        if len(arguments) == 1:
            result = rounding_type(data_type, 0)
        elif isinstance(digits, int):
            result = rounding_type(data_type, digits)
    return strict(arguments, (data_type, IntType()), result)


def _at_digits(rounding: str) -> Callable[[CallSite], Callable[..., Any]]:
    def rows(site: CallSite) -> Callable[..., Any]:
        result = site.result
        if isinstance(result, DecimalType):
            precision, scale = result.precision, result.scale
            return lambda value, digits=0: fitted(_rounded(value, digits, rounding), precision, scale)
        if family(result) is Family.INTEGER:
            wrap = wrapper(result)
            return lambda value, digits=0: (
                value if digits >= 0 else wrap(int(_rounded(Decimal(value), digits, rounding)))
            )
        narrow = to_float32 if isinstance(result, FloatType) else float

        def of_double(value: float, digits: int = 0) -> float:
            if not math.isfinite(value):
                raise SqlRuntimeError(f"Cannot round {value}", remedy="exclude infinite values and NaN")
            shortest = float_digits(value) if isinstance(result, FloatType) else Decimal(repr(value))
            return narrow(float(_rounded(shortest, digits, rounding)))

        return of_double

    return rows


def float_digits(value: float) -> Decimal:
    """Return a 32-bit float as the shortest decimal number that it is printed as."""
    from headrace.types.java_formatting import float_text

    return Decimal(float_text(value))


def _rounded(value: Decimal, digits: int, rounding: str) -> Decimal:
    exponent = -digits
    if value.as_tuple().exponent >= exponent:  # type: ignore[operator]
        return value
    if exponent > value.adjusted() + 1:
        return Decimal(0)
    return value.quantize(Decimal(1).scaleb(exponent), rounding=rounding, context=EXACT)


FUNCTIONS = (
    _double("POWER", double_power, 2),
    _double("SQRT", lambda value: double_power(value, 0.5)),
    _double("LN", _log),
    _double("LOG10", or_nan(math.log10, at_pole=-math.inf)),
    _double("LOG2", or_nan(lambda value: math.log(value) / math.log(2), at_pole=-math.inf)),
    ScalarFunction("LOG", _infer_log, rows=lambda site: _log_of_base),
    _double("EXP", or_nan(math.exp)),
    _double("SIN", or_nan(math.sin)),
    _double("COS", or_nan(math.cos)),
    _double("TAN", or_nan(math.tan)),
    _double("COT", _cotangent),
    _double("ASIN", or_nan(math.asin)),
    _double("ACOS", or_nan(math.acos)),
    _double("ATAN", math.atan),
    _double("ATAN2", math.atan2, 2),
    _double("SINH", _hyperbolic(math.sinh)),
    _double("COSH", _hyperbolic(math.cosh)),
    _double("TANH", math.tanh),
    _double("DEGREES", lambda value: value * (180.0 / math.pi)),
    _double("RADIANS", lambda value: value / 180.0 * math.pi),
    ScalarFunction("ABS", _infer_same(NUMERIC | INTERVAL), rows=_absolute),
    ScalarFunction("SIGN", _infer_same(NUMERIC), rows=_sign),
    ScalarFunction("CEIL", _infer_whole, rows=_whole(ROUND_CEILING, math.ceil)),
    ScalarFunction("FLOOR", _infer_whole, rows=_whole(ROUND_FLOOR, math.floor)),
    ScalarFunction("ROUND", _infer_round, rows=_at_digits(ROUND_HALF_UP)),
    ScalarFunction("TRUNCATE", _infer_round, rows=_at_digits(ROUND_DOWN)),
    ScalarFunction("PI", fixed(result=DoubleType()), rows=lambda site: lambda: math.pi),
    ScalarFunction("E", fixed(result=DoubleType()), rows=lambda site: lambda: math.e),
)
ALIASES = {"CEILING": "CEIL"}
