"""Durations and points in time.

Decides units and checks input. Never reads a clock. Used by every call that takes a duration: watermark strategies,
windows, restart strategies, configuration.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import total_ordering

from headrace.compatibility.no_jvm_object import NoJvmObject
from headrace.errors import InvalidProgramError, TypeMismatchError

__all__ = ["Duration", "Instant", "Time", "instant_of", "millis_of", "utc_moment", "utc_text"]

_NANOS_PER_MILLI = 1_000_000
_NANOS_PER_SECOND = 1_000_000_000
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def _whole(value: object, what: str) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeMismatchError(f"{what} takes an integer", seen=value, expected="int")
    return int(value.__index__())


def utc_text(millis: int) -> str:
    """Format a time for people, to the second; the plain number if it is out of range.

    >>> utc_text(1_600_000_000_000), utc_text(2**62)
    ('2020-09-13 12:26:40', '4611686018427387904')
    """
    try:
        moment = datetime.datetime.fromtimestamp(millis / 1000, datetime.timezone.utc)
    except (OverflowError, OSError, ValueError):
        return str(millis)
    return moment.strftime("%Y-%m-%d %H:%M:%S")


@total_ordering
@dataclass(frozen=True, slots=True)
class Duration(NoJvmObject):
    """A duration, exact to the nanosecond.

    >>> Duration.of_seconds(90).to_millis()
    90000
    >>> Duration.of_minutes(1) == Duration.of_seconds(60)
    True
    >>> print(Duration.of_seconds(90))
    PT1M30S
    """

    nanos: int

    @staticmethod
    def of_days(days: int) -> Duration:
        """Return a duration of ``days`` times 24 hours.

        >>> Duration.of_days(1) == Duration.of_hours(24)
        True
        """
        return Duration(_whole(days, "Duration.of_days") * 86_400 * _NANOS_PER_SECOND)

    @staticmethod
    def of_hours(hours: int) -> Duration:
        """Return a duration of ``hours``.

        >>> Duration.of_hours(1).to_millis()
        3600000
        """
        return Duration(_whole(hours, "Duration.of_hours") * 3_600 * _NANOS_PER_SECOND)

    @staticmethod
    def of_millis(millis: int) -> Duration:
        """Return a duration of ``millis`` milliseconds.

        >>> Duration.of_millis(5).to_nanos()
        5000000
        """
        return Duration(_whole(millis, "Duration.of_millis") * _NANOS_PER_MILLI)

    @staticmethod
    def of_minutes(minutes: int) -> Duration:
        """Return a duration of ``minutes``.

        >>> Duration.of_minutes(2).to_millis()
        120000
        """
        return Duration(_whole(minutes, "Duration.of_minutes") * 60 * _NANOS_PER_SECOND)

    @staticmethod
    def of_nanos(nanos: int) -> Duration:
        """Return a duration of ``nanos`` nanoseconds.

        >>> Duration.of_nanos(2_500_000).to_millis()
        2
        """
        return Duration(_whole(nanos, "Duration.of_nanos"))

    @staticmethod
    def of_seconds(seconds: int) -> Duration:
        """Return a duration of ``seconds``.

        >>> Duration.of_seconds(3).to_millis()
        3000
        """
        return Duration(_whole(seconds, "Duration.of_seconds") * _NANOS_PER_SECOND)

    def to_millis(self) -> int:
        """Return the duration in milliseconds, rounded down.

        >>> Duration.of_nanos(-1).to_millis()
        -1
        """
        return self.nanos // _NANOS_PER_MILLI

    def to_nanos(self) -> int:
        """Return the duration in nanoseconds.

        >>> Duration.of_millis(1).to_nanos()
        1000000
        """
        return self.nanos

    def __lt__(self, other: object) -> bool:
        return self.nanos < other.nanos if isinstance(other, Duration) else NotImplemented

    def __str__(self) -> str:
        """Return the ISO-8601 form, as Java prints it: ``PT8H6M12.345S``."""
        if self.nanos == 0:
            return "PT0S"
        sign = "-" if self.nanos < 0 else ""
        seconds, fraction = divmod(abs(self.nanos), _NANOS_PER_SECOND)
        minutes, seconds = divmod(seconds, 60)
        hours, minutes = divmod(minutes, 60)
        text = "PT"
        if hours:
            text += f"{sign}{hours}H"
        if minutes:
            text += f"{sign}{minutes}M"
        if seconds or fraction:
            text += f"{sign}{seconds}" + (f".{fraction:09d}".rstrip("0") if fraction else "") + "S"
        return text


@total_ordering
@dataclass(frozen=True, slots=True, repr=False)
class Instant:
    """A point on the time line: seconds since 1970-01-01 UTC and the nanoseconds after them.

    >>> Instant.of_epoch_milli(1500)
    Instant<1, 500000000>
    >>> Instant.of_epoch_milli(-1).to_epoch_milli()
    -1
    """

    seconds: int
    nanos: int

    def to_epoch_milli(self) -> int:
        """Return the milliseconds since 1970-01-01 UTC, rounded down.

        >>> Instant(2, 999_999).to_epoch_milli()
        2000
        """
        return self.seconds * 1000 + self.nanos // _NANOS_PER_MILLI

    @staticmethod
    def of_epoch_milli(epoch_milli: int) -> Instant:
        """Return the instant ``epoch_milli`` milliseconds after 1970-01-01 UTC.

        >>> Instant.of_epoch_milli(2000) == Instant(2, 0)
        True
        """
        seconds, millis = divmod(_whole(epoch_milli, "Instant.of_epoch_milli"), 1000)
        return Instant(seconds, millis * _NANOS_PER_MILLI)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Instant):
            return NotImplemented
        return (self.seconds, self.nanos) < (other.seconds, other.nanos)

    def __repr__(self) -> str:
        return f"Instant<{self.seconds}, {self.nanos}>"


def utc_moment(instant: Instant) -> datetime.datetime:
    """Return the ``datetime`` in UTC of an instant, to the microsecond.

    >>> utc_moment(Instant(1, 500_000_000))
    datetime.datetime(1970, 1, 1, 0, 0, 1, 500000, tzinfo=datetime.timezone.utc)
    """
    return _EPOCH + datetime.timedelta(seconds=instant.seconds, microseconds=instant.nanos // 1000)


def instant_of(moment: datetime.datetime) -> Instant:
    """Return the instant of a ``datetime`` with a time zone.

    >>> instant_of(datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=datetime.timezone.utc))
    Instant<1, 0>
    """
    passed = moment - _EPOCH
    return Instant(passed.days * 86_400 + passed.seconds, passed.microseconds * 1000)


class Time:
    """A duration in milliseconds, for windows and restart strategies.

    >>> Time.seconds(5).to_milliseconds()
    5000
    >>> print(Time.minutes(1))
    60000 ms
    """

    __slots__ = ("_milliseconds",)

    def __init__(self, milliseconds: int) -> None:
        """Store the duration; a ``float`` without a fraction is accepted."""
        self._milliseconds = _whole(milliseconds, "Time")

    def to_milliseconds(self) -> int:
        """Return the duration in milliseconds.

        >>> Time(3).to_milliseconds()
        3
        """
        return self._milliseconds

    @staticmethod
    def milliseconds(milliseconds: int) -> Time:
        """Return a duration of ``milliseconds``.

        >>> Time.milliseconds(7).to_milliseconds()
        7
        """
        return Time(milliseconds)

    @staticmethod
    def seconds(seconds: int) -> Time:
        """Return a duration of ``seconds``.

        >>> Time.seconds(0.5).to_milliseconds()
        500
        """
        return Time(seconds * 1000)

    @staticmethod
    def minutes(minutes: int) -> Time:
        """Return a duration of ``minutes``.

        >>> Time.minutes(1) == Time.seconds(60)
        True
        """
        return Time(minutes * 60_000)

    @staticmethod
    def hours(hours: int) -> Time:
        """Return a duration of ``hours``.

        >>> Time.hours(1) == Time.minutes(60)
        True
        """
        return Time(hours * 3_600_000)

    @staticmethod
    def days(days: int) -> Time:
        """Return a duration of ``days`` times 24 hours.

        >>> Time.days(1) == Time.hours(24)
        True
        """
        return Time(days * 86_400_000)

    def __eq__(self, other: object) -> bool:
        return self._milliseconds == other._milliseconds if isinstance(other, Time) else NotImplemented

    def __hash__(self) -> int:
        return hash((Time, self._milliseconds))

    def __str__(self) -> str:
        return f"{self._milliseconds} ms"

    def __repr__(self) -> str:
        return f"Time({self._milliseconds})"


def millis_of(span: object, what: str, *, at_least: int | None = 0) -> int:
    """Return the milliseconds of a ``Duration``, ``Time`` or ``timedelta``; reject other values and too short durations.

    ``what`` names the argument in the error. ``at_least=None`` allows negative durations.

    >>> millis_of(Time.seconds(1), "size")
    1000
    >>> millis_of(5, "size")
    Traceback (most recent call last):
    ...
    headrace.errors.TypeMismatchError: size takes a duration [TYPE_MISMATCH]
      seen:     5 (int)
      expected: Duration or Time
      remedy:   write Duration.of_millis(5)
    """
    if isinstance(span, Duration):
        millis = span.to_millis()
    elif isinstance(span, Time):
        millis = span.to_milliseconds()
    elif isinstance(span, datetime.timedelta):
        millis = span // datetime.timedelta(milliseconds=1)
    else:
        raise TypeMismatchError(
            f"{what} takes a duration",
            seen=span,
            expected="Duration or Time",
            remedy=f"write Duration.of_millis({span})" if isinstance(span, int) else None,
        )
    if at_least is not None and millis < at_least:
        raise InvalidProgramError(f"{what} is too short", seen=f"{millis} ms", expected=f"at least {at_least} ms")
    return millis
