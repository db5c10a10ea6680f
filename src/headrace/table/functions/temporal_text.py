"""Dates and times as text and as numbers: DATE_FORMAT, TO_DATE, TO_TIMESTAMP, FROM_UNIXTIME, UNIX_TIMESTAMP, CONVERT_TZ ..."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from headrace.table.errors import SqlRuntimeError, SqlValidationError
from headrace.table.functions.casts.zones import local_micros, utc_micros, zone_of
from headrace.table.functions.civil import days_from_civil, days_in_month
from headrace.table.functions.column_forms import Columns, by_distinct
from headrace.table.functions.date_formats import DateTextError, formatter, parse_default, parse_with
from headrace.table.functions.date_pattern import DatePatternError, parse_pattern
from headrace.table.functions.definition import Argument, ArgumentError, CallSite, ScalarFunction, Signature
from headrace.table.functions.legacy_dates import SHORT_ZONES, legacy_formatter, legacy_parse
from headrace.table.functions.making import plain
from headrace.table.functions.signatures import (
    BIGINT,
    NUMERIC,
    NUMERIC_TYPES,
    STRING,
    TEXT,
    TIMESTAMP,
    TYPED_STRING,
    always,
    any_of,
    family,
    nullable,
    nullable_if_any,
    signature,
)
from headrace.types.logical_types import BigIntType, DateType, IntType, LocalZonedTimestampType, TimestampType

_STANDARD = "yyyy-MM-dd HH:mm:ss"
_FIRST_SECOND, _LAST_SECOND = -62_167_219_200, 253_402_300_799
_NO_DATE = -(2**63)


def _date_format_rows(site: CallSite) -> Callable[..., str | None]:
    source = site.arguments[0].type
    if not isinstance(source, (TimestampType, LocalZonedTimestampType)):
        return _format_text
    local = _localizer(site)

    def compute(micros: int, pattern: str) -> str:
        try:
            return formatter(pattern)(local(micros))
        except DatePatternError as error:
            raise SqlRuntimeError(f"DATE_FORMAT failed: {error}") from None

    return compute


def _localizer(site: CallSite) -> Callable[[int], int]:
    if not isinstance(site.arguments[0].type, LocalZonedTimestampType):
        return lambda micros: micros
    zone = zone_of(site.session.time_zone)
    return lambda micros: local_micros(micros, zone)


def _format_text(text: str, pattern: str) -> str | None:
    millis = legacy_parse(_STANDARD, text, "UTC")
    return None if millis is None else _legacy(pattern, "UTC", millis)


def _legacy(pattern: str, time_zone: str, millis: int) -> str:
    try:
        return legacy_formatter(pattern, time_zone)(millis)
    except DatePatternError as error:
        raise SqlRuntimeError(str(error)) from None


def _to_date(text: str, pattern: str | None = None) -> int | None:
    if pattern is not None:
        try:
            millis = legacy_parse(pattern, text, "UTC")
        except DatePatternError as error:
            raise SqlRuntimeError(str(error)) from None
        return None if millis is None else millis // 86_400_000
    return parse_date(text)


def parse_date(text: str) -> int | None:
    """Return the day of a date as text, or None: `yyyy-MM-dd`, `yyyy-MM` or `yyyy`; what follows a space is ignored.

    >>> parse_date("1970-1-2 10:00:00"), parse_date("1970"), parse_date("1970-13-01")
    (1, 0, None)
    """
    space = text.find(" ")
    parts = (text[:space] if space > 0 else text).split("-", 2)
    numbers = [part.strip() for part in parts]
    if not all(re.fullmatch(r"[0-9]+", each) for each in numbers):
        return None
    year, month, day = [*map(int, numbers), 1, 1][:3]
    if year > 9999 or not 1 <= month <= 12 or not 1 <= day <= days_in_month(year, month):
        return None
    return days_from_civil(year, month, day)


def _to_timestamp(text: str, pattern: str | None = None) -> int | None:
    if pattern is not None:
        return parse_with(pattern, text)
    try:
        return parse_default(text)
    except DateTextError:
        return None


def precision_of(pattern: str) -> int:
    """Return the digits of the fraction of a second in a pattern, at least 3."""
    digits = len(pattern) - len(pattern.rstrip("S"))
    return max(min(digits, 9), 3)


def _ltz_infer(arguments: Sequence[Argument]) -> Signature:
    if arguments and isinstance(arguments[0].type, NUMERIC_TYPES):
        return _from_number(arguments)
    precision = 3
    if len(arguments) > 1 and isinstance(arguments[1].value, str):
        _check_pattern(arguments[1].value)
        precision = precision_of(arguments[1].value)
    if len(arguments) > 2 and isinstance(arguments[2].value, str):
        _check_zone(arguments[2].value)
    result = nullable(LocalZonedTimestampType(precision))
    return signature(STRING, STRING, STRING, result=result, optional=2)(arguments)


def _from_number(arguments: Sequence[Argument]) -> Signature:
    precision = arguments[1].value if len(arguments) == 2 and arguments[1].constant else 3
    if precision is not None and (not isinstance(precision, int) or not 0 <= precision <= 9):
        raise ArgumentError(f"the precision must be an integer from 0 to 9, got {precision!r}")
    result = nullable(LocalZonedTimestampType(max(precision or 0, 3)))
    return signature(NUMERIC, family(IntType), result=result, optional=1)(arguments)


def _check_pattern(pattern: str) -> None:
    try:
        parse_pattern(pattern)
    except DatePatternError as error:
        raise ArgumentError(str(error)) from None


def _check_zone(name: str) -> None:
    if name in SHORT_ZONES or name in ("EST", "HST", "MST"):
        raise ArgumentError(f"Unknown time zone {name!r}")
    try:
        zone_of(name)
    except SqlValidationError as error:
        raise ArgumentError(str(error.message)) from None


def _ltz_rows(site: CallSite) -> Callable[..., int | None]:
    if isinstance(site.arguments[0].type, NUMERIC_TYPES):
        return _from_epoch

    def compute(text: str, pattern: str | None = None, time_zone: str = "UTC") -> int | None:
        if pattern is None:
            try:
                return parse_default(text)
            except DateTextError as error:
                raise SqlRuntimeError(f"TO_TIMESTAMP_LTZ failed: {error}") from None
        micros = parse_with(pattern, text, precision_of(pattern))
        if micros is None:
            return None
        try:
            return utc_micros(micros, zone_of(time_zone))
        except SqlValidationError:
            return None

    return compute


def _from_epoch(number: int | float | Decimal, precision: int = 3) -> int | None:
    factor: int = 10**precision
    if isinstance(number, float):
        if not _FIRST_SECOND <= number / factor <= _LAST_SECOND:
            return None
        micros = int(number * 10.0 ** (9 - precision)) // 1000
        return micros if precision > 3 else micros // 1000 * 1000
    whole = int(number)
    if not _FIRST_SECOND <= whole // factor <= _LAST_SECOND:
        return None
    exact: int = whole * 10 ** (6 - precision) if precision <= 6 else whole // 10 ** (precision - 6)
    return exact


def _ltz_columns(site: CallSite) -> Columns | None:
    """Return the column form for integers of a constant precision."""
    source = site.arguments[0].type
    precision = site.arguments[1].value if len(site.arguments) > 1 else 3
    if not isinstance(source, BigIntType) or precision not in (0, 3, 6):
        return None
    factor = 10**precision

    def run(column: Any, *_: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        seconds_low, seconds_high = _FIRST_SECOND * factor, (_LAST_SECOND + 1) * factor
        valid = pc.and_(pc.greater_equal(column, seconds_low), pc.less(column, seconds_high))
        known = pc.if_else(valid, column, pa.scalar(None, pa.int64()))
        return pc.multiply(known, 10 ** (6 - precision))

    return run


def _from_unixtime_rows(site: CallSite) -> Callable[..., str]:
    zone = site.session.time_zone
    return lambda seconds, pattern=_STANDARD: _legacy(pattern, zone, seconds * 1000)


def _unix_timestamp_rows(site: CallSite) -> Callable[..., int]:
    zone = site.session.time_zone
    if not site.arguments:
        start = site.session.query_time
        return lambda: start // 1_000_000 if start is not None else int(time.time())

    def compute(text: str, pattern: str = _STANDARD) -> int:
        try:
            millis = legacy_parse(pattern, text, zone)
        except DatePatternError as error:
            raise SqlRuntimeError(str(error)) from None
        if millis is None:
            return _NO_DATE
        return millis // 1000 if millis >= 0 else -(-millis // 1000)

    return compute


def _convert_tz(text: str, source: str, target: str) -> str | None:
    millis = legacy_parse(_STANDARD, text, _known_zone(source))
    return None if millis is None else _legacy(_STANDARD, _known_zone(target), millis)


def _known_zone(name: str) -> str:
    """Return the name of a zone; unknown names mean GMT, as `java.util.TimeZone` has it."""
    if name in SHORT_ZONES:
        return SHORT_ZONES[name]
    try:
        zone_of(name)
    except SqlValidationError:
        return "UTC"
    return "UTC" if re.match(r"(UTC?)?[+-]", name) else name


_PATTERN = signature(TYPED_STRING, TYPED_STRING, result=nullable(TEXT))

FUNCTIONS: tuple[ScalarFunction, ...] = (
    ScalarFunction(
        "DATE_FORMAT",
        any_of(signature(TIMESTAMP, TYPED_STRING, result=nullable(TEXT)), _PATTERN),
        _date_format_rows,
        by_distinct(_date_format_rows),
    ),
    plain("TO_DATE", signature(TYPED_STRING, TYPED_STRING, result=nullable(DateType()), optional=1), _to_date),
    plain(
        "TO_TIMESTAMP",
        signature(TYPED_STRING, TYPED_STRING, result=nullable(TimestampType(3)), optional=1),
        _to_timestamp,
        by_distinct(lambda site: _to_timestamp),
    ),
    ScalarFunction("TO_TIMESTAMP_LTZ", _ltz_infer, _ltz_rows, _ltz_columns),
    ScalarFunction(
        "FROM_UNIXTIME",
        signature(BIGINT, TYPED_STRING, result=nullable(TEXT), optional=1),
        _from_unixtime_rows,
        by_distinct(_from_unixtime_rows),
    ),
    ScalarFunction(
        "UNIX_TIMESTAMP",
        any_of(
            signature(result=always(BigIntType(is_nullable=False))),
            signature(TYPED_STRING, TYPED_STRING, result=nullable_if_any(BigIntType()), optional=1),
        ),
        _unix_timestamp_rows,
        deterministic=False,
    ),
    plain("CONVERT_TZ", signature(TYPED_STRING, TYPED_STRING, TYPED_STRING, result=nullable(TEXT)), _convert_tz),
)
