"""Serializers of windows, for programs that ask an assigner for one. State and timers pickle windows themselves."""

from __future__ import annotations

import struct
from io import BytesIO

from headrace.types.serializer import TypeSerializer
from headrace.windows.window_types import CountWindow, GlobalWindow, TimeWindow

_TWO_LONGS = struct.Struct(">qq")
_LONG = struct.Struct(">q")


class TimeWindowSerializer(TypeSerializer[TimeWindow]):
    """Writes a time window as two longs.

    >>> stream = BytesIO()
    >>> TimeWindowSerializer().serialize(TimeWindow(1, 2), stream)
    >>> TimeWindowSerializer().deserialize(BytesIO(stream.getvalue()))
    TimeWindow(start=1, end=2)
    """

    def __init__(self) -> None:
        """Make a serializer."""

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

    def __init__(self) -> None:
        """Make a serializer."""

    def serialize(self, element: CountWindow, stream: BytesIO) -> None:
        stream.write(_LONG.pack(element.id))

    def deserialize(self, stream: BytesIO) -> CountWindow:
        return CountWindow(_LONG.unpack(stream.read(8))[0])


class GlobalWindowSerializer(TypeSerializer[GlobalWindow]):
    """Writes the global window as a byte.

    >>> GlobalWindowSerializer().deserialize(BytesIO(bytes(1)))
    GlobalWindow
    """

    def __init__(self) -> None:
        """Make a serializer."""

    def serialize(self, element: GlobalWindow, stream: BytesIO) -> None:
        stream.write(bytes(1))

    def deserialize(self, stream: BytesIO) -> GlobalWindow:
        stream.read(1)
        return GlobalWindow()
