"""Members for dates, times and intervals, and for the time of windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.table.analysis.inline import InlineCast, InlineInterval
from headrace.table.api.nodes import WindowProperty
from headrace.table.api.operand import Operand
from headrace.table.api.units import TimeIntervalUnit
from headrace.table.sql.syntax import expressions as syntax
from headrace.types.logical_types import DataType, DateType, TimestampType, TimeType

if TYPE_CHECKING:
    from typing import Self

_SECOND = 1000
_MINUTE, _HOUR, _DAY = 60 * _SECOND, 3600 * _SECOND, 86_400 * _SECOND


def _interval(unit: int, doc: str, months: bool = False) -> Any:
    return property(lambda self: self._make(InlineInterval(self.node, unit, months)), doc=doc)


def _part(part: str, doc: str) -> Any:
    return property(lambda self: self._make(WindowProperty(self.node, part)), doc=doc)


def _converted(kind: DataType, doc: str) -> Any:
    return property(lambda self: self._make(InlineCast(self.node, kind)), doc=doc)


class Moments(Operand):
    """Dates, times and intervals."""

    milli = _interval(1, "An interval of a millisecond.")
    millis = _interval(1, "An interval of milliseconds.")
    second = _interval(_SECOND, "An interval of a second.")
    seconds = _interval(_SECOND, "An interval of seconds.")
    minute = _interval(_MINUTE, "An interval of a minute.")
    minutes = _interval(_MINUTE, "An interval of minutes.")
    hour = _interval(_HOUR, "An interval of an hour.")
    hours = _interval(_HOUR, "An interval of hours.")
    day = _interval(_DAY, "An interval of a day.")
    days = _interval(_DAY, "An interval of days.")
    week = _interval(7 * _DAY, "An interval of a week.")
    weeks = _interval(7 * _DAY, "An interval of weeks.")
    month = _interval(1, "An interval of a month.", months=True)
    months = _interval(1, "An interval of months.", months=True)
    quarter = _interval(3, "An interval of three months.", months=True)
    quarters = _interval(3, "An interval of quarters of a year.", months=True)
    year = _interval(12, "An interval of a year.", months=True)
    years = _interval(12, "An interval of years.", months=True)

    start = _part("start", "The start of a group window, which is included.")
    end = _part("end", "The end of a group window, which is not included.")
    rowtime = _part("rowtime", "The event time of a group window's rows, its last millisecond, as a time attribute.")
    proctime = _part("proctime", "The processing time of a group window's rows, as a time attribute.")

    to_date = _converted(DateType(), "The date in a text such as 2024-01-31.")
    to_time = _converted(TimeType(0), "The time in a text such as 23:59:59.")
    to_timestamp = _converted(TimestampType(3), "The timestamp in a text such as 2024-01-31 23:59:59.")

    def extract(self, time_interval_unit: TimeIntervalUnit) -> Self:
        """Return a part of a date, time or interval as a number."""
        return self._make(syntax.Call(("EXTRACT",), (syntax.Symbol(time_interval_unit.value), self.node)))
