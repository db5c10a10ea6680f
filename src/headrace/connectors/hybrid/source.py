"""Sources one after the other: files with the past, then Kafka with the present.

1. The splits of a source are named after its place (`0:...`); so what is known says how far the switches have come.
2. Driver: when all splits of a source are finished, the next one is asked for its splits: a Kafka source finds its
   starting offsets at that moment. Until the last source no subtask may end.
3. Positions, discovery and published positions are the current source's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace.connectors.base.source import ReaderContext, Source, Split, SplitReader
from headrace.errors import InvalidProgramError


class Hybrid(Source):
    """Reads `sources` in turn.

    >>> from headrace.connectors.generated.number_sequence import NumberSequence
    >>> source = Hybrid([NumberSequence(1, 2), NumberSequence(3, 4)])
    >>> [split.id for (split,) in source.splits(1)], source.more_splits
    (['0:0'], True)
    >>> source.note_finished(frozenset(["0:0"]))
    >>> [split.id for split in source.discover(frozenset(["0:0"]))], source.more_splits
    (['1:0'], False)
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        """Takes the sources; all but the last come to an end."""
        if not sources:
            raise InvalidProgramError("A hybrid source needs a source")
        for source in sources[:-1]:
            if not (source.bounded or source.may_finish):
                raise InvalidProgramError(
                    "All sources of a HybridSource except the last must be bounded",
                    seen=type(source).__name__,
                    remedy="bound it: set_bounded() of a Kafka source, a FileSource without monitor_continuously()",
                )
        self.sources = list(sources)
        self.bounded = all(source.bounded for source in sources)
        self.may_finish = sources[-1].bounded or sources[-1].may_finish
        self.non_parallel = any(source.non_parallel for source in sources)
        types = [source.produced_type for source in sources]
        self.produced_type = types[0] if all(kind == types[0] for kind in types) else None
        tags = {source.dead_letters for source in sources} - {None}
        if len(tags) > 1:
            raise InvalidProgramError(
                "All sources of a HybridSource have the same dead-letter output", seen=sorted(map(str, tags))
            )
        self.dead_letters = next(iter(tags), None)
        self._parallelism = 1
        self._finished: frozenset[str] = frozenset()
        self._current = 0

    @property
    def more_splits(self) -> bool:
        return self._current < len(self.sources) - 1 or self.sources[self._current].more_splits

    def splits(self, parallelism: int) -> list[list[Split]]:
        self._parallelism = parallelism
        self._current, self._finished = 0, frozenset()
        return [[self._named(0, split) for split in part] for part in self.sources[0].splits(parallelism)]

    def note_finished(self, finished: frozenset[str]) -> None:
        self._finished = finished
        own = self._own(finished)
        self.sources[self._current].note_finished(own)

    def discover(self, known: frozenset[str]) -> list[Split]:
        self._current = max([self._current, *(_place(split) for split in known)])
        while self._current < len(self.sources) - 1 and self._read_to_its_end(known):
            self._current += 1
            new = [split for part in self.sources[self._current].splits(self._parallelism) for split in part]
            if new:
                return [self._named(self._current, split) for split in new]
        source = self.sources[self._current]
        return [self._named(self._current, split) for split in source.discover(self._own(known))]

    def _read_to_its_end(self, known: frozenset[str]) -> bool:
        mine = [split for split in known if _place(split) == self._current]
        return all(split in self._finished for split in mine) and not self.sources[self._current].more_splits

    def publish_positions(self, positions: dict[str, Any]) -> None:
        for place, source in enumerate(self.sources):
            mine = {_inner(split): p for split, p in positions.items() if _place(split) == place}
            if mine:
                source.publish_positions(mine)

    def job_ended(self, kept: bool) -> None:
        for source in self.sources:
            source.job_ended(kept)

    def functions(self) -> Sequence[Any]:
        return [function for source in self.sources for function in source.functions()]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        return self.sources[_place(split.id)].open_reader(Split(_inner(split.id), split.payload), position, context)

    def _own(self, ids: frozenset[str]) -> frozenset[str]:
        return frozenset(_inner(split) for split in ids if _place(split) == self._current)

    @staticmethod
    def _named(place: int, split: Split) -> Split:
        return Split(f"{place}:{split.id}", split.payload)


def _place(split_id: str) -> int:
    return int(split_id.partition(":")[0])


def _inner(split_id: str) -> str:
    return split_id.partition(":")[2]
