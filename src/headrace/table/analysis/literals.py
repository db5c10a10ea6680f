"""Constants of SQL as values in internal form, with the types that Flink gives them."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal

from headrace.table.analysis.errors import invalid
from headrace.table.analysis.types import INTERVAL_OF_DAYS, INTERVAL_OF_MONTHS, interval_type
from headrace.table.functions import java_text
from headrace.table.plan.rex import Literal
from headrace.table.sql.syntax import expressions as syntax
from headrace.types.logical_types import (
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntType,
    NullType,
    TimestampType,
    TimeType,
    YearMonthIntervalType,
)

_EPOCH = date(1970, 1, 1).toordinal()
_MAX_DECIMAL = 38
NULL = Literal(NullType(), None)
TRUE = Literal(BooleanType(is_nullable=False), True)
FALSE = Literal(BooleanType(is_nullable=False), False)

_UNIT_MILLISECONDS = {"WEEK": 604_800_000, "DAY": 86_400_000, "HOUR": 3_600_000, "MINUTE": 60_000, "SECOND": 1_000}
_UNIT_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
UNIT_VALUES = _UNIT_MILLISECONDS | _UNIT_MONTHS
"""How many milliseconds or months a unit of an interval has."""
_TIMESTAMP = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2}) (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d*))?")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d*))?")
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")


def literal(node: syntax.Literal) -> Literal:
    """Return a number, string, boolean or null.

    >>> literal(syntax.Literal("STRING", "abc")).type, literal(syntax.Literal("DECIMAL", Decimal("0.50"))).type
    (CharType(3, false), DecimalType(3, 2, false))
    """
    value = node.value
    match node.kind:
        case "NULL":
            return NULL
        case "UNKNOWN":
            return Literal(BooleanType(), None)
        case "BOOLEAN":
            return TRUE if value else FALSE
        case "INTEGER":
            assert isinstance(value, int)
            return integer(value, node.position)
        case "DECIMAL":
            assert isinstance(value, Decimal)
            return decimal(value, node.position)
        case "DOUBLE":
            return Literal(DoubleType(is_nullable=False), value)
        case "BINARY":
            assert isinstance(value, bytes)
            return Literal(BinaryType(len(value), is_nullable=False), value)
    assert isinstance(value, str)
    return text(value)


def text(value: str) -> Literal:
    """Return a string."""
    return Literal(CharType(java_text.length(value), is_nullable=False), value)


def integer(value: int, position: int = -1) -> Literal:
    """Return an integer of the smallest of the types INT, BIGINT and DECIMAL that has the value."""
    kind: DataType
    if -(2**31) <= value < 2**31:
        kind = IntType(is_nullable=False)
    elif -(2**63) <= value < 2**63:
        kind = BigIntType(is_nullable=False)
    else:
        return decimal(Decimal(value), position)
    return Literal(kind, value)


def decimal(value: Decimal, position: int = -1) -> Literal:
    """Return an exact number; its type has the digits that are written, and one before the point."""
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    precision = max(len(digits) + max(0, exponent), scale + 1)
    if precision > _MAX_DECIMAL:
        raise invalid(f"The number {value} has more than 38 digits", position)
    return Literal(DecimalType(precision, scale, is_nullable=False), value)


def temporal(node: syntax.TemporalLiteral) -> Literal:
    """Return a date, time or timestamp.

    >>> temporal(syntax.TemporalLiteral("TIMESTAMP", "1970-01-02 00:00:00.5"))
    Literal(type=TimestampType(1, false), value=86400500000)
    """
    written = node.text.strip()
    try:
        if node.kind == "DATE" and (found := _DATE.fullmatch(written)):
            return Literal(DateType(is_nullable=False), date(*map(int, found.groups())).toordinal() - _EPOCH)
        if node.kind == "TIME" and (found := _TIME.fullmatch(written)):
            seconds, fraction = _seconds(found[1], found[2], found[3]), found[4] or ""
            value = seconds * 1000 + int(fraction.ljust(3, "0")[:3])
            return Literal(TimeType(min(len(fraction), 3), is_nullable=False), value)
        if node.kind == "TIMESTAMP" and (found := _TIMESTAMP.fullmatch(written)):
            days = date(int(found[1]), int(found[2]), int(found[3])).toordinal() - _EPOCH
            seconds, fraction = _seconds(found[4], found[5], found[6]), found[7] or ""
            value = (days * 86_400 + seconds) * 1_000_000 + int(fraction.ljust(6, "0")[:6])
            return Literal(TimestampType(min(len(fraction), 9), is_nullable=False), value)
    except ValueError:
        pass
    example = {"DATE": "2024-01-31", "TIME": "23:59:59", "TIMESTAMP": "2024-01-31 23:59:59.123"}[node.kind]
    raise invalid(f"{node.text!r} is not a {node.kind}", node.position, f"write it like {node.kind} '{example}'")


def _seconds(hour: str, minute: str, second: str) -> int:
    checked = datetime(2000, 1, 1, int(hour), int(minute), int(second))
    return checked.hour * 3600 + checked.minute * 60 + checked.second


# -- intervals --------------------------------------------------------------------------------------------------------

_UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_SEPARATORS = {"MONTH": "-", "HOUR": " ", "MINUTE": ":", "SECOND": ":"}


def interval(node: syntax.IntervalLiteral) -> Literal:
    """Return an interval in months or milliseconds.

    >>> interval(syntax.IntervalLiteral("1 12:30", syntax.IntervalQualifier("DAY", end="MINUTE"))).value
    131400000
    """
    qualifier = node.qualifier
    kind = interval_type(qualifier)
    if qualifier.end is None:
        units: tuple[str, ...] = (qualifier.start,)
    else:
        units = _UNITS[_UNITS.index(qualifier.start) : _UNITS.index(qualifier.end) + 1]
    pattern = r"\s*([+-]?)\s*(\d+)"
    for unit in units[1:]:
        pattern += re.escape(_SEPARATORS[unit]).replace("\\ ", r"\s+") + r"(\d+)"
    if units[-1] == "SECOND":
        pattern += r"(?:\.(\d{0,9}))?"
    found = re.fullmatch(pattern + r"\s*", node.text)
    if found is None:
        shape = f"{qualifier.start} TO {qualifier.end}" if qualifier.end else qualifier.start
        raise invalid(f"{node.text!r} is not an INTERVAL {shape}", node.position)
    total = sum(int(number) * UNIT_VALUES[unit] for unit, number in zip(units, found.groups()[1:], strict=False))
    if units[-1] == "SECOND" and found.groups()[-1]:
        total += int(found.groups()[-1].ljust(3, "0")[:3])
    negative = (found[1] == "-") != node.negative
    return Literal(kind.not_null(), -total if negative else total)


def is_interval_of_months(kind: DataType) -> bool:
    """Return whether a type counts months and not milliseconds."""
    return isinstance(kind, YearMonthIntervalType)


def interval_of(value: int, kind: DataType) -> Literal:
    """Return an interval literal of one of the two kinds."""
    return Literal((INTERVAL_OF_MONTHS if is_interval_of_months(kind) else INTERVAL_OF_DAYS).not_null(), value)
