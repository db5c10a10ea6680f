"""Any source at a limited rate: records per second, or per checkpoint, for all subtasks together.

Decides how many records a subtask may read now. Its share is the rate divided by the parallelism, however many splits it
has. After a pause a subtask catches up with at most one second's worth of records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split, SplitEnumerator
from headrace.connectors.base.split_reader import EMPTY, Batch, ReaderContext, SplitReader
from headrace.errors import InvalidProgramError
from headrace.types.typeinfo import TypeInformation

__all__ = ["RateLimiterStrategy"]

_BURST_SECONDS = 1.0


@dataclass(frozen=True)
class Rate:
    """Records per second, or records per checkpoint."""

    records: float
    per_checkpoint: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.records, bool) or not isinstance(self.records, (int, float)) or not self.records > 0:
            raise InvalidProgramError("A rate is more than zero", seen=self.records, expected="records as a number")


class RateLimiterStrategy:
    """A limit for all subtasks of a source together; each has an equal share.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> slow = env.from_sequence(1, 1000).limit_rate(RateLimiterStrategy.per_second(100))
    """

    def __init__(self, rate: Rate | None) -> None:
        """Programs call one of the methods below."""
        self.rate = rate

    @staticmethod
    def per_second(records_per_second: float) -> RateLimiterStrategy:
        """Limit the records in each second."""
        return RateLimiterStrategy(Rate(records_per_second))

    @staticmethod
    def per_checkpoint(records_per_checkpoint: int) -> RateLimiterStrategy:
        """Limit the records between two completed checkpoints; without checkpoints no more than that are ever read."""
        return RateLimiterStrategy(Rate(records_per_checkpoint, per_checkpoint=True))

    @staticmethod
    def no_op() -> RateLimiterStrategy:
        """Set no limit."""
        return RateLimiterStrategy(None)


class _Allowance:
    """What one subtask may read.

    >>> allowance = _Allowance(Rate(1000), parallelism=2)
    >>> allowance.room(5_000), allowance.room(5_100)
    (1, 51)
    >>> allowance.take(51)
    >>> allowance.room(5_100), allowance.room(5_102), allowance.room(99_000)
    (0, 1, 500)
    """

    def __init__(self, rate: Rate, parallelism: int) -> None:
        self._share = rate.records / parallelism
        self._per_checkpoint = rate.per_checkpoint
        self._room = max(self._share, 1.0) if rate.per_checkpoint else 1.0
        self._most = max(self._share * _BURST_SECONDS, 1.0)
        self._at: int | None = None
        self.checkpoint = -1

    def room(self, now: int) -> int:
        if not self._per_checkpoint:
            if self._at is not None and now > self._at:
                self._room = min(self._room + (now - self._at) * self._share / 1000, self._most)
            self._at = now
        return int(self._room + 1e-9)

    def take(self, records: int) -> None:
        self._room -= records

    def checkpoint_completed(self, checkpoint_id: int) -> None:
        if self._per_checkpoint and checkpoint_id > self.checkpoint:
            self.checkpoint = checkpoint_id
            self._room = max(self._share, 1.0)


@dataclass(frozen=True, eq=False)
class RateLimited(Source):
    """Reads another source; all subtasks together read no faster than `rate`.

    >>> from headrace.connectors.generated.number_sequence import NumberSequence
    >>> source = RateLimited(NumberSequence(1, 100), Rate(1000))
    >>> reader = source.open_reader(source.enumerator().start(1)[0], None, ReaderContext())
    >>> reader.read(100, 0).values, reader.read(100, 3).values
    ([1], [2, 3, 4])
    """

    source: Source
    rate: Rate

    @property
    def bounded(self) -> bool:
        return self.source.bounded

    @property
    def may_finish(self) -> bool:
        return self.source.may_finish

    @property
    def batch_records(self) -> int:
        return self.source.batch_records

    @property
    def non_parallel(self) -> bool:
        return self.source.non_parallel

    @property
    def produced_type(self) -> TypeInformation | None:
        return self.source.produced_type

    @property
    def dead_letters(self) -> str | None:
        return self.source.dead_letters

    def enumerator(self) -> SplitEnumerator:
        return self.source.enumerator()

    def owner(self, split: Split, parallelism: int) -> int | None:
        return self.source.owner(split, parallelism)

    def functions(self) -> Sequence[Any]:
        return self.source.functions()

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        allowance = context.shared.setdefault(id(self), _Allowance(self.rate, context.parallelism))
        return _LimitedReader(self.source.open_reader(split, position, context), allowance)


class _LimitedReader(SplitReader):
    def __init__(self, reader: SplitReader, allowance: _Allowance) -> None:
        self._reader, self._allowance = reader, allowance
        self.finished = reader.finished

    def read(self, limit: int, now: int) -> Batch:
        room = self._allowance.room(now)
        if room < 1:
            return EMPTY
        batch = self._reader.read(min(limit, room), now)
        self._took(batch)
        return batch

    def settle(self) -> Iterator[Batch]:
        for batch in self._reader.settle():
            self._took(batch)
            yield batch

    def _took(self, batch: Batch) -> None:
        self._allowance.take(len(batch.values) + len(batch.dead_letters))
        self.finished = self._reader.finished

    def position(self) -> Any:
        return self._reader.position()

    def close(self) -> None:
        self._reader.close()

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self._allowance.checkpoint_completed(checkpoint_id)
        self._reader.notify_checkpoint_complete(checkpoint_id)
