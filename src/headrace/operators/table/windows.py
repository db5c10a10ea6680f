"""Which windows a time belongs to. Windows that overlap are made of slices: the longest spans that no window divides.

Pure arithmetic in milliseconds of the windows' own time (local time, if rows have a time zone). A window is
(end, start), so that sorting gives the order in which windows fire.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from math import gcd
from typing import Any

from headrace.errors import InvalidProgramError
from headrace.graph.table_specs import TimeWindow

Window = tuple[int, int]


class Slicing(ABC):
    """The slices of windows of one kind. A slice is named by its start."""

    def __init__(self, length: int, offset: int) -> None:
        self.length, self.offset = length, offset

    def slice_of(self, time: Any) -> Any:
        """Return the slice of a time."""
        return time - (time - self.offset) % self.length

    @abstractmethod
    def windows(self, start: Any) -> list[Window]:
        """Return the windows of a slice, the earliest end first; none if it is in a gap between windows."""

    def slices(self, window: Window) -> Iterable[Any]:
        """Return the slices of a window."""
        return range(window[1], window[0], self.length)


class Tumbling(Slicing):
    """TUMBLE.

    >>> Tumbling(10, 0).windows(Tumbling(10, 0).slice_of(-3))
    [(0, -10)]
    """

    def windows(self, start: Any) -> list[Window]:
        return [(start + self.length, start)]


class Hopping(Slicing):
    """HOP: windows of `size` that start every `slide`.

    >>> hopping = Hopping(10, 4, 0)
    >>> hopping.length, hopping.windows(8), list(hopping.slices((14, 4)))
    (2, [(10, 0), (14, 4), (18, 8)], [4, 6, 8, 10, 12])
    """

    def __init__(self, size: int, slide: int, offset: int) -> None:
        super().__init__(gcd(size, slide), offset)
        self._size, self._slide = size, slide

    def windows(self, start: Any) -> list[Window]:
        last = start - (start - self.offset) % self._slide
        return [(first + self._size, first) for first in range(last, start - self._size, -self._slide)][::-1]


class Cumulating(Slicing):
    """CUMULATE: windows that grow by `step` up to `size`.

    >>> Cumulating(6, 2, 0).windows(2)
    [(4, 0), (6, 0)]
    """

    def __init__(self, size: int, step: int, offset: int) -> None:
        super().__init__(step, offset)
        self._size = size

    def windows(self, start: Any) -> list[Window]:
        first = start - (start - self.offset) % self._size
        return [(end, first) for end in range(start + self.length, first + self._size + 1, self.length)]


class Given(Slicing):
    """Windows that rows already have, instead of a time.

    >>> Given().windows((10, 0)), list(Given().slices((10, 0)))
    ([(10, 0)], [(10, 0)])
    """

    def __init__(self) -> None:
        super().__init__(0, 0)

    def slice_of(self, time: Any) -> Any:
        return time

    def windows(self, start: Any) -> list[Window]:
        return [start]

    def slices(self, window: Window) -> Iterable[Any]:
        return (window,)


def slicing(window: TimeWindow) -> Slicing:
    """Return the slices of a TUMBLE, HOP or CUMULATE window."""
    if window.kind == "TUMBLE":
        return Tumbling(window.size, window.offset)
    if window.kind == "HOP":
        return Hopping(window.size, window.slide, window.offset)
    if window.kind == "CUMULATE":
        if window.size % window.slide:
            raise InvalidProgramError(
                "CUMULATE needs a maximum size that is a multiple of its step",
                seen=f"size {window.size} ms, step {window.slide} ms",
            )
        return Cumulating(window.size, window.slide, window.offset)
    raise InvalidProgramError(f"{window.kind} windows have no slices")
