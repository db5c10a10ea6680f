"""A source of whole numbers in ascending order, the range cut into one split per subtask as Flink cuts it."""

from __future__ import annotations

from typing import Any

from headrace.connectors.base.source import Batch, ReaderContext, Source, Split, SplitReader
from headrace.errors import InvalidProgramError
from headrace.types.typeinfo import TypeInformation, Types


class NumberSequence(Source):
    """All numbers from `start` to `end`, both included.

    >>> [[s.payload for s in part] for part in NumberSequence(1, 7).splits(3)]
    [[(1, 3)], [(4, 5)], [(6, 7)]]
    """

    produced_type: TypeInformation | None = Types.LONG()

    def __init__(self, start: int, end: int) -> None:
        """Takes both bounds."""
        if start > end:
            raise InvalidProgramError("'from' must be <= 'to'", seen=f"from {start} to {end}")
        self.start, self.end = start, end

    def splits(self, parallelism: int) -> list[list[Split]]:
        return [
            [Split(str(index), bounds)] if bounds[0] <= bounds[1] else []
            for index, bounds in enumerate(split_range(self.start, self.end, parallelism))
        ]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        start, end = split.payload
        return _SequenceReader(start if position is None else position, end)


def split_range(start: int, end: int, parts: int) -> list[tuple[int, int]]:
    """Cuts a range into parts of nearly equal size; the first ones take what is left over.

    >>> split_range(0, 4, 2)
    [(0, 2), (3, 4)]
    """
    size, extra = divmod(end - start + 1, parts)
    bounds = []
    for index in range(parts):
        after = start + size + (1 if index < extra else 0)
        bounds.append((start, after - 1))
        start = after
    return bounds


class _SequenceReader(SplitReader):
    def __init__(self, start: int, end: int) -> None:
        self._next, self._end = start, end
        self.finished = start > end

    def read(self, limit: int, now: int) -> Batch:
        after = min(self._next + limit, self._end + 1)
        values = list(range(self._next, after))
        self._next = after
        self.finished = after > self._end
        return Batch(values)

    def position(self) -> int:
        return self._next
