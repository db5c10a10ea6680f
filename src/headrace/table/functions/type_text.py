"""How types are printed in SQL: Flink's summary strings, used by DESCRIBE, EXPLAIN, TYPEOF and error messages."""

from __future__ import annotations

from headrace.types.logical_types import (
    ArrayType,
    CharType,
    DataType,
    DayTimeIntervalType,
    DecimalType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)

_LONGEST = 2**31 - 1
_PLAIN = {
    "BooleanType": "BOOLEAN",
    "TinyIntType": "TINYINT",
    "SmallIntType": "SMALLINT",
    "IntType": "INT",
    "BigIntType": "BIGINT",
    "FloatType": "FLOAT",
    "DoubleType": "DOUBLE",
    "DateType": "DATE",
    "NullType": "NULL",
    "RawType": "RAW('java.lang.Object', '...')",
}
_SIZED = {"CharType": "CHAR", "VarCharType": "VARCHAR", "BinaryType": "BINARY", "VarBinaryType": "BYTES"}


def sql_text(data_type: DataType) -> str:
    """Return the type as Flink prints it, with NOT NULL and the mark of a time attribute.

    >>> from headrace.types.logical_types import IntType, RowField, TimeAttribute
    >>> sql_text(DecimalType(10, 2).not_null())
    'DECIMAL(10, 2) NOT NULL'
    >>> sql_text(TimestampType(3, time_attribute=TimeAttribute.ROWTIME))
    'TIMESTAMP(3) *ROWTIME*'
    >>> sql_text(RowType((RowField("a", IntType()), RowField("b", VarCharType()))))
    'ROW<`a` INT, `b` STRING>'
    """
    text = _text(data_type)
    if isinstance(data_type, (TimestampType, LocalZonedTimestampType)) and data_type.time_attribute is not None:
        if not data_type.is_nullable:
            text += " NOT NULL"
        return f"{text} {data_type.time_attribute.value}"
    if data_type.is_nullable or _PLAIN.get(type(data_type).__name__) == "NULL":
        return text
    return f"{text} NOT NULL"


def type_name(data_type: DataType) -> str:
    """Return the type without nullability.

    >>> type_name(VarCharType(20).not_null())
    'VARCHAR(20)'
    """
    return _text(data_type)


def _text(data_type: DataType) -> str:
    match data_type:
        case VarCharType(length=length) if length == _LONGEST:
            return "STRING"
        case VarBinaryType(length=length) if length == _LONGEST:
            return "BYTES"
        case VarBinaryType(length=length):
            return f"VARBINARY({length})"
        case DecimalType(precision=precision, scale=scale):
            return f"DECIMAL({precision}, {scale})"
        case TimeType(precision=precision):
            return f"TIME({precision})"
        case TimestampType(precision=precision):
            return f"TIMESTAMP({precision})"
        case LocalZonedTimestampType(precision=precision):
            return f"TIMESTAMP_LTZ({precision})"
        case YearMonthIntervalType() | DayTimeIntervalType():
            return interval_text(data_type)
        case ArrayType() | MultisetType() | MapType() | RowType():
            return _nested_text(data_type)
    name = type(data_type).__name__
    if name in _SIZED:
        return f"{_SIZED[name]}({data_type.length})"  # type: ignore[attr-defined]
    return _PLAIN[name]


def _nested_text(data_type: DataType) -> str:
    match data_type:
        case ArrayType(element_type=element):
            return f"ARRAY<{sql_text(element)}>"
        case MultisetType(element_type=element):
            return f"MULTISET<{sql_text(element)}>"
        case MapType(key_type=key, value_type=value):
            return f"MAP<{sql_text(key)}, {sql_text(value)}>"
        case RowType(fields=fields):
            texts = []
            for field in fields:
                quoted = field.name.replace("`", "``")
                comment = "" if field.description is None else f" '{field.description}'"
                texts.append(f"`{quoted}` {sql_text(field.data_type)}{comment}")
            return f"ROW<{', '.join(texts)}>"
    raise AssertionError(data_type)


def interval_text(data_type: YearMonthIntervalType | DayTimeIntervalType) -> str:
    """Return the text of an interval type.

    >>> interval_text(DayTimeIntervalType("DAY TO SECOND", 3)), interval_text(YearMonthIntervalType("MONTH"))
    ('INTERVAL DAY(2) TO SECOND(3)', 'INTERVAL MONTH')
    """
    start, _, end = data_type.resolution.partition(" TO ")
    if isinstance(data_type, YearMonthIntervalType):
        start = "YEAR(2)" if start == "YEAR" else start
    elif start == "DAY":
        start = "DAY(2)"
    elif start == "SECOND":
        start = f"SECOND({data_type.fraction})"
    if end == "SECOND" and isinstance(data_type, DayTimeIntervalType):
        end = f"SECOND({data_type.fraction})"
    return f"INTERVAL {start} TO {end}" if end else f"INTERVAL {start}"


def is_character(data_type: DataType) -> bool:
    """Return whether a type is CHAR or VARCHAR."""
    return isinstance(data_type, (CharType, VarCharType))
