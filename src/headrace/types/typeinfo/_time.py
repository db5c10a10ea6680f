"""The types of dates and times.

Decides their internal forms: days, or microseconds in the local time zone. Codecs round to milliseconds, not these.
"""

from __future__ import annotations

import calendar
import datetime
import time
from enum import Enum
from typing import Any, ClassVar

from headrace.types.typeinfo._base import TypeInformation

_MICROS = 1_000_000


class DateTypeInfo(TypeInformation):
    """The type of ``datetime.date``; its internal form is the days since 1970.

    >>> DateTypeInfo().to_internal_type(datetime.date(1970, 1, 11))
    10
    """

    EPOCH_ORDINAL: ClassVar[int] = datetime.date(1970, 1, 1).toordinal()

    def need_conversion(self) -> bool:
        """Return True."""
        return True

    def to_internal_type(self, d: Any) -> Any:
        """Return the days since 1970."""
        return None if d is None else d.toordinal() - self.EPOCH_ORDINAL

    def from_internal_type(self, v: Any) -> Any:
        """Return the date."""
        return None if v is None else datetime.date.fromordinal(v + self.EPOCH_ORDINAL)


class TimeTypeInfo(TypeInformation):
    """The type of ``datetime.time``; its internal form is the microseconds of the day in UTC.

    >>> TimeTypeInfo().from_internal_type(TimeTypeInfo().to_internal_type(datetime.time(1, 2, 3, 4)))
    datetime.time(1, 2, 3, 4)
    """

    EPOCH_ORDINAL: ClassVar[int] = calendar.timegm(time.localtime(0)) * _MICROS

    def need_conversion(self) -> bool:
        """Return True."""
        return True

    def to_internal_type(self, t: Any) -> Any:
        """Return the microseconds of the day in UTC; a time without a time zone is local."""
        if t is None:
            return None
        offset = self.EPOCH_ORDINAL
        if t.tzinfo is not None:
            offset = (t.utcoffset() or datetime.timedelta()) // datetime.timedelta(microseconds=1)
        return ((t.hour * 60 + t.minute) * 60 + t.second) * _MICROS + t.microsecond - offset

    def from_internal_type(self, t: Any) -> Any:
        """Return the local time of day."""
        if t is None:
            return None
        seconds, micros = divmod(t + self.EPOCH_ORDINAL, _MICROS)
        minutes, seconds = divmod(seconds, 60)
        hours, minutes = divmod(minutes, 60)
        return datetime.time(hours, minutes, seconds, micros)


class TimestampTypeInfo(TypeInformation):
    """The type of ``datetime.datetime``; its internal form is the microseconds since 1970 in UTC.

    >>> moment = datetime.datetime(2020, 2, 3, 4, 5, 6, 7)
    >>> TimestampTypeInfo().from_internal_type(TimestampTypeInfo().to_internal_type(moment)) == moment
    True
    """

    def need_conversion(self) -> bool:
        """Return True."""
        return True

    def to_internal_type(self, dt: Any) -> Any:
        """Return the microseconds since 1970; a datetime without a time zone is local."""
        if dt is None:
            return None
        seconds = calendar.timegm(dt.utctimetuple()) if dt.tzinfo else int(time.mktime(dt.timetuple()))
        return seconds * _MICROS + dt.microsecond

    def from_internal_type(self, ts: Any) -> Any:
        """Return the local datetime."""
        if ts is None:
            return None
        return datetime.datetime.fromtimestamp(ts // _MICROS).replace(microsecond=ts % _MICROS)


class SqlTimeTypeInfo(TypeInformation):
    """Creates the types of SQL dates and times.

    >>> SqlTimeTypeInfo.DATE(), SqlTimeTypeInfo.TIME(), SqlTimeTypeInfo.TIMESTAMP()
    (DateTypeInfo, TimeTypeInfo, TimestampTypeInfo)
    """

    @staticmethod
    def DATE() -> DateTypeInfo:
        """Return the type ``Types.SQL_DATE()``."""
        return DateTypeInfo()

    @staticmethod
    def TIME() -> TimeTypeInfo:
        """Return the type ``Types.SQL_TIME()``."""
        return TimeTypeInfo()

    @staticmethod
    def TIMESTAMP() -> TimestampTypeInfo:
        """Return the type ``Types.SQL_TIMESTAMP()``."""
        return TimestampTypeInfo()


class LocalTimeTypeInfo(TypeInformation):
    """The type of a date, time or datetime without a time zone, exact to the microsecond.

    >>> LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE)
    LocalTimeTypeInfo<LOCAL_DATE>
    """

    class TimeType(Enum):
        """Date, time, or both.

        >>> LocalTimeTypeInfo.TimeType.LOCAL_TIME.value
        1
        """

        LOCAL_DATE = 0
        LOCAL_TIME = 1
        LOCAL_DATE_TIME = 2

    def __init__(self, time_type: TimeType) -> None:
        self._time_type = time_type

    @property
    def time_type(self) -> TimeType:
        """Return whether it is a date, a time, or both."""
        return self._time_type

    def _parts(self) -> tuple[Any, ...]:
        return (self._time_type,)

    def __repr__(self) -> str:
        return f"LocalTimeTypeInfo<{self._time_type.name}>"


class LocalZonedTimestampTypeInfo(TypeInformation):
    """The type of ``datetime.datetime`` with a time zone, for columns of ``TIMESTAMP_LTZ`` in files; not in ``Types``.

    >>> LocalZonedTimestampTypeInfo()
    LocalZonedTimestampTypeInfo
    """
