"""Building blocks of type inference: counts of arguments, expected families, nullability."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from headrace.table.functions.definition import Argument, ArgumentError, Infer, Signature
from headrace.table.functions.type_families import NUMERIC, Family, family
from headrace.table.functions.type_rules import can_cast_implicitly, with_nullability
from headrace.table.functions.type_text import sql_text
from headrace.types.logical_types import BooleanType, DataType, DoubleType, NullType

_FAMILY_NAMES = {
    **dict.fromkeys(NUMERIC, "a number"),
    Family.CHARACTER: "a string",
    Family.MONTHS: "an interval",
    Family.DURATION: "an interval",
}
UNBOUNDED = 2**31  # more arguments than any call has


def expect_count(arguments: Sequence[Argument], least: int, most: int | None = None) -> None:
    """Raise ArgumentError unless there are between `least` and `most` arguments (exactly `least` if not given)."""
    most = least if most is None else most
    if not least <= len(arguments) <= most:
        expected = f"at least {least}" if most >= UNBOUNDED else str(least) if least == most else f"{least} to {most}"
        raise ArgumentError(
            f"expected {expected} argument{'' if least == 1 and most in (1, UNBOUNDED) else 's'}, got {len(arguments)}"
        )


def expect_family(argument: Argument, families: Collection[Family], place: int = 1) -> None:
    """Raise ArgumentError unless an argument is of one of the families, or an untyped NULL."""
    if family(argument.type) is not Family.NULL and family(argument.type) not in families:
        names = " or ".join(sorted({_FAMILY_NAMES.get(each, each.name) for each in families}))
        raise ArgumentError(f"argument {place} must be {names}, got {sql_text(argument.type)}")


def any_nullable(arguments: Sequence[Argument]) -> bool:
    """Return whether one of the arguments can be null: then a strict function can return null."""
    return any(each.type.is_nullable for each in arguments)


def strict(arguments: Sequence[Argument], types: Sequence[DataType], result: DataType) -> Signature:
    """Return the signature of a strict function: arguments keep their nullability, the result is null if one of them is.

    >>> from headrace.types.logical_types import IntType
    >>> strict([Argument(IntType().not_null())], [DoubleType()], DoubleType()).result
    DoubleType(false)
    """
    kept = tuple(with_nullability(each, argument.type.is_nullable) for each, argument in zip(types, arguments))
    return Signature(kept, with_nullability(result, any_nullable(arguments)))


def same_arguments(arguments: Sequence[Argument]) -> tuple[DataType, ...]:
    """Return the types of the arguments as they are."""
    return tuple(each.type for each in arguments)


def fixed(*types: DataType, result: DataType, optional: int = 0) -> Infer:
    """Return the inference of a strict function with fixed types, of which the last `optional` may be absent."""

    def infer(arguments: Sequence[Argument]) -> Signature:
        expect_count(arguments, len(types) - optional, len(types))
        for place, (argument, expected) in enumerate(zip(arguments, types), 1):
            if not can_cast_implicitly(argument.type, expected):
                raise ArgumentError(f"argument {place} must be {sql_text(expected)}, got {sql_text(argument.type)}")
        return strict(arguments, types, result)

    return infer


def doubles(count: int = 1) -> Infer:
    """Return the inference of a strict function of numbers that computes with DOUBLE."""

    def infer(arguments: Sequence[Argument]) -> Signature:
        expect_count(arguments, count)
        for place, argument in enumerate(arguments, 1):
            expect_family(argument, NUMERIC, place)
        return strict(arguments, [DoubleType()] * count, DoubleType())

    return infer


def predicate(check: Callable[[Sequence[Argument]], tuple[DataType, ...]]) -> Infer:
    """Return the inference of a strict test: `check` returns the types of the arguments."""

    def infer(arguments: Sequence[Argument]) -> Signature:
        return strict(arguments, check(arguments), BooleanType())

    return infer


def typed_nulls(types: Sequence[DataType], fallback: DataType) -> tuple[DataType, ...]:
    """Return the types with untyped nulls replaced by a type."""
    return tuple(with_nullability(fallback, True) if isinstance(each, NullType) else each for each in types)
