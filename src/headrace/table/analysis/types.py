"""Types as SQL writes them, as logical types."""

from __future__ import annotations

from headrace.table.analysis.errors import invalid, unsupported
from headrace.table.sql.syntax.expressions import IntervalQualifier
from headrace.table.sql.syntax.types import DataType as TypeSyntax
from headrace.table.sql.syntax.types import TypeField
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
    RawType,
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

_PLAIN: dict[str, DataType] = {
    "BOOLEAN": BooleanType(),
    "TINYINT": TinyIntType(),
    "SMALLINT": SmallIntType(),
    "INTEGER": IntType(),
    "BIGINT": BigIntType(),
    "REAL": FloatType(),
    "FLOAT": FloatType(),
    "DOUBLE": DoubleType(),
    "DATE": DateType(),
    "STRING": VarCharType(),
    "BYTES": VarBinaryType(),
    "RAW": RawType(),
}
_SIZED: dict[str, tuple[type[DataType], int]] = {
    "CHAR": (CharType, 1),
    "VARCHAR": (VarCharType, 2**31 - 1),
    "BINARY": (BinaryType, 1),
    "VARBINARY": (VarBinaryType, 2**31 - 1),
}
_TIMED: dict[str, tuple[type[DataType], int]] = {
    "TIME": (TimeType, 0),
    "TIMESTAMP": (TimestampType, 6),
    "TIMESTAMP_LTZ": (LocalZonedTimestampType, 6),
}
_MAX_DECIMAL = 38
_MAX_FRACTION = 9

INTERVAL_OF_DAYS = DayTimeIntervalType("SECOND", 3)
INTERVAL_OF_MONTHS = YearMonthIntervalType("MONTH")
"""Flink uses only one type for each of the two kinds of intervals, whatever their units."""
_MONTH_UNITS = ("YEAR", "QUARTER", "MONTH")


def logical_type(syntax: TypeSyntax | IntervalQualifier) -> DataType:
    """Return the type that a part of a statement names; nullable unless it says NOT NULL.

    >>> logical_type(TypeSyntax("ARRAY", (TypeSyntax("INTEGER", (), False),)))
    ArrayType(IntType(false), true)
    """
    if isinstance(syntax, IntervalQualifier):
        return interval_type(syntax)
    found = _bare(syntax)
    return found.not_null() if syntax.nullable is False else found


def interval_type(qualifier: IntervalQualifier) -> DataType:
    """Return the type of intervals with some units."""
    return INTERVAL_OF_MONTHS if qualifier.start in _MONTH_UNITS else INTERVAL_OF_DAYS


def _bare(syntax: TypeSyntax) -> DataType:
    name, arguments = syntax.name, syntax.arguments
    if name in _PLAIN:
        return _PLAIN[name]
    if name in _SIZED:
        cls, default = _SIZED[name]
        length = arguments[0] if arguments else default
        if not isinstance(length, int) or length < 1:
            raise invalid(f"The length of {name} must be between 1 and 2147483647, not {length}", syntax.position)
        return cls(length)  # type: ignore[call-arg, arg-type]
    if name in _TIMED:
        kind, usual = _TIMED[name]
        precision = arguments[0] if arguments else usual
        if not isinstance(precision, int) or precision > _MAX_FRACTION:
            raise invalid(f"The precision of {name} must be between 0 and 9, not {precision}", syntax.position)
        return kind(precision)  # type: ignore[call-arg, arg-type]
    if name == "DECIMAL":
        return _decimal(syntax)
    parts = tuple(logical_type(each) for each in arguments if isinstance(each, TypeSyntax))
    if name == "ARRAY":
        return ArrayType(parts[0])
    if name == "MULTISET":
        return MultisetType(parts[0])
    if name == "MAP":
        return MapType(*parts)
    if name == "ROW":
        fields = (each for each in arguments if isinstance(each, TypeField))
        return RowType(tuple(RowField(each.name, logical_type(each.type), each.comment) for each in fields))
    shown = ".".join(map(str, arguments)) if name == "USER" else name
    raise unsupported(f"The type {shown} is not supported", syntax.position)


def _decimal(syntax: TypeSyntax) -> DataType:
    numbers = [each for each in syntax.arguments if isinstance(each, int)]
    precision = numbers[0] if numbers else 10
    scale = numbers[1] if len(numbers) > 1 else 0
    if not 1 <= precision <= _MAX_DECIMAL:
        raise invalid(f"The precision of DECIMAL must be between 1 and 38, not {precision}", syntax.position)
    if not 0 <= scale <= precision:
        raise invalid(f"The scale of DECIMAL must be between 0 and its precision, not {scale}", syntax.position)
    return DecimalType(precision, scale)
