"""Times of windows: rowtimes with a time zone are moved to local time, where windows are aligned, and back for timers.

Follows Flink's rules for days on which clocks change: a local time that exists twice means its second occurrence for a
timer, and one that does not exist the moment of the change.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from headrace.operators.table.batches import numpy

_HOUR = 3_600_000
_QUARTER = 900_000
_EPOCH = datetime(1970, 1, 1)


class Zone:
    """A time zone, with times in milliseconds.

    >>> Zone("Asia/Shanghai").local(0), Zone("Asia/Shanghai").epoch(28_800_000), Zone("UTC").local(5)
    (28800000, 0, 5)
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.plain = name.upper() in ("UTC", "Z", "GMT", "ETC/UTC")
        self._zone = timezone.utc if self.plain else _zone_info(name)
        self._offset = lru_cache(maxsize=65_536)(self._offset_of)
        self.epoch = (lambda local: local) if self.plain else lru_cache(maxsize=65_536)(self._epoch)

    def local(self, epoch: int) -> int:
        """Return the local time of a moment, as if it were UTC."""
        return epoch if self.plain else epoch + self._offset(epoch // _QUARTER)

    def local_column(self, epochs: Any) -> Any:
        """Return the local times of an array of numpy."""
        if self.plain:
            return epochs
        np = numpy()
        quarters, places = np.unique(epochs // _QUARTER, return_inverse=True)
        return epochs + np.array([self._offset(quarter) for quarter in quarters.tolist()], dtype=np.int64)[places]

    def _offset_of(self, quarter: int) -> int:
        """Return the offset of a quarter of an hour: clocks change only between two of them."""
        moment = (_EPOCH + timedelta(milliseconds=quarter * _QUARTER)).replace(tzinfo=timezone.utc)
        offset = moment.astimezone(self._zone).utcoffset()
        assert offset is not None
        return offset // timedelta(milliseconds=1)

    def _epoch(self, local: int) -> int:
        """Return when a timer for a local time fires."""
        first, later = self._moment(local), self._moment(local + _HOUR)
        if later - first > _HOUR:
            return later - _HOUR
        return first - first % _HOUR if first == later else first

    def _moment(self, local: int) -> int:
        """Return the earlier moment of a local time; of one that does not exist, the one after the gap by its length."""
        try:
            at = (_EPOCH + timedelta(milliseconds=local)).replace(tzinfo=self._zone)
            offset = at.utcoffset()
        except OverflowError:  # beyond year 9999: as far as the end of time
            return local
        assert offset is not None
        return local - offset // timedelta(milliseconds=1)


def _zone_info(name: str) -> Any:
    if name.upper().startswith(("GMT", "UTC")) and len(name) > len("UTC"):
        name = name[3:]
    if name[:1] in "+-":
        hours, _, minutes = name[1:].partition(":")
        offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
        return timezone(-offset if name[0] == "-" else offset)
    return ZoneInfo(name)
