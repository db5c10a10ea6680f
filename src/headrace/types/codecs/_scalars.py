"""Codecs of big numbers, dates, times and instants, any of which may be ``None``.

Decides the precision of times: SQL times and timestamps keep milliseconds and no time zone. These types are encoded as
the list of their values.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from headrace.types.codecs._codec import Codec, mismatch
from headrace.types.time import Instant, utc_moment


class ScalarCodec(Codec):
    """The codec of values that a function converts; ``plain`` is the type that needs no conversion.

    Without ``plain`` every value is checked.

    >>> ScalarCodec("BigInteger", to_big_integer, plain=int).coerce([1, None, 2.0])
    [1, None, 2]
    """

    def __init__(self, expected: str, function: Callable[[Any], Any], plain: type | None = None) -> None:
        """Create a codec from a function that raises if a value cannot be converted."""
        super().__init__(expected)
        self._function = function
        self._plain = None if plain is None else frozenset({plain, type(None)})

    def convert(self, value: Any) -> Any:
        """Return the converted value; ``None`` stays ``None``."""
        if value is None:
            return None
        try:
            return self._function(value)
        except (TypeError, ValueError, OverflowError, AttributeError, InvalidOperation):
            raise mismatch(value, self.expected) from None

    def settled(self, values: Sequence[Any]) -> bool:
        """Return whether all are of the plain type or ``None``."""
        return self._plain is not None and self._plain.issuperset(map(type, values))


def to_big_integer(value: Any) -> int:
    """Return an ``int`` of any size; a fraction is cut off, a string is rejected.

    >>> to_big_integer(Decimal("1E+30")) == 10**30
    True
    """
    if type(value) is int:
        return value
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError
    return int(value)


def to_big_decimal(value: Any) -> Decimal:
    """Return a finite ``Decimal``; a number or string is taken as it is written.

    >>> to_big_decimal(1.5), to_big_decimal("2.50")
    (Decimal('1.5'), Decimal('2.50'))
    """
    number = value if type(value) is Decimal else Decimal(str(value))
    if not number.is_finite():
        raise ValueError
    return number


def to_date(value: Any) -> datetime.date:
    """Return a ``date``; a ``datetime`` loses its time.

    >>> to_date(datetime.datetime(2020, 1, 2, 3))
    datetime.date(2020, 1, 2)
    """
    return value if type(value) is datetime.date else datetime.date(value.year, value.month, value.day)


def to_time(value: Any, step: int = 1000) -> datetime.time:
    """Return a ``time`` in steps of ``step`` microseconds, without its time zone; a ``datetime`` loses its date.

    >>> to_time(datetime.time(3, 4, 5, 678901))
    datetime.time(3, 4, 5, 678000)
    """
    micros = value.microsecond - value.microsecond % step
    if type(value) is datetime.time and value.tzinfo is None and micros == value.microsecond:
        return value
    return datetime.time(value.hour, value.minute, value.second, micros)


def to_moment(value: Any, step: int = 1000) -> datetime.datetime:
    """Return a ``datetime`` in steps of ``step`` microseconds, without its time zone.

    >>> to_moment(datetime.datetime(2020, 1, 2, 3, 4, 5, 678901, tzinfo=datetime.timezone.utc))
    datetime.datetime(2020, 1, 2, 3, 4, 5, 678000)
    """
    micros = value.microsecond - value.microsecond % step
    if type(value) is datetime.datetime and value.tzinfo is None and micros == value.microsecond:
        return value
    return datetime.datetime(value.year, value.month, value.day, value.hour, value.minute, value.second, micros)


def to_instant(value: Any) -> Instant:
    """Return an ``Instant``; reject anything else.

    >>> to_instant(Instant(1, 2))
    Instant<1, 2>
    """
    if not isinstance(value, Instant):
        raise TypeError
    return value


def to_zoned_moment(value: Any) -> datetime.datetime:
    """Return a ``datetime`` with a time zone; an ``Instant`` becomes one in UTC.

    >>> to_zoned_moment(Instant(1, 0))
    datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=datetime.timezone.utc)
    """
    if isinstance(value, Instant):
        return utc_moment(value)
    if not isinstance(value, datetime.datetime) or value.tzinfo is None:
        raise TypeError
    return value
