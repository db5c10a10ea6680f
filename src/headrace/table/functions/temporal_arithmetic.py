"""The operators + - * / where dates, times, timestamps or intervals take part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from headrace.table.functions.casts.numeric import numeric_cast
from headrace.table.functions.civil import (
    MICROS_PER_DAY,
    MILLIS_PER_DAY,
    add_months_to_days,
    months_between_days,
)
from headrace.table.functions.definition import Argument, ArgumentError, CallSite, Inline, Signature
from headrace.table.functions.inference import same_arguments, strict
from headrace.table.functions.numbers import division_by_zero, wrapper
from headrace.table.functions.type_families import DATETIME, INTERVAL, NUMERIC, TIMESTAMPS, Family, family
from headrace.table.functions.type_rules import common_type, without_time_attribute
from headrace.table.functions.type_text import sql_text
from headrace.types.logical_types import (
    BigIntType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DoubleType,
    IntType,
    NullType,
    TimestampType,
)


def infer(name: str, arguments: Sequence[Argument]) -> Signature:
    """Return the signature of an operator with at least one temporal operand; raise ArgumentError if there is none."""
    left, right = same_arguments(arguments)
    pair = family(left), family(right)
    if name in "+-" and pair[0] in DATETIME and pair[1] in INTERVAL:
        return strict(arguments, (left, right), _moved(left, right))
    if name == "+" and pair[0] in INTERVAL and pair[1] in DATETIME:
        return strict(arguments, (left, right), _moved(right, left))
    if name in "+-" and pair[0] in INTERVAL and pair[0] is pair[1]:
        result = common_type([left, right])
        assert result is not None
        return strict(arguments, (left, right), result)
    if name == "-" and pair[0] in DATETIME and pair[1] in DATETIME and _subtractable(*pair):
        return strict(arguments, (left, right), DayTimeIntervalType("DAY TO SECOND", 3))
    if name in "*/" and pair[0] in INTERVAL and pair[1] in NUMERIC:
        return strict(arguments, (left, right), left)
    if name == "*" and pair[0] in NUMERIC and pair[1] in INTERVAL:
        return strict(arguments, (left, right), right)
    if name in "+-" and Family.NULL in pair:
        return _infer_null(arguments, left, right)
    raise ArgumentError(f"cannot apply '{name}' to {sql_text(left)} and {sql_text(right)}")


def _infer_null(arguments: Sequence[Argument], left: DataType, right: DataType) -> Signature:
    known = right if isinstance(left, NullType) else left
    other: DataType = DayTimeIntervalType("DAY TO SECOND", 3) if family(known) in DATETIME else known
    types = (other, known) if isinstance(left, NullType) else (known, other)
    return strict(arguments, types, without_time_attribute(known))


def _moved(moment: DataType, interval: DataType) -> DataType:
    moment = without_time_attribute(moment)
    if isinstance(moment, DateType) and isinstance(interval, DayTimeIntervalType) and interval.resolution != "DAY":
        return moment
    return moment


def _subtractable(left: Family, right: Family) -> bool:
    return left is right or {left, right} <= {Family.DATE, Family.TIMESTAMP} or {left, right} <= TIMESTAMPS


def rows(name: str, site: CallSite) -> Callable[..., Any]:
    """Return the function that computes the operator."""
    left, right = (family(each.type) for each in site.arguments)
    if left in DATETIME and right in DATETIME:
        return _difference(left, right, family(site.result))
    if left in DATETIME or right in DATETIME:
        move = _mover(left if left in DATETIME else right, right if left in DATETIME else left)
        if left not in DATETIME:
            return lambda interval, moment: move(moment, interval)
        return move if name == "+" else lambda moment, interval: move(moment, -interval)
    if name in "+-":
        return (lambda one, other: one + other) if name == "+" else lambda one, other: one - other
    stored = IntType() if family(site.result) is Family.MONTHS else BigIntType()
    whole = numeric_cast(DoubleType(), stored)
    if name == "/":
        return lambda interval, number: _divided(interval, number, whole)
    if {left, right} & {Family.APPROXIMATE}:
        return lambda one, other: whole(one * other)
    wrap = wrapper(stored)
    return lambda one, other: wrap(int(one * other))


def _divided(interval: int, number: Any, whole: Callable[[float], int]) -> int:
    if not number:
        raise division_by_zero()
    if isinstance(number, float):
        return whole(interval / number)
    quotient = abs(interval) // abs(number) if isinstance(number, int) else int(abs(interval) / abs(number))
    return int(quotient) if (interval < 0) is (number < 0) else -int(quotient)


def _mover(moment: Family, interval: Family) -> Callable[[int, int], int]:
    if interval is Family.MONTHS:
        if moment is Family.DATE:
            return add_months_to_days
        if moment is Family.TIME:
            return lambda value, months: value
        return _add_months
    if moment is Family.DATE:
        return lambda days, millis: days + (millis // MILLIS_PER_DAY if millis >= 0 else -(-millis // MILLIS_PER_DAY))
    if moment is Family.TIME:
        return lambda time, millis: (time + millis) % MILLIS_PER_DAY
    return lambda micros, millis: micros + millis * 1000


def _add_months(micros: int, months: int) -> int:
    days, time = divmod(micros, MICROS_PER_DAY)
    return add_months_to_days(days, months) * MICROS_PER_DAY + time


def _difference(left: Family, right: Family, result: Family) -> Callable[[int, int], int]:
    micros_left, micros_right = _micros(left), _micros(right)
    if result is Family.MONTHS:
        return lambda one, other: _months_between(one * micros_left, other * micros_right)

    def difference(one: int, other: int) -> int:
        # Milliseconds are taken from each timestamp before they are subtracted.
        return one * micros_left // 1000 - other * micros_right // 1000

    return difference


def _micros(kind: Family) -> int:
    return MICROS_PER_DAY if kind is Family.DATE else 1000 if kind is Family.TIME else 1


def _months_between(later: int, earlier: int) -> int:
    later_day, later_time = divmod(later, MICROS_PER_DAY)
    earlier_day, earlier_time = divmod(earlier, MICROS_PER_DAY)
    # A month is complete only once the time of day is reached too.
    if later > earlier and later_time < earlier_time:
        later_day -= 1
    elif later < earlier and later_time > earlier_time:
        later_day += 1
    return months_between_days(later_day, earlier_day)


def inline(name: str, site: CallSite) -> Inline | None:
    """Return the source for a timestamp plus or minus a duration; None for the rest."""
    left, right = (family(each.type) for each in site.arguments)
    if isinstance(site.result, TimestampType) or family(site.result) in TIMESTAMPS:
        if left in TIMESTAMPS and right is Family.DURATION:
            return Inline(f"{{0}} {name} {{1}} * 1000")
        if left is Family.DURATION and right in TIMESTAMPS:
            return Inline("{0} * 1000 + {1}")
    return None
