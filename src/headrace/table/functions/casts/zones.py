"""Time zones: from points in time to local times and back."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from headrace.table.errors import SqlValidationError

_EPOCH = datetime(1970, 1, 1)  # a local time
_UTC_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)
_EARLIEST, _LATEST = -62_135_510_400_000_000, 253_402_214_400_000_000  # where datetimes with an offset end


@cache
def zone_of(name: str) -> tzinfo:
    """Return a time zone by its name or offset.

    >>> zone_of("Europe/Berlin"), zone_of("GMT+01:30")
    (zoneinfo.ZoneInfo(key='Europe/Berlin'), datetime.timezone(datetime.timedelta(seconds=5400)))
    """
    if name.upper() in ("UTC", "Z", "GMT"):
        return timezone.utc
    offset = _OFFSET.fullmatch(name)
    if offset:
        size = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return timezone(size if offset[1] == "+" else -size)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise SqlValidationError(
            f"Unknown time zone {name!r}", remedy="use a name such as 'Europe/Berlin' or an offset such as 'GMT+01:00'"
        ) from None


def local_micros(micros: int, zone: tzinfo) -> int:
    """Return the local time of a point in time, both in microseconds since 1970.

    >>> local_micros(0, zone_of("Europe/Berlin"))
    3600000000
    """
    moment = _UTC_EPOCH + timedelta(microseconds=min(max(micros, _EARLIEST), _LATEST))
    return micros + _offset(moment.astimezone(zone))


def utc_micros(micros: int, zone: tzinfo, *, latest: bool = False) -> int:
    """Return the point in time of a local time, both in microseconds since 1970.

    A local time that occurs twice is the earlier one, or the later one with `latest`; one that is skipped is moved
    forward by the length of the gap.

    >>> utc_micros(3600000000, zone_of("Europe/Berlin"))
    0
    """
    local = _EPOCH + timedelta(microseconds=min(max(micros, _EARLIEST), _LATEST))
    offset = _offset(local.replace(tzinfo=zone, fold=0))
    return micros - (min(offset, _offset(local.replace(tzinfo=zone, fold=1))) if latest else offset)


def _offset(moment: datetime) -> int:
    offset = moment.utcoffset()
    assert offset is not None
    return offset // _MICROSECOND
