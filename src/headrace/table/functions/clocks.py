"""The clock, the watermark and the session: CURRENT_TIMESTAMP and its relatives, CURRENT_WATERMARK, CURRENT_DATABASE.

In streaming mode each row has its own time; a batch query has one time for all rows, except for CURRENT_ROW_TIMESTAMP.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from headrace.table.errors import SqlRuntimeError
from headrace.table.functions.casts.zones import local_micros, zone_of
from headrace.table.functions.civil import MICROS_PER_DAY
from headrace.table.functions.definition import Argument, ArgumentError, CallSite, ScalarFunction, Signature
from headrace.table.functions.signatures import TIMESTAMP_TYPES, always, signature
from headrace.table.functions.type_rules import without_time_attribute
from headrace.types.logical_types import (
    DataType,
    DateType,
    LocalZonedTimestampType,
    TimeAttribute,
    TimestampType,
    TimeType,
    VarCharType,
)

Now = Callable[[], int]


def _row_clock() -> int:
    return time.time_ns() // 1_000_000 * 1000


def _now(site: CallSite) -> Now:
    start = site.session.query_time
    if start is None:
        return _row_clock
    fixed = start // 1000 * 1000
    return lambda: fixed


def _local(site: CallSite) -> Now:
    now, zone = _now(site), zone_of(site.session.time_zone)
    return lambda: local_micros(now(), zone)


def _date(site: CallSite) -> Now:
    local = _local(site)
    return lambda: local() // MICROS_PER_DAY


def _time(site: CallSite) -> Now:
    local = _local(site)
    return lambda: local() % MICROS_PER_DAY // 1_000_000 * 1000


def _clock(name: str, result: DataType, rows: Callable[[CallSite], Now]) -> ScalarFunction:
    return ScalarFunction(name, signature(result=always(result.not_null())), rows, deterministic=False)


def _watermark_infer(arguments: Sequence[Argument]) -> Signature:
    if len(arguments) != 1:
        raise ArgumentError("expected a rowtime attribute")
    found = arguments[0].type
    if not isinstance(found, TIMESTAMP_TYPES) or found.time_attribute is not TimeAttribute.ROWTIME:
        raise ArgumentError("the argument must be a rowtime attribute")
    return Signature((found,), without_time_attribute(found).nullable())


def _watermark_rows(site: CallSite) -> Callable[..., int | None]:
    running = site.session.running

    def compute(rowtime: int | None) -> int | None:
        watermark = running.watermark
        return None if watermark is None else watermark * 1000

    return compute


def _source_watermark() -> int:
    raise SqlRuntimeError(
        "SOURCE_WATERMARK() has no value", remedy="use it as the only expression of WATERMARK FOR in CREATE TABLE"
    )


def _database(site: CallSite) -> Callable[[], str]:
    return lambda: site.session.database


_INSTANT = LocalZonedTimestampType(3)

FUNCTIONS: tuple[ScalarFunction, ...] = (
    ScalarFunction(
        "CURRENT_DATABASE", signature(result=always(VarCharType(is_nullable=False))), _database, deterministic=False
    ),
    _clock("CURRENT_TIMESTAMP", _INSTANT, _now),
    _clock("NOW", _INSTANT, _now),
    _clock("CURRENT_ROW_TIMESTAMP", _INSTANT, lambda site: _row_clock),
    _clock("LOCALTIMESTAMP", TimestampType(3), _local),
    _clock("CURRENT_DATE", DateType(), _date),
    _clock("CURRENT_TIME", TimeType(0), _time),
    _clock("LOCALTIME", TimeType(0), _time),
    _clock("PROCTIME", LocalZonedTimestampType(3, time_attribute=TimeAttribute.PROCTIME), lambda site: _row_clock),
    ScalarFunction("CURRENT_WATERMARK", _watermark_infer, _watermark_rows, strict=False, deterministic=False),
    ScalarFunction(
        "SOURCE_WATERMARK",
        signature(result=always(LocalZonedTimestampType(3))),
        lambda site: _source_watermark,
        deterministic=False,
    ),
)
