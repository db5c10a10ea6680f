"""Families of types: what the rules of functions distinguish."""

from __future__ import annotations

from enum import Enum, auto

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
    InstantType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RawType,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)


class Family(Enum):
    """A group of types with the same operations."""

    BOOLEAN = auto()
    INTEGER = auto()
    DECIMAL = auto()
    APPROXIMATE = auto()
    CHARACTER = auto()
    BINARY = auto()
    DATE = auto()
    TIME = auto()
    TIMESTAMP = auto()
    TIMESTAMP_LTZ = auto()
    MONTHS = auto()
    DURATION = auto()
    ARRAY = auto()
    MULTISET = auto()
    MAP = auto()
    ROW = auto()
    RAW = auto()
    NULL = auto()


_FAMILIES: dict[type[DataType], Family] = {
    BooleanType: Family.BOOLEAN,
    TinyIntType: Family.INTEGER,
    SmallIntType: Family.INTEGER,
    IntType: Family.INTEGER,
    BigIntType: Family.INTEGER,
    DecimalType: Family.DECIMAL,
    FloatType: Family.APPROXIMATE,
    DoubleType: Family.APPROXIMATE,
    CharType: Family.CHARACTER,
    VarCharType: Family.CHARACTER,
    BinaryType: Family.BINARY,
    VarBinaryType: Family.BINARY,
    DateType: Family.DATE,
    TimeType: Family.TIME,
    TimestampType: Family.TIMESTAMP,
    LocalZonedTimestampType: Family.TIMESTAMP_LTZ,
    InstantType: Family.TIMESTAMP_LTZ,
    YearMonthIntervalType: Family.MONTHS,
    DayTimeIntervalType: Family.DURATION,
    ArrayType: Family.ARRAY,
    MultisetType: Family.MULTISET,
    MapType: Family.MAP,
    RowType: Family.ROW,
    RawType: Family.RAW,
    NullType: Family.NULL,
}
_DIGITS: dict[type[DataType], int] = {TinyIntType: 3, SmallIntType: 5, IntType: 10, BigIntType: 19}
_BITS: dict[type[DataType], int] = {TinyIntType: 8, SmallIntType: 16, IntType: 32, BigIntType: 64}

NUMERIC = frozenset({Family.INTEGER, Family.DECIMAL, Family.APPROXIMATE})
EXACT_NUMERIC = frozenset({Family.INTEGER, Family.DECIMAL})
DATETIME = frozenset({Family.DATE, Family.TIME, Family.TIMESTAMP, Family.TIMESTAMP_LTZ})
TIMESTAMPS = frozenset({Family.TIMESTAMP, Family.TIMESTAMP_LTZ})
INTERVAL = frozenset({Family.MONTHS, Family.DURATION})
NESTED = frozenset({Family.ARRAY, Family.MULTISET, Family.MAP, Family.ROW})


def family(data_type: DataType) -> Family:
    """Return the family of a type.

    >>> family(DecimalType(10, 2)).name, family(VarCharType(10)).name
    ('DECIMAL', 'CHARACTER')
    """
    return _FAMILIES[type(data_type)]


def integer_digits(data_type: DataType) -> int | None:
    """Return the number of decimal digits of an integer type: 3, 5, 10 or 19; None for other types."""
    return _DIGITS.get(type(data_type))


def integer_bits(data_type: DataType) -> int | None:
    """Return the number of bits of an integer type: 8, 16, 32 or 64; None for other types."""
    return _BITS.get(type(data_type))
