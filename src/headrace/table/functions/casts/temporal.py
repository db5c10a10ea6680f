"""Casts between dates, times, timestamps and intervals."""

from __future__ import annotations

from collections.abc import Callable

from headrace.table.functions.casts.from_text import time_unit
from headrace.table.functions.casts.zones import local_micros, utc_micros, zone_of
from headrace.table.functions.civil import MICROS_PER_DAY
from headrace.table.functions.type_families import TIMESTAMPS, Family, family
from headrace.types.logical_types import DataType

Cast = Callable[[int], int]


def _unit(target: DataType) -> int:
    """Return the microseconds of the smallest unit of a timestamp type."""
    return 10 ** (6 - min(6, target.precision))  # type: ignore[no-any-return, attr-defined]


def temporal_cast(source: DataType, target: DataType, time_zone: str) -> Cast:
    """Return the cast between two types of dates and times."""
    one, other = family(source), family(target)
    if one is other and one in TIMESTAMPS:
        unit = _unit(target)
        if _unit(source) >= unit:
            return lambda value: value
        return lambda value: value // unit * unit
    if one is other is Family.TIME and time_unit(target) > time_unit(source):
        millis = time_unit(target)
        return lambda value: value // millis * millis
    if one is other:
        return lambda value: value
    to_local = _to_local(one, time_zone)
    from_local = _from_local(target, time_zone)
    return lambda value: from_local(to_local(value))


def _to_local(source: Family, time_zone: str) -> Cast:
    """Return the function from a value to microseconds of local time."""
    match source:
        case Family.DATE:
            return lambda days: days * MICROS_PER_DAY
        case Family.TIME:
            return lambda millis: millis * 1000
        case Family.TIMESTAMP:
            return lambda micros: micros
    zone = zone_of(time_zone)
    return lambda micros: local_micros(micros, zone)


def _from_local(target: DataType, time_zone: str) -> Cast:
    match family(target):
        case Family.DATE:
            return lambda micros: micros // MICROS_PER_DAY
        case Family.TIME:
            millis = time_unit(target)
            return lambda micros: micros % MICROS_PER_DAY // 1000 // millis * millis
        case Family.TIMESTAMP:
            unit = _unit(target)
            return lambda micros: micros // unit * unit
    zone, unit = zone_of(time_zone), _unit(target)
    return lambda micros: utc_micros(micros // unit * unit, zone)
