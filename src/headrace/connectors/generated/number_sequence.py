"""A source of integers in ascending order. The range is cut into one split per subtask, like Flink's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.connectors.base import definitions
from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split
from headrace.connectors.base.split_reader import Batch, ReaderContext, SplitReader
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.types.typeinfo import Types

__all__ = ["NumberSequenceSource"]


class NumberSequenceSource(definitions.Source):
    """Emits all numbers from ``start`` to ``end``; each subtask has a part of the range.

    >>> from headrace.common import Types, WatermarkStrategy
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> numbers = env.from_source(NumberSequenceSource(1, 10), WatermarkStrategy.no_watermarks(), "numbers")
    >>> numbers.get_name(), numbers.get_type()
    ('numbers', Long)
    """

    def __init__(self, start: int, end: int) -> None:
        """Both bounds are included."""
        for bound in (start, end):
            if not isinstance(bound, int) or isinstance(bound, bool):
                raise TypeMismatchError("The bounds of a number sequence must be integers", seen=bound)
        super().__init__(NumberSequence(start, end))


@dataclass(frozen=True, eq=False)
class NumberSequence(Source):
    """All numbers from `start` to `end`, both included.

    >>> [split.payload for split in NumberSequence(1, 7).splits(3)]
    [(1, 3), (4, 5), (6, 7)]
    """

    start: int
    end: int
    produced_type = Types.LONG()

    def __post_init__(self) -> None:
        if self.start > self.end:
            raise InvalidProgramError("'from' must be <= 'to'", seen=f"from {self.start} to {self.end}")

    def splits(self, parallelism: int) -> list[Split]:
        return range_splits(self.start, self.end, parallelism)

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        start, end = split.payload
        return _SequenceReader(start if position is None else position, end)


def range_splits(start: int, end: int, parts: int) -> list[Split]:
    """Cut a range into at most `parts` splits of nearly equal size; the first ones take the remainder.

    >>> [split.payload for split in range_splits(0, 4, 2)]
    [(0, 2), (3, 4)]
    """
    size, extra = divmod(end - start + 1, parts)
    splits = []
    for index in range(parts if size else extra):
        after = start + size + (1 if index < extra else 0)
        splits.append(Split(str(index), (start, after - 1)))
        start = after
    return splits


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
