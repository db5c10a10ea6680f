"""How types meet: the type that several values have in common, and which casts the analyser may add by itself.

Used for CASE, COALESCE, UNION, IN, VALUES, comparisons, arithmetic and the arguments of functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headrace.table.functions.type_families import (
    NUMERIC,
    Family,
    family,
    integer_digits,
)
from headrace.table.functions.type_text import sql_text, type_name
from headrace.types.logical_types import (
    ArrayType,
    BigIntType,
    BinaryType,
    CharType,
    DataType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)

__all__ = [
    "as_decimal",
    "can_cast_implicitly",
    "common_type",
    "comparison_type",
    "same_type",
    "sql_text",
    "type_name",
    "with_nullability",
]

_MAX_PRECISION = 38
_INTEGERS = (TinyIntType, SmallIntType, IntType, BigIntType)
_YEAR_MONTH = ("YEAR", "MONTH")
_DAY_TIME = ("DAY", "HOUR", "MINUTE", "SECOND")


def same_type(left: DataType, right: DataType) -> bool:
    """Return whether two types are equal apart from nullability (their own, not that of elements or fields).

    >>> same_type(IntType(), IntType().not_null()), same_type(IntType(), BigIntType())
    (True, False)
    """
    return left == right or replace(left, is_nullable=True) == replace(right, is_nullable=True)


def with_nullability(data_type: DataType, nullable: bool) -> DataType:
    """Return the type with or without nulls."""
    return data_type if data_type.is_nullable == nullable else replace(data_type, is_nullable=nullable)


def without_time_attribute(data_type: DataType) -> DataType:
    """Return a timestamp type that is not a time attribute; other types unchanged."""
    if isinstance(data_type, (TimestampType, LocalZonedTimestampType)) and data_type.time_attribute is not None:
        return replace(data_type, time_attribute=None)
    return data_type


def common_type(types: Sequence[DataType]) -> DataType | None:
    """Return the least restrictive type that all values can be cast to, or None. It is nullable if one of `types` is.

    >>> common_type([IntType().not_null(), DecimalType(4, 2).not_null()])
    DecimalType(12, 2, false)
    >>> common_type([CharType(2), CharType(3)]), common_type([IntType(), CharType(3)])
    (VarCharType(3, true), None)
    """
    nullable = any(each.is_nullable for each in types)
    known = [without_time_attribute(each) for each in types if not isinstance(each, NullType)]
    if not known:
        return None
    found: DataType | None = known[0]
    for each in known[1:]:
        if found is None:
            return None
        found = found if same_type(found, each) else _pair(found, each)
    return None if found is None else with_nullability(found, nullable)


def _pair(left: DataType, right: DataType) -> DataType | None:
    left_family, right_family = family(left), family(right)
    if left_family in NUMERIC and right_family in NUMERIC:
        return _numeric_pair(left, right)
    if {left_family, right_family} <= {Family.DATE, Family.TIMESTAMP, Family.TIMESTAMP_LTZ}:
        return _timestamp_pair(left, right)
    if left_family is not right_family:
        return None
    match left_family:
        case Family.CHARACTER:
            return VarCharType(max(left.length, right.length))  # type: ignore[attr-defined]
        case Family.BINARY:
            return VarBinaryType(max(left.length, right.length))  # type: ignore[attr-defined]
        case Family.TIME:
            return TimeType(max(left.precision, right.precision))  # type: ignore[attr-defined]
        case Family.MONTHS | Family.DURATION:
            return _interval_pair(left, right)
    return _nested_pair(left, right)


def as_decimal(data_type: DataType) -> DecimalType | None:
    """Return the DECIMAL type that holds all values of an exact numeric type, None for others.

    >>> as_decimal(BigIntType())
    DecimalType(19, 0, true)
    """
    if isinstance(data_type, DecimalType):
        return data_type
    digits = integer_digits(data_type)
    return None if digits is None else DecimalType(digits, 0, is_nullable=data_type.is_nullable)


def _numeric_pair(left: DataType, right: DataType) -> DataType:
    if family(left) is Family.INTEGER and family(right) is Family.INTEGER:
        return max(left, right, key=lambda each: integer_digits(each) or 0)
    left_decimal, right_decimal = as_decimal(left), as_decimal(right)
    if left_decimal is None or right_decimal is None:
        # FLOAT stays with integers and FLOAT, everything else is a DOUBLE.
        others = {type(left), type(right)} - {FloatType, *_INTEGERS}
        return DoubleType() if others else FloatType()
    scale = max(left_decimal.scale, right_decimal.scale)
    whole = max(each.precision - each.scale for each in (left_decimal, right_decimal))
    return DecimalType(min(_MAX_PRECISION, whole + scale), scale)


def _timestamp_pair(left: DataType, right: DataType) -> DataType:
    precision = max(getattr(each, "precision", 0) for each in (left, right))
    if Family.TIMESTAMP_LTZ in (family(left), family(right)):
        return LocalZonedTimestampType(precision)
    return TimestampType(precision)


def _interval_pair(left: DataType, right: DataType) -> DataType:
    assert isinstance(left, (YearMonthIntervalType, DayTimeIntervalType))
    assert isinstance(right, (YearMonthIntervalType, DayTimeIntervalType))
    units = _YEAR_MONTH if isinstance(left, YearMonthIntervalType) else _DAY_TIME
    places = [units.index(unit) for each in (left, right) for unit in each.resolution.split(" TO ")]
    start, end = units[min(places)], units[max(places)]
    resolution = start if start == end else f"{start} TO {end}"
    if isinstance(left, YearMonthIntervalType) or isinstance(right, YearMonthIntervalType):
        return YearMonthIntervalType(resolution)
    return DayTimeIntervalType(resolution, max(left.fraction, right.fraction))


def _nested_pair(left: DataType, right: DataType) -> DataType | None:
    match left, right:
        case ArrayType(), ArrayType():
            element = common_type([left.element_type, right.element_type])
            return None if element is None else ArrayType(element)
        case MultisetType(), MultisetType():
            element = common_type([left.element_type, right.element_type])
            return None if element is None else MultisetType(element)
        case MapType(), MapType():
            key = common_type([left.key_type, right.key_type])
            value = common_type([left.value_type, right.value_type])
            return None if key is None or value is None else MapType(key, value)
        case RowType(), RowType() if len(left.fields) == len(right.fields):
            fields = []
            for one, other in zip(left.fields, right.fields, strict=True):
                data_type = common_type([one.data_type, other.data_type])
                if data_type is None:
                    return None
                fields.append(RowField(one.name, data_type, one.description))
            return RowType(tuple(fields))
    return None


def comparison_type(left: DataType, right: DataType) -> DataType | None:
    """Return the type that two values are compared as, or None if they cannot be compared.

    A string that is compared with a date, time, timestamp or boolean is cast to its type.

    >>> comparison_type(IntType(), DoubleType()), comparison_type(CharType(10), TimestampType(3))
    (DoubleType(true), TimestampType(3, true))
    >>> comparison_type(IntType(), CharType(1)) is None
    True
    """
    if isinstance(left, NullType) or isinstance(right, NullType):
        return right if isinstance(left, NullType) else left
    found = common_type([left, right])
    if found is not None:
        return found
    parsed = {Family.DATE, Family.TIME, Family.TIMESTAMP, Family.TIMESTAMP_LTZ, Family.BOOLEAN}
    for text, other in ((left, right), (right, left)):
        if family(text) is Family.CHARACTER and family(other) in parsed:
            return with_nullability(other, left.is_nullable or right.is_nullable)
    return None


_IMPLICIT: dict[type[DataType], tuple[type[DataType], ...]] = {
    CharType: (CharType,),
    VarCharType: (CharType, VarCharType),
    BinaryType: (BinaryType,),
    VarBinaryType: (BinaryType, VarBinaryType),
    SmallIntType: (TinyIntType,),
    IntType: (TinyIntType, SmallIntType),
    BigIntType: (TinyIntType, SmallIntType, IntType),
    DecimalType: (*_INTEGERS, DecimalType, FloatType, DoubleType),
    FloatType: (*_INTEGERS, DecimalType),
    DoubleType: (*_INTEGERS, DecimalType, FloatType),
    TimestampType: (TimestampType, LocalZonedTimestampType),
    LocalZonedTimestampType: (TimestampType, LocalZonedTimestampType),
    TimeType: (TimeType, TimestampType),
}
_IMPLICIT_DATE = (TimestampType,)


def can_cast_implicitly(source: DataType, target: DataType) -> bool:
    """Return whether a value may be passed where a type is expected: without loss of information, or nearly so.

    >>> can_cast_implicitly(IntType(), DoubleType()), can_cast_implicitly(DoubleType(), IntType())
    (True, False)
    """
    if isinstance(source, NullType) or same_type(source, target):
        return True
    match source, target:
        case ArrayType(), ArrayType():
            return can_cast_implicitly(source.element_type, target.element_type)
        case MultisetType(), MultisetType():
            return can_cast_implicitly(source.element_type, target.element_type)
        case MapType(), MapType():
            return can_cast_implicitly(source.key_type, target.key_type) and can_cast_implicitly(
                source.value_type, target.value_type
            )
        case RowType(), RowType():
            return len(source) == len(target) and all(
                can_cast_implicitly(one, other) for one, other in zip(source.field_types(), target.field_types())
            )
    if family(target) is Family.DATE:
        return isinstance(source, _IMPLICIT_DATE)
    if family(source) is family(target) and family(source) in (Family.MONTHS, Family.DURATION):
        return True
    allowed = next((sources for each, sources in _IMPLICIT.items() if isinstance(target, each)), ())
    return isinstance(source, allowed)
