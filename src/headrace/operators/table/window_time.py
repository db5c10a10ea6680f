"""When a window that is described by its end, as a column, has ended."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

_EPOCH = datetime(1970, 1, 1)
_HOUR = 3_600_000


class WindowEnds:
    """Turns ends of windows, in microseconds of local time, into the times of their timers, in milliseconds.

    >>> WindowEnds("UTC", local=True).timer(5_000_000)
    4999
    >>> WindowEnds("Europe/Berlin", local=False).timer(7_200_000_000)  # two hours, an hour east of UTC
    3599999
    """

    def __init__(self, time_zone: str, local: bool) -> None:
        """Take the zone of local times, and whether watermarks are in local time, too."""
        self._zone = None if local or time_zone.upper() == "UTC" else ZoneInfo(time_zone)

    def timer(self, end: int) -> int:
        """Return the last millisecond of the window that ends then."""
        last = end // 1000 - 1
        return last if self._zone is None else _epoch(last, self._zone)


def _epoch(local: int, zone: ZoneInfo) -> int:
    """Return the epoch milliseconds of a local time.

    Of an hour that a clock shows twice it is the second one, of an hour that it skips the end.
    """
    first, later = _instant(local, zone), _instant(local + _HOUR, zone)
    if later - first > _HOUR:
        return later - _HOUR
    return first - first % _HOUR if later == first else first


def _instant(local: int, zone: ZoneInfo) -> int:
    moment = (_EPOCH + timedelta(milliseconds=local)).replace(tzinfo=zone)
    return round((moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) / timedelta(milliseconds=1))
