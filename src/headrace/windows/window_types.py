"""Windows as values: time windows, count windows, the global window. Pure; used by assigners, triggers and operators.

A window is the namespace of state and timers, so it is hashable and small. A `TimeWindow` is a tuple of its two ends: it
hashes and compares as fast as one. Serializers are for programs that ask an assigner for one: state pickles windows.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable
from io import BytesIO
from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.types.serializer import TypeSerializer


class Window(ABC):
    """A group of elements. A program's own windows derive from it and need `__eq__` and `__hash__`.

    >>> sorted(Window.__abstractmethods__)
    ['max_timestamp']
    """

    __slots__ = ()

    @abstractmethod
    def max_timestamp(self) -> int:
        """Return the highest timestamp that belongs to the window: the timestamp of its results."""


class TimeWindow(tuple[int, int], Window):
    """A window from ``start`` (included) to ``end`` (not included), in milliseconds.

    >>> window = TimeWindow(0, 10)
    >>> window, window.max_timestamp(), window.intersects(TimeWindow(10, 20))
    (TimeWindow(start=0, end=10), 9, True)
    >>> window.cover(TimeWindow(15, 20))
    TimeWindow(start=0, end=20)
    """

    __slots__ = ()

    def __new__(cls, start: int, end: int) -> TimeWindow:
        return tuple.__new__(cls, (start, end))

    def __init__(self, start: int, end: int) -> None:
        """Do nothing: `__new__` took both ends."""

    def __getnewargs__(self) -> tuple[int, int]:
        return self[0], self[1]

    @property
    def start(self) -> int:
        """The first millisecond."""
        return self[0]

    @property
    def end(self) -> int:
        """The first millisecond after the window."""
        return self[1]

    def max_timestamp(self) -> int:
        """Return the last millisecond. A window that extends beyond the end of time ends there.

        >>> TimeWindow(2**63 - 8, 2**63 + 2).max_timestamp() == 2**63 - 1
        True
        """
        last = self[1] - 1
        return last if last < MAX_WATERMARK else MAX_WATERMARK

    def intersects(self, other: TimeWindow) -> bool:
        """Return whether both overlap or touch each other."""
        return bool(self[0] <= other[1] and self[1] >= other[0])

    def cover(self, other: TimeWindow) -> TimeWindow:
        """Return the smallest window that contains both."""
        return TimeWindow(min(self[0], other[0]), max(self[1], other[1]))

    @staticmethod
    def get_window_start_with_offset(timestamp: int, offset: int, window_size: int) -> int:
        """Return the start of the window of ``timestamp``, for windows of one size one after the other.

        >>> TimeWindow.get_window_start_with_offset(17, 0, 10), TimeWindow.get_window_start_with_offset(-3, 0, 10)
        (10, -10)
        >>> TimeWindow.get_window_start_with_offset(17, 8, 10)
        8
        """
        return timestamp - (timestamp - offset) % window_size

    @staticmethod
    def merge_windows(windows: Iterable[TimeWindow], callback: Any) -> None:
        """Tell ``callback.merge(parts, whole)`` which windows overlap or touch; parts come in `in_flinks_order`.

        >>> class Show:
        ...     def merge(self, to_be_merged, merge_result):
        ...         print(sorted(to_be_merged), merge_result)
        >>> TimeWindow.merge_windows([TimeWindow(8, 12), TimeWindow(0, 5), TimeWindow(5, 7)], Show())
        [TimeWindow(start=0, end=5), TimeWindow(start=5, end=7)] TimeWindow(start=0, end=7)
        """
        merged: list[tuple[TimeWindow, list[TimeWindow]]] = []
        for window in sorted(set(windows)):
            if merged and merged[-1][0].intersects(window):
                whole, parts = merged[-1]
                merged[-1] = (whole.cover(window), [*parts, window])
            else:
                merged.append((window, [window]))
        for whole, parts in merged:
            if len(parts) > 1:
                callback.merge(in_flinks_order(parts), whole)

    def __repr__(self) -> str:
        return f"TimeWindow(start={self[0]}, end={self[1]})"


class CountWindow(Window):
    """A window of a number of elements, identified by its number.

    >>> CountWindow(3), CountWindow(3) == CountWindow(3)
    (CountWindow(id=3), True)
    """

    __slots__ = ("id",)

    def __init__(self, id: int) -> None:
        self.id = id

    def max_timestamp(self) -> int:
        """Return the highest timestamp: no time ends it."""
        return MAX_WATERMARK

    def __eq__(self, other: object) -> bool:
        return type(other) is CountWindow and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"CountWindow(id={self.id})"


class GlobalWindow(Window):
    """The one window of all elements.

    >>> GlobalWindow.get() == GlobalWindow()
    True
    """

    __slots__ = ()

    @staticmethod
    def get() -> GlobalWindow:
        """Return it."""
        return GlobalWindow()

    def max_timestamp(self) -> int:
        """Return the highest timestamp: no time ends it."""
        return MAX_WATERMARK

    def __eq__(self, other: object) -> bool:
        return type(other) is GlobalWindow

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "GlobalWindow"


def time_reached(watermark: int) -> int:
    """Return the time up to which windows have ended: with the highest watermark all have, however far they reach.

    Windows start and end at Python integers, so the window of a timestamp near 2**63 has an end beyond 64 bits.

    >>> time_reached(10), time_reached(MAX_WATERMARK) > 2**64
    (10, True)
    """
    return watermark if watermark < MAX_WATERMARK else _AFTER_ALL_WINDOWS


def first_end(time: int, size: int, slide: int, offset: int) -> int:
    """Return the end of the first of the windows that contain ``time``, where windows of one size begin every ``slide``.

    >>> first_end(17, 10, 10, 0), first_end(17, 10, 5, 0), first_end(17, 10, 4, 0)
    (20, 20, 18)
    """
    last = time - (time - offset) % slide
    return last - (last + size - 1 - time) // slide * slide + size


def in_flinks_order(windows: list[TimeWindow]) -> list[TimeWindow]:
    """Sort windows to be merged into the order in which Flink merges their contents: that of a Java HashSet.

    ``windows`` are in ascending order. Programs see the order in the elements of a merged session.

    >>> in_flinks_order([TimeWindow(1, 10), TimeWindow(8, 13), TimeWindow(12, 17)])
    [TimeWindow(start=12, end=17), TimeWindow(start=8, end=13), TimeWindow(start=1, end=10)]
    """
    buckets = 16
    while len(windows) > buckets * 3 // 4:
        buckets *= 2
    return sorted(windows, key=lambda window: _java_hash(window[0] + window[1]) & (buckets - 1))


def _java_hash(total: int) -> int:
    """Return the hash code of a TimeWindow in Flink, spread like in a HashSet; of the lowest 32 bits only."""
    mixed = total & _LONG
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _LONG
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _LONG
    mixed = (mixed ^ (mixed >> 31)) & 0xFFFFFFFF
    return mixed ^ (mixed >> 16)


_LONG = 2**64 - 1
_AFTER_ALL_WINDOWS = 2**65
"""Later than the end of any window: timestamps and sizes of windows are below 2**63."""


def long_to_int_with_bit_mixing(x: int) -> int:
    """Spread the bits of a number, for hashes of windows that programs write (the mixing step of splitmix64).

    >>> long_to_int_with_bit_mixing(0)
    0
    """
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> shift)) * factor
    return x ^ (x >> 31)


def mod_inverse(x: int) -> int:
    """Return the inverse of an odd number modulo 2 to the 64 in its lowest 64 bits, for hashes of windows.

    >>> mod_inverse(7) * 7 % 2**64
    1
    """
    inverse = x**3
    for _ in range(4):
        inverse *= 2 - x * inverse
    return inverse


_TWO_LONGS = struct.Struct(">qq")
_ONE_LONG = struct.Struct(">q")


class TimeWindowSerializer(TypeSerializer[TimeWindow]):
    """Writes a time window as two longs.

    >>> stream = BytesIO()
    >>> TimeWindowSerializer().serialize(TimeWindow(1, 2), stream)
    >>> TimeWindowSerializer().deserialize(BytesIO(stream.getvalue()))
    TimeWindow(start=1, end=2)
    """

    def serialize(self, element: TimeWindow, stream: BytesIO) -> None:
        stream.write(_TWO_LONGS.pack(element.start, element.end))

    def deserialize(self, stream: BytesIO) -> TimeWindow:
        return TimeWindow(*_TWO_LONGS.unpack(stream.read(16)))


class CountWindowSerializer(TypeSerializer[CountWindow]):
    """Writes a count window as a long.

    >>> stream = BytesIO()
    >>> CountWindowSerializer().serialize(CountWindow(7), stream)
    >>> CountWindowSerializer().deserialize(BytesIO(stream.getvalue()))
    CountWindow(id=7)
    """

    def serialize(self, element: CountWindow, stream: BytesIO) -> None:
        stream.write(_ONE_LONG.pack(element.id))

    def deserialize(self, stream: BytesIO) -> CountWindow:
        return CountWindow(_ONE_LONG.unpack(stream.read(8))[0])


class GlobalWindowSerializer(TypeSerializer[GlobalWindow]):
    """Writes the global window as a byte.

    >>> GlobalWindowSerializer().deserialize(BytesIO(bytes(1)))
    GlobalWindow
    """

    def serialize(self, element: GlobalWindow, stream: BytesIO) -> None:
        stream.write(bytes(1))

    def deserialize(self, stream: BytesIO) -> GlobalWindow:
        stream.read(1)
        return GlobalWindow()
