"""A source that makes records by a function of their index, at a given rate.

Decides how many records are due. The rate holds on average since the reader was opened: what a long epoch missed is made up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.connectors.base.source import EMPTY, Batch, ReaderContext, Source, Split, SplitReader
from headrace.connectors.base.subtask_context import runtime_context
from headrace.connectors.generated.number_sequence import split_range
from headrace.errors import InvalidProgramError
from headrace.types.typeinfo import TypeInformation

ENDLESS = 2**63 - 1


class DataGenerator(Source):
    """`function(index)` for the indexes 0 to `count - 1`, all subtasks together at most `records_per_second`.

    >>> source = DataGenerator(lambda index: index * 10, 3)
    >>> reader = source.open_reader(source.splits(1)[0][0], None, ReaderContext())
    >>> reader.read(100, 0).values, reader.finished
    ([0, 10, 20], True)
    """

    def __init__(
        self,
        function: Any,
        count: int = ENDLESS,
        records_per_second: float | None = None,
        produced_type: TypeInformation | None = None,
    ) -> None:
        """Takes a callable or a MapFunction."""
        if count < 1:
            raise InvalidProgramError("A generator makes at least one record", seen=count)
        if records_per_second is not None and records_per_second <= 0:
            raise InvalidProgramError("The rate of a generator is more than zero", seen=records_per_second)
        self.function = function
        self.count = count
        self.records_per_second = records_per_second
        self.produced_type = produced_type
        self.bounded = count != ENDLESS

    def splits(self, parallelism: int) -> list[list[Split]]:
        return [
            [Split(str(index), bounds)] if bounds[0] <= bounds[1] else []
            for index, bounds in enumerate(split_range(0, self.count - 1, parallelism))
        ]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        rate = None if self.records_per_second is None else self.records_per_second / context.parallelism
        start, end = split.payload
        return _GeneratorReader(self.function, start if position is None else position, end, rate, context)


class _GeneratorReader(SplitReader):
    def __init__(self, function: Any, start: int, end: int, rate: float | None, context: ReaderContext) -> None:
        self._function = function
        self._next, self._end, self._rate = start, end, rate
        self._first = start
        self._opened_at: int | None = None
        self.finished = start > end
        opener = getattr(function, "open", None)
        if callable(opener):
            opener(runtime_context(context))
        self._make: Callable[[int], Any] = getattr(function, "map", function)

    def read(self, limit: int, now: int) -> Batch:
        after = min(self._next + min(limit, self._due(now)), self._end + 1)
        if after <= self._next:
            return EMPTY
        make = self._make
        values = [make(index) for index in range(self._next, after)]
        self._next = after
        self.finished = after > self._end
        return Batch(values)

    def position(self) -> int:
        return self._next

    def close(self) -> None:
        closer = getattr(self._function, "close", None)
        if callable(closer):
            closer()

    def _due(self, now: int) -> int:
        if self._rate is None:
            return self._end + 1 - self._next
        if self._opened_at is None:
            self._opened_at = now
        due = int((now - self._opened_at) * self._rate / 1000) + 1
        return self._first + due - self._next
