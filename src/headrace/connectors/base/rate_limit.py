"""Any source at a limited rate: so many records a second, or in each checkpoint, for all subtasks together.

Decides how many records a subtask may read now. Its share is the rate divided by the parallelism, whatever number of splits
it has. What a pause has missed is made up for one second's worth; beyond that a limit stays a limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base.source import EMPTY, Batch, ReaderContext, Source, Split, SplitReader
from headrace.errors import InvalidProgramError

_BURST_SECONDS = 1.0


@dataclass(frozen=True)
class Rate:
    """Records a second, or records in each checkpoint."""

    records: float
    per_checkpoint: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.records, bool) or not isinstance(self.records, (int, float)) or not self.records > 0:
            raise InvalidProgramError("A rate is more than zero", seen=self.records, expected="records as a number")


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


class RateLimited(Source):
    """Reads another source, no faster than `rate`.

    >>> from headrace.connectors.generated.number_sequence import NumberSequence
    >>> source = RateLimited(NumberSequence(1, 100), Rate(1000))
    >>> reader = source.open_reader(source.splits(1)[0][0], None, ReaderContext())
    >>> reader.read(100, 0).values, reader.read(100, 3).values
    ([1], [2, 3, 4])
    """

    def __init__(self, source: Source, rate: Rate) -> None:
        """Takes the source and the rate of all its subtasks together."""
        self.source, self.rate = source, rate
        self.bounded, self.may_finish, self.non_parallel = source.bounded, source.may_finish, source.non_parallel
        self.produced_type = source.produced_type
        self.dead_letters = source.dead_letters
        self._allowance: _Allowance | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_allowance": None}

    @property
    def more_splits(self) -> bool:
        return self.source.more_splits

    def splits(self, parallelism: int) -> list[list[Split]]:
        return self.source.splits(parallelism)

    def note_finished(self, finished: frozenset[str]) -> None:
        self.source.note_finished(finished)

    def discover(self, known: frozenset[str]) -> list[Split]:
        return self.source.discover(known)

    def publish_positions(self, positions: dict[str, Any]) -> None:
        self.source.publish_positions(positions)

    def job_ended(self, kept: bool) -> None:
        self.source.job_ended(kept)

    def functions(self) -> Sequence[Any]:
        return self.source.functions()

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        if self._allowance is None:  # tasks have definitions of their own: one allowance for all splits of a subtask
            self._allowance = _Allowance(self.rate, context.parallelism)
        return _LimitedReader(self.source.open_reader(split, position, context), self._allowance)


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
