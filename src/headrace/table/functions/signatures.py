"""Small parts from which the type inference of functions is built: what arguments must be, and what the result is.

A `Fit` says to which type an argument is cast, or None if it does not fit. A `Result` computes the type of the result from
the types of the arguments. `signature` makes an `Infer` of them, `any_of` tries several signatures in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from headrace.table.functions.definition import Argument, ArgumentError, Infer, Signature
from headrace.table.functions.type_text import sql_text
from headrace.types.logical_types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)

Fit = Callable[[Argument], DataType | None]
Result = Callable[[Sequence[DataType]], DataType]

LONGEST = 2**31 - 1
STRING_TYPES = (CharType, VarCharType)
BINARY_TYPES = (BinaryType, VarBinaryType)
INTEGER_TYPES = (TinyIntType, SmallIntType, IntType, BigIntType)
NUMERIC_TYPES = (*INTEGER_TYPES, FloatType, DoubleType, DecimalType)
TIMESTAMP_TYPES = (TimestampType, LocalZonedTimestampType)
DATETIME_TYPES = (DateType, TimeType, *TIMESTAMP_TYPES)
INTERVAL_TYPES = (YearMonthIntervalType, DayTimeIntervalType)


def family(*types: type[DataType], null: DataType | None = None, others: tuple[Any, ...] = ()) -> Fit:
    """Return a fit for the given types. NULL literals get the type `null`; types among `others` are cast to it too."""
    for_null = null if null is not None else types[0]()

    def fit(argument: Argument) -> DataType | None:
        if isinstance(argument.type, types):
            return argument.type
        if isinstance(argument.type, (NullType, *others)) and not is_symbol(argument):
            nullable: DataType = for_null if argument.type.is_nullable else for_null.not_null()
            return nullable
        return None

    return fit


def is_symbol(argument: Argument) -> bool:
    """Return whether an argument is a keyword, such as the DAY of `EXTRACT(DAY FROM ts)`."""
    return isinstance(argument.type, NullType) and isinstance(argument.value, str)


STRING = family(*STRING_TYPES, null=VarCharType())


def TYPED_STRING(argument: Argument) -> DataType | None:
    """Fit strings, but no NULL without a type: the older functions refuse it."""
    return argument.type if isinstance(argument.type, STRING_TYPES) else None


BINARY = family(*BINARY_TYPES, null=VarBinaryType())
INTEGER = family(*INTEGER_TYPES, null=IntType())
NUMERIC = family(*NUMERIC_TYPES, null=IntType())
BOOLEAN = family(BooleanType)
TIMESTAMP = family(*TIMESTAMP_TYPES, null=TimestampType(3))
DATETIME = family(*DATETIME_TYPES, null=TimestampType(3))
INTERVAL = family(*INTERVAL_TYPES)
ARRAY = family(ArrayType)
MAP = family(MapType)
COLLECTION = family(ArrayType, MapType, MultisetType)


def ANY(argument: Argument) -> DataType | None:
    """Fit every argument."""
    return argument.type


def INT(argument: Argument) -> DataType | None:
    """Fit integers that are implicitly cast to INT."""
    if isinstance(argument.type, (TinyIntType, SmallIntType, IntType, NullType)) and not is_symbol(argument):
        return IntType(is_nullable=argument.type.is_nullable)
    return None


def BIGINT(argument: Argument) -> DataType | None:
    """Fit integers, cast to BIGINT."""
    if isinstance(argument.type, (*INTEGER_TYPES, NullType)) and not is_symbol(argument):
        return BigIntType(is_nullable=argument.type.is_nullable)
    return None


def symbol(*names: str) -> Fit:
    """Return a fit for one of the given keywords."""

    def fit(argument: Argument) -> DataType | None:
        return argument.type if is_symbol(argument) and argument.value in names else None

    return fit


def either(*fits: Fit) -> Fit:
    """Return a fit that takes the first answer of others."""

    def fit(argument: Argument) -> DataType | None:
        return next((found for each in fits if (found := each(argument)) is not None), None)

    return fit


def literal(inner: Fit) -> Fit:
    """Return a fit for constants only."""

    def fit(argument: Argument) -> DataType | None:
        return inner(argument) if argument.constant else None

    return fit


def signature(*fits: Fit, result: Result, rest: Fit | None = None, optional: int = 0) -> Infer:
    """Return an inference for the given parameters: the last `optional` may be left out, any number of `rest` may follow."""

    def infer(arguments: Sequence[Argument]) -> Signature:
        least, most = len(fits) - optional, len(fits)
        if len(arguments) < least or (rest is None and len(arguments) > most):
            raise ArgumentError(f"expected {_count(least, most, rest)}, got {len(arguments)}")
        types: list[DataType] = []
        for index, argument in enumerate(arguments):
            fit = fits[index] if index < most else rest
            found = fit(argument) if fit is not None else None
            if found is None:
                raise ArgumentError(f"argument {index + 1} cannot be {_shown(argument)}")
            types.append(found)
        return Signature(tuple(types), result(types))

    return infer


def any_of(*infers: Infer) -> Infer:
    """Return an inference that takes the first signature that fits."""

    def infer(arguments: Sequence[Argument]) -> Signature:
        problems: list[str] = []
        for each in infers:
            try:
                return each(arguments)
            except ArgumentError as error:
                problems.append(str(error))
        raise ArgumentError("; or ".join(dict.fromkeys(problems)))

    return infer


def _count(least: int, most: int, rest: Fit | None) -> str:
    if rest is not None:
        return f"at least {least} arguments"
    return f"{least} arguments" if least == most else f"{least} to {most} arguments"


def _shown(argument: Argument) -> str:
    return f"the keyword {argument.value}" if is_symbol(argument) else sql_text(argument.type)


def always(result: DataType) -> Result:
    """Return a result of exactly this type."""
    return lambda types: result


def nullable_if_any(result: DataType | Result) -> Result:
    """Return a result that is nullable if an argument is."""

    def compute(types: Sequence[DataType]) -> DataType:
        found: DataType = result if isinstance(result, DataType) else result(types)
        nullable = any(each.is_nullable for each in types if not isinstance(each, NullType))
        return found.nullable() if nullable else found.not_null()  # type: ignore[no-any-return]

    return compute


def nullable_if_first(result: DataType | Result) -> Result:
    """Return a result that is nullable if the first argument is."""

    def compute(types: Sequence[DataType]) -> DataType:
        found: DataType = result if isinstance(result, DataType) else result(types)
        return found.nullable() if types[0].is_nullable else found.not_null()  # type: ignore[no-any-return]

    return compute


def nullable(result: DataType | Result) -> Result:
    """Return a result that is always nullable."""

    def compute(types: Sequence[DataType]) -> DataType:
        found: DataType = result if isinstance(result, DataType) else result(types)
        return found.nullable()  # type: ignore[no-any-return]

    return compute


def argument(index: int) -> Result:
    """Return a result of the type of an argument."""
    return lambda types: types[index]


def varying(index: int) -> Result:
    """Return a result of the type of a string argument, with a variable length."""

    def compute(types: Sequence[DataType]) -> DataType:
        found = types[index]
        if isinstance(found, CharType):
            return VarCharType(found.length, is_nullable=found.is_nullable)
        if isinstance(found, BinaryType):
            return VarBinaryType(found.length, is_nullable=found.is_nullable)
        return found

    return compute


TEXT = VarCharType()
"""The type STRING."""
