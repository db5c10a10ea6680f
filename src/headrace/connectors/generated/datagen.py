"""A source that generates records with a function of their index, at a given rate.

Decides how many records are due. The rate is an average since the reader was opened: the source catches up after a long epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base import definitions
from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split
from headrace.connectors.base.split_reader import EMPTY, Batch, ReaderContext, SplitReader, runtime_context
from headrace.connectors.generated.number_sequence import range_splits
from headrace.errors import InvalidProgramError
from headrace.functions import MapFunction
from headrace.functions.checks import check_or_callable
from headrace.types.declared_types import declared_type
from headrace.types.typeinfo import TypeInformation

__all__ = ["DataGeneratorSource"]

ENDLESS = 2**63 - 1


class DataGeneratorSource(definitions.Source):
    """Emits ``generator_function(index)`` for the indexes from 0 to ``count - 1``, without end if there is no ``count``.

    With ``records_per_second`` all subtasks together emit about that many; the indexes are cut into ranges, one for
    each subtask.

    >>> from headrace.common import WatermarkStrategy
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> source = DataGeneratorSource(lambda index: f"user-{index % 10}", count=1000, records_per_second=100)
    >>> env.from_source(source, WatermarkStrategy.no_watermarks(), "clicks").get_name()
    'clicks'
    """

    def __init__(
        self,
        generator_function: Any,
        count: int = ENDLESS,
        records_per_second: float | None = None,
        type_info: TypeInformation | None = None,
    ) -> None:
        """Take a callable or a MapFunction."""
        check_or_callable(generator_function, MapFunction, "The generator must be a MapFunction or a callable function")
        self.type_info = declared_type(type_info, "type_info")
        super().__init__(DataGenerator(generator_function, count, records_per_second))


@dataclass(frozen=True, eq=False)
class DataGenerator(Source):
    """`function(index)` for the indexes 0 to `count - 1`, all subtasks together at most `records_per_second`.

    >>> source = DataGenerator(lambda index: index * 10, 3)
    >>> reader = source.open_reader(source.splits(1)[0], None, ReaderContext())
    >>> reader.read(100, 0).values, reader.finished
    ([0, 10, 20], True)
    """

    function: Any
    """A callable or a MapFunction."""
    count: int = ENDLESS
    records_per_second: float | None = None

    def __post_init__(self) -> None:
        if self.count < 1:
            raise InvalidProgramError("A generator makes at least one record", seen=self.count)
        if self.records_per_second is not None and self.records_per_second <= 0:
            raise InvalidProgramError("The rate of a generator is more than zero", seen=self.records_per_second)

    @property
    def bounded(self) -> bool:
        return self.count != ENDLESS

    def splits(self, parallelism: int) -> list[Split]:
        return range_splits(0, self.count - 1, parallelism)

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
