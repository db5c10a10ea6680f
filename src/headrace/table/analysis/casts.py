"""Calls with settled types: arguments are cast to what a function takes, constants at once."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from headrace.table.analysis.context import built_in
from headrace.table.analysis.errors import invalid, wrong_arguments
from headrace.table.analysis.time_attributes import plain
from headrace.table.functions.definition import (
    NOT_CONSTANT,
    Argument,
    ArgumentError,
    ScalarFunction,
    Signature,
)
from headrace.table.functions.type_rules import common_type, same_type, with_nullability
from headrace.table.functions.type_text import sql_text
from headrace.table.plan.rex import Call, Literal, Rex
from headrace.types.logical_types import (
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DecimalType,
    DoubleType,
    IntType,
    NullType,
    SmallIntType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)

_INTEGER_BITS: dict[type[DataType], int] = {TinyIntType: 8, SmallIntType: 16, IntType: 32, BigIntType: 64}


def argument_of(rex: Rex) -> Argument:
    """Return what type inference may know of an expression."""
    return Argument(plain(rex.type), rex.value if isinstance(rex, Literal) else NOT_CONSTANT)


def signature_of(function: object, arguments: Sequence[Rex], name: str, position: int = -1) -> Signature:
    """Return the signature of a call, or raise an error with the types of its arguments."""
    try:
        return function.infer([argument_of(each) for each in arguments])  # type: ignore[attr-defined, no-any-return]
    except ArgumentError as error:
        kinds = [each.type for each in arguments]
        raise wrong_arguments(name, kinds, str(error), position) from None


def call(function: ScalarFunction, arguments: Sequence[Rex], position: int = -1) -> Rex:
    """Return a call with its arguments cast to the types of the function."""
    signature = signature_of(function, arguments, function.name, position)
    return Call(plain(signature.result), function, cast_all(arguments, signature.arguments))


def operator(name: str, *arguments: Rex, position: int = -1) -> Rex:
    """Return a call of a built-in function.

    >>> operator("NOT", Literal(BooleanType(), None)).type
    BooleanType(true)
    """
    return call(built_in(name, position), arguments, position)


def cast_all(values: Sequence[Rex], types: Sequence[DataType]) -> tuple[Rex, ...]:
    """Return the values, each cast to its type."""
    return tuple(cast(value, kind) for value, kind in zip(values, types, strict=True))


def cast(value: Rex, kind: DataType) -> Rex:
    """Return a value as one of another type; nullability stays that of the value.

    >>> cast(Literal(IntType(is_nullable=False), 1), DecimalType(4, 2))
    Literal(type=DecimalType(4, 2, false), value=Decimal('1.00'))
    """
    source = value.type
    if same_type(source, kind) or (isinstance(kind, NullType) and not isinstance(source, NullType)):
        return value
    if isinstance(value, Literal):
        if value.value is None:
            return Literal(kind.nullable(), None)
        if isinstance(source, NullType):
            return value  # a keyword
        folded = _folded(value.value, source, kind)
        if folded is not NOT_CONSTANT:
            return Literal(with_nullability(kind, source.is_nullable), folded)
    return Call(plain(with_nullability(kind, source.is_nullable)), built_in("CAST"), (value,))


def _folded(value: object, source: DataType, kind: DataType) -> object:
    """Return a constant as one of a type that surely has it, else NOT_CONSTANT."""
    if isinstance(source, (CharType, VarCharType)) and isinstance(kind, VarCharType):
        return value if len(value) <= kind.length else NOT_CONSTANT  # type: ignore[arg-type]
    if isinstance(source, (BinaryType, VarBinaryType)) and isinstance(kind, VarBinaryType):
        return value if len(value) <= kind.length else NOT_CONSTANT  # type: ignore[arg-type]
    if type(value) is int and type(source) in _INTEGER_BITS:
        bits = _INTEGER_BITS.get(type(kind))
        if bits is not None:
            return value if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1) else NOT_CONSTANT
        if isinstance(kind, DoubleType):
            return float(value)
        if isinstance(kind, DecimalType) and len(str(abs(value))) <= kind.precision - kind.scale:
            return Decimal(value).quantize(Decimal(1).scaleb(-kind.scale))
    if isinstance(value, Decimal) and isinstance(source, DecimalType):
        if isinstance(kind, DoubleType):
            return float(value)
        if isinstance(kind, DecimalType) and _fits(source, kind):
            return value.quantize(Decimal(1).scaleb(-kind.scale))
    return NOT_CONSTANT


def _fits(source: DecimalType, kind: DecimalType) -> bool:
    return kind.scale >= source.scale and kind.precision - kind.scale >= source.precision - source.scale


def condition(value: Rex, clause: str, position: int = -1) -> Rex:
    """Return a value if it is a BOOLEAN, as the conditions of clauses must be."""
    if isinstance(value.type, NullType):
        return Literal(BooleanType(), None)
    if not isinstance(value.type, BooleanType):
        raise invalid(f"{clause} needs a BOOLEAN, got {sql_text(value.type)}", position)
    return value


def common(values: Sequence[Rex], what: str, position: int = -1) -> DataType:
    """Return the type that all values can be cast to."""
    kinds = [plain(each.type) for each in values]
    if all(isinstance(each, NullType) for each in kinds):
        return NullType()
    found = common_type(kinds)
    if found is None:
        texts = ", ".join(dict.fromkeys(sql_text(each) for each in kinds))
        raise invalid(
            f"{what} have no common type: {texts}", position, "cast them to the same type with CAST(x AS type)"
        )
    return found


def conjunction(conditions: Sequence[Rex]) -> Rex | None:
    """Return all conditions as one, None if there are none."""
    return combined("AND", conditions)


def combined(name: str, conditions: Sequence[Rex]) -> Rex | None:
    """Return conditions combined by AND or OR, None if there are none."""
    if len(conditions) <= 1:
        return conditions[0] if conditions else None
    return operator(name, *conditions)


def conjuncts(rex: Rex) -> list[Rex]:
    """Return the conditions that must all hold for a condition to hold."""
    if isinstance(rex, Call) and rex.function.name == "AND":
        return [part for each in rex.arguments for part in conjuncts(each)]
    return [rex]
