"""Parts of dates and times, rounding, differences: EXTRACT, YEAR, FLOOR TO, TIMESTAMPADD, TIMESTAMPDIFF, OVERLAPS ..."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from headrace.table.functions import time_units
from headrace.table.functions.casts.zones import local_micros, zone_of
from headrace.table.functions.civil import add_months_to_days
from headrace.table.functions.column_forms import Columns
from headrace.table.functions.definition import Argument, ArgumentError, CallSite, ScalarFunction, Session, Signature
from headrace.table.functions.numbers import integer_quotient as divided
from headrace.table.functions.signatures import (
    DATETIME_TYPES,
    INTEGER_TYPES,
    INTERVAL_TYPES,
    TIMESTAMP_TYPES,
    is_symbol,
)
from headrace.table.functions.temporal_columns import difference_columns, extract_columns, round_columns, shift_columns
from headrace.table.functions.type_rules import sql_text, without_time_attribute
from headrace.types.logical_types import (
    BigIntType,
    BooleanType,
    DataType,
    DateType,
    DayTimeIntervalType,
    IntType,
    LocalZonedTimestampType,
    NullType,
    TimestampType,
    TimeType,
    YearMonthIntervalType,
)

_TIME_UNITS = ("HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND")
_UNITS = frozenset((*time_units.DATE_UNITS, *_TIME_UNITS, "EPOCH"))
_ROUNDING = frozenset((*time_units.MILLIS, *time_units.MONTHS))
_DIFFERENCES = frozenset(("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MICROSECOND"))
_ALIASES = {"SQL_TSI_": "", "FRAC_SECOND": "MICROSECOND"}


def _unit(argument: Argument, allowed: frozenset[str]) -> str:
    if not is_symbol(argument):
        raise ArgumentError("expected a unit of time, such as DAY")
    unit = str(argument.value)
    for old, new in _ALIASES.items():
        unit = unit.replace(old, new)
    if unit not in allowed:
        raise ArgumentError(f"{unit} is not a unit of time here")
    return unit


def millis_of(data_type: DataType, session: Session) -> Callable[[int], int]:
    """Return the function that turns values of a temporal type into milliseconds of the local time since 1970."""
    if isinstance(data_type, DateType):
        return lambda days: days * time_units.DAY
    if isinstance(data_type, LocalZonedTimestampType):
        zone = zone_of(session.time_zone)
        return lambda micros: local_micros(micros, zone) // 1000
    if isinstance(data_type, TimestampType):
        return lambda micros: micros // 1000
    return lambda value: value


def _temporal(argument: Argument, *, intervals: bool = True) -> DataType:
    """Return the type of a temporal argument; NULL is a timestamp."""
    found = argument.type
    if isinstance(found, NullType) and not is_symbol(argument):
        return TimestampType(3, is_nullable=found.is_nullable)
    if isinstance(found, (*DATETIME_TYPES, *(INTERVAL_TYPES if intervals else ()))):
        return found
    raise ArgumentError(f"expected a date, time or timestamp, got {sql_text(found)}")


def _extract_infer(arguments: Sequence[Argument]) -> Signature:
    if len(arguments) != 2:
        raise ArgumentError("expected a unit and a value")
    unit = _unit(arguments[0], _UNITS)
    data_type = _temporal(arguments[1])
    if isinstance(data_type, TimeType) and (unit in time_units.DATE_UNITS or unit == "EPOCH"):
        raise ArgumentError(f"{unit} cannot be taken from a TIME")
    if isinstance(data_type, (DateType, TimeType)) and unit in ("MICROSECOND", "NANOSECOND"):
        raise ArgumentError(f"{unit} cannot be taken from {sql_text(data_type)}")
    if isinstance(data_type, INTERVAL_TYPES) and (unit in time_units.MONTHS) is not isinstance(
        data_type, YearMonthIntervalType
    ):
        raise ArgumentError(f"{unit} cannot be taken from {sql_text(data_type)}")
    return Signature((arguments[0].type, data_type), BigIntType(is_nullable=data_type.is_nullable))


def _extractor(unit: str, data_type: DataType, session: Session) -> Callable[[int], int]:
    if isinstance(data_type, YearMonthIntervalType):
        return _from_months(unit)
    if isinstance(data_type, DayTimeIntervalType) and unit == "DAY":
        return lambda millis: divided(millis, time_units.DAY)
    to_millis = millis_of(data_type, session)
    if unit == "EPOCH":
        return lambda value: divided(to_millis(value), 1000)
    if unit in time_units.DATE_UNITS:
        return lambda value: time_units.date_part(unit, divided(to_millis(value), time_units.DAY))
    if isinstance(data_type, TIMESTAMP_TYPES) and unit in ("MICROSECOND", "NANOSECOND"):
        return lambda micros: time_units.time_part(unit, to_millis(micros), micros % 1000 * 1000)
    if isinstance(data_type, DateType):
        return lambda days: time_units.time_part(unit, days)  # as if days were milliseconds: this is what Flink returns
    return lambda value: time_units.time_part(unit, to_millis(value))


def _from_months(unit: str) -> Callable[[int], int]:
    if unit == "MONTH":
        return lambda months: months - divided(months, 12) * 12
    if unit == "QUARTER":
        return lambda months: divided(months - divided(months, 12) * 12 - 1, 3) + 1
    return lambda months: divided(months, time_units.MONTHS.get(unit, 12))


def _extract_rows(site: CallSite) -> Callable[..., int]:
    extract = _extractor(_unit(site.arguments[0], _UNITS), site.arguments[1].type, site.session)
    return lambda unit, value: extract(value)


def _extract_as_columns(site: CallSite) -> Columns | None:
    return extract_columns(_unit(site.arguments[0], _UNITS), site.arguments[1].type, site.session, 1)


def _part(name: str, unit: str) -> ScalarFunction:
    """Return the function of one argument that extracts a unit."""

    def infer(arguments: Sequence[Argument]) -> Signature:
        if len(arguments) != 1:
            raise ArgumentError(f"expected 1 argument, got {len(arguments)}")
        found = _extract_infer((Argument(NullType(), unit), *arguments))
        return Signature(found.arguments[1:], found.result)

    return ScalarFunction(
        name,
        infer,
        lambda site: _extractor(unit, site.arguments[0].type, site.session),
        lambda site: extract_columns(unit, site.arguments[0].type, site.session, 0),
    )


def _round_infer(arguments: Sequence[Argument]) -> Signature:
    if len(arguments) != 2:
        raise ArgumentError("expected a value and a unit")
    _unit(arguments[1], _ROUNDING)
    data_type = _temporal(arguments[0], intervals=False)
    return Signature((data_type, arguments[1].type), without_time_attribute(data_type))


def _rounder(*, up: bool) -> Callable[[CallSite], Callable[..., int]]:
    def rows(site: CallSite) -> Callable[..., int]:
        unit, data_type = _unit(site.arguments[1], _ROUNDING), site.arguments[0].type
        if isinstance(data_type, DateType):
            if unit in time_units.MONTHS or unit in ("DAY", "WEEK"):
                return lambda days, _: time_units.round_date(unit, days, up=up)
            return lambda days, _: days
        if isinstance(data_type, TimeType):
            return lambda millis, _: time_units.round_millis(unit, millis, up=up)
        if isinstance(data_type, LocalZonedTimestampType):
            zone = zone_of(site.session.time_zone)

            def local(micros: int, _: Any) -> int:
                millis = micros // 1000
                offset = local_micros(millis * 1000, zone) // 1000 - millis
                return (time_units.round_millis(unit, millis + offset, up=up) - offset) * 1000

            return local
        return lambda micros, _: time_units.round_millis(unit, micros // 1000, up=up) * 1000

    return rows


def _round_as_columns(*, up: bool) -> Callable[[CallSite], Columns | None]:
    return lambda site: round_columns(_unit(site.arguments[1], _ROUNDING), site.arguments[0].type, site.session, up=up)


def _add_infer(arguments: Sequence[Argument]) -> Signature:
    if len(arguments) != 3:
        raise ArgumentError("expected a unit, a number and a timestamp")
    unit = _unit(arguments[0], _ROUNDING)
    amount = arguments[1].type
    if not isinstance(amount, (*INTEGER_TYPES, NullType)):
        raise ArgumentError(f"the number must be an integer, got {sql_text(amount)}")
    amount = amount if isinstance(amount, INTEGER_TYPES) else IntType()
    moment = without_time_attribute(_temporal(arguments[2], intervals=False))
    result = moment
    if isinstance(moment, DateType) and unit in _TIME_UNITS:
        result = TimestampType(6)
    nullable = amount.is_nullable or moment.is_nullable
    return Signature((arguments[0].type, amount, moment), result.nullable() if nullable else result.not_null())


def _add_rows(site: CallSite) -> Callable[..., int]:
    unit = _unit(site.arguments[0], _ROUNDING)
    source = site.arguments[2].type
    if unit in time_units.MONTHS:
        return _month_adder(time_units.MONTHS[unit], source)
    size = time_units.MILLIS[unit] * 1000
    if isinstance(source, DateType):
        if not isinstance(site.result, DateType):
            return lambda _, amount, days: days * time_units.DAY * 1000 + amount * size
        days_each = size // (time_units.DAY * 1000)
        return lambda _, amount, days: days + amount * days_each
    if isinstance(source, TimeType):
        return lambda _, amount, millis: (millis + amount * (size // 1000)) % time_units.DAY
    return lambda _, amount, micros: micros + amount * size


def _month_adder(months: int, source: DataType) -> Callable[..., int]:
    if isinstance(source, DateType):
        return lambda _, amount, days: add_months_to_days(days, amount * months)
    if isinstance(source, TimeType):
        return lambda _, amount, millis: millis

    def add(_: Any, amount: int, micros: int) -> int:
        days, rest = divmod(micros, time_units.DAY * 1000)
        return add_months_to_days(days, amount * months) * time_units.DAY * 1000 + rest

    return add


def _diff_infer(arguments: Sequence[Argument]) -> Signature:
    if len(arguments) != 3:
        raise ArgumentError("expected a unit and two timestamps")
    _unit(arguments[0], _DIFFERENCES)
    first, second = (_temporal(each, intervals=False) for each in arguments[1:])
    if isinstance(first, TIMESTAMP_TYPES) and isinstance(second, TIMESTAMP_TYPES) and type(first) is not type(second):
        raise ArgumentError(f"no difference between {sql_text(first)} and {sql_text(second)}: cast one of them")
    nullable = first.is_nullable or second.is_nullable
    return Signature((arguments[0].type, first, second), IntType(is_nullable=nullable))


def _diff_rows(site: CallSite) -> Callable[..., int]:
    unit = _unit(site.arguments[0], _DIFFERENCES)
    start, end = (millis_of(each.type, site.session) for each in site.arguments[1:])
    if unit in time_units.MONTHS:
        size = time_units.MONTHS[unit]
        return lambda _, first, second: divided(time_units.months_between(end(second), start(first)), size)
    if unit == "MICROSECOND":
        return lambda _, first, second: _int((end(second) - start(first)) * 1000)
    size = time_units.MILLIS[unit]
    return lambda _, first, second: _int(divided(end(second) - start(first), size))


def _int(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def _overlaps_infer(arguments: Sequence[Argument]) -> Signature:
    if len(arguments) != 4:
        raise ArgumentError("expected two periods of two values each")
    types = [_temporal(each) for each in arguments]
    if not all(isinstance(each, DATETIME_TYPES) for each in types[::2]):
        raise ArgumentError("a period must begin with a point in time")
    nullable = any(each.is_nullable for each in types)
    return Signature(tuple(types), BooleanType(is_nullable=nullable))


def _overlaps_rows(site: CallSite) -> Callable[..., bool | None]:
    first, second = (_bound(site, index) for index in (0, 2))

    def overlaps(*values: int | None) -> bool | None:
        start, end = _ordered(first, *values[:2])
        other_start, other_end = _ordered(second, *values[2:])
        tests = (_not_before(end, other_start), _not_before(other_end, start))
        return False if False in tests else None if None in tests else True

    return overlaps


Bound = tuple[int | None, int | None]


def _ordered(bound: Callable[[int, int], tuple[int, int]], start: int | None, end: int | None) -> Bound:
    """Return the two ends of a period, the earlier one first. An end that is NULL counts as the earlier one."""
    if start is None or end is None:
        known = None if start is None else bound(start, 0)[0]
        return None, known
    one, other = bound(start, end)
    return (one, other) if one <= other else (other, one)


def _not_before(one: int | None, other: int | None) -> bool | None:
    return None if one is None or other is None else one >= other


def _bound(site: CallSite, index: int) -> Callable[[int, int], tuple[int, int]]:
    point, other = (each.type for each in site.arguments[index : index + 2])
    to_millis = millis_of(point, site.session)
    if isinstance(other, YearMonthIntervalType):
        add = _month_adder(1, point)
        return lambda start, months: (to_millis(start), to_millis(add("", months, start)))
    if isinstance(other, DayTimeIntervalType):
        return lambda start, length: (to_millis(start), to_millis(start) + length)
    end_millis = millis_of(other, site.session)
    return lambda start, end: (to_millis(start), end_millis(end))


FUNCTIONS: tuple[ScalarFunction, ...] = (
    ScalarFunction("EXTRACT", _extract_infer, _extract_rows, _extract_as_columns),
    _part("YEAR", "YEAR"),
    _part("QUARTER", "QUARTER"),
    _part("MONTH", "MONTH"),
    _part("WEEK", "WEEK"),
    _part("DAYOFYEAR", "DOY"),
    _part("DAYOFMONTH", "DAY"),
    _part("DAYOFWEEK", "DOW"),
    _part("HOUR", "HOUR"),
    _part("MINUTE", "MINUTE"),
    _part("SECOND", "SECOND"),
    ScalarFunction("FLOOR TO", _round_infer, _rounder(up=False), _round_as_columns(up=False)),
    ScalarFunction("CEIL TO", _round_infer, _rounder(up=True), _round_as_columns(up=True)),
    ScalarFunction("TIMESTAMPADD", _add_infer, _add_rows, shift_columns),
    ScalarFunction("TIMESTAMPDIFF", _diff_infer, _diff_rows, difference_columns),
    ScalarFunction("OVERLAPS", _overlaps_infer, _overlaps_rows, strict=False),
)
