"""Column forms of CAST between numbers, between times, and from integers to text."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from headrace.table.functions.casts.zones import zone_of
from headrace.table.functions.civil import MICROS_PER_DAY
from headrace.table.functions.columns.datums import ColumnForm, arrow_type, compute, numpy, pyarrow
from headrace.table.functions.definition import CallSite
from headrace.table.functions.numbers import integer_limits
from headrace.table.functions.type_families import TIMESTAMPS, Family, family, integer_digits
from headrace.table.functions.type_rules import same_type
from headrace.types.logical_types import BigIntType, DataType, DecimalType, FloatType, IntType, VarCharType


def cast_columns(site: CallSite) -> ColumnForm | None:
    """Return the column form of a cast, or None if there is none."""
    source, target = site.arguments[0].type, site.result
    one, other = family(source), family(target)
    if same_type(source, target):
        return lambda value: value
    if one in (Family.INTEGER, Family.BOOLEAN, Family.APPROXIMATE, Family.DECIMAL) and other in (
        Family.INTEGER,
        Family.APPROXIMATE,
        Family.DECIMAL,
    ):
        return _numeric(source, target)
    if one in TIMESTAMPS | {Family.DATE} and other in TIMESTAMPS | {Family.DATE}:
        return _temporal(source, target, site.session.time_zone)
    if one is other and one in (Family.MONTHS, Family.DURATION):
        return lambda value: value
    if isinstance(target, VarCharType):
        return _text(source, target)
    return None


def _plain(kind: Any) -> ColumnForm:
    return lambda value: value.cast(kind, safe=False)


def _numeric(source: DataType, target: DataType) -> ColumnForm | None:
    pa = pyarrow()
    one, other = family(source), family(target)
    kind = arrow_type(target)
    if isinstance(target, DecimalType):
        whole = target.precision - target.scale
        if isinstance(source, DecimalType):
            fits = source.scale <= target.scale and source.precision - source.scale <= whole
        else:
            fits = (integer_digits(source) or 99) <= whole
        return _plain(kind) if fits else None
    if one is Family.DECIMAL:
        return None  # rounds to doubles differently
    if one in (Family.INTEGER, Family.BOOLEAN) and other is Family.INTEGER:
        return _plain(kind)
    if other is Family.APPROXIMATE:
        if isinstance(target, FloatType) and one is Family.INTEGER:
            return lambda value: _plain(kind)(_plain(pa.float64())(value))  # rounded twice, as in rows
        return _plain(kind)
    return _truncation(target)


def _truncation(target: DataType) -> ColumnForm:
    """Return the cast of doubles to an integer type: limits for values beyond, zero for NaN."""
    np, pa, pc = numpy(), pyarrow(), compute()
    wide = isinstance(target, BigIntType)
    low, high = integer_limits(target if wide else IntType())
    kind = arrow_type(target)

    def truncated(value: Any) -> Any:
        mask = value.is_null().to_numpy(zero_copy_only=False) if value.null_count else None
        numbers = pc.fill_null(value, 0.0).cast(pa.float64()).to_numpy(zero_copy_only=False)
        above, below = numbers >= float(high), numbers <= float(low)
        with np.errstate(invalid="ignore"):
            whole = np.where(np.isnan(numbers) | above | below, 0.0, numbers).astype(np.int64)
        whole[above], whole[below] = high, low
        return pa.array(whole, pa.int64(), mask=mask).cast(kind, safe=False)

    return truncated


def _temporal(source: DataType, target: DataType, time_zone: str) -> ColumnForm | None:
    pa, pc = pyarrow(), compute()
    one, other = family(source), family(target)
    zone = zone_of(time_zone)
    if one is not other and Family.TIMESTAMP_LTZ in (one, other) and zone is not zone_of("UTC"):
        local = one is Family.TIMESTAMP_LTZ and isinstance(zone, ZoneInfo)
        return _to_local(target, time_zone) if local else None
    if one is Family.DATE:
        days = pa.scalar(MICROS_PER_DAY, pa.int64())
        return lambda value: pc.multiply(_plain(pa.int64())(value), days)
    if family(target) is not Family.DATE and _unit(target) <= _unit(source):
        return lambda value: value
    return _floored(target)


def _unit(data_type: DataType) -> int:
    return 10 ** (6 - min(6, data_type.precision))  # type: ignore[no-any-return, attr-defined]


def _floored(target: DataType) -> ColumnForm:
    """Return the cast of timestamps to a date or to a lower precision."""
    pa = pyarrow()
    divide = family(target) is Family.DATE
    unit = MICROS_PER_DAY if divide else _unit(target)
    kind = arrow_type(target)

    def floored(value: Any) -> Any:
        mask = value.is_null().to_numpy(zero_copy_only=False) if value.null_count else None
        numbers = compute().fill_null(value, 0).to_numpy(zero_copy_only=False) // unit
        return pa.array(numbers if divide else numbers * unit, pa.int64(), mask=mask).cast(kind)

    return floored


def _to_local(target: DataType, time_zone: str) -> ColumnForm:
    pa, pc = pyarrow(), compute()
    floored = _floored(target)

    def local(value: Any) -> Any:
        moments = value.cast(pa.timestamp("us", time_zone))
        return floored(pc.local_timestamp(moments).cast(pa.int64()))

    return local


def _text(source: DataType, target: VarCharType) -> ColumnForm | None:
    digits = integer_digits(source)
    if digits is not None and target.length > digits:
        return _plain(pyarrow().string())
    if family(source) is Family.CHARACTER and target.length >= source.length:  # type: ignore[attr-defined]
        return lambda value: value
    return None
