"""Sources one after the other: files with the past, then Kafka with the present.

1. The splits of a source are named after its place (`0:...`), so the known splits say how far the switches have come.
2. Driver: when all splits of a source are finished, the next one is asked for its splits; a Kafka source resolves its
   starting offsets at that moment, once. No subtask may end before the last source.
3. Positions, discovery and published positions are the current source's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base import definitions
from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split, SplitEnumerator, SplitProgress
from headrace.connectors.base.split_reader import ReaderContext, SplitReader
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.types.typeinfo import TypeInformation

__all__ = ["HybridSource", "HybridSourceBuilder"]


class HybridSource(definitions.Source):
    """Reads a bounded source to its end, then the next one; the last may be unbounded.

    >>> from headrace.datastream.connectors.number_seq import NumberSequenceSource
    >>> source = HybridSource.builder(NumberSequenceSource(1, 3)).add_source(NumberSequenceSource(4, 6)).build()
    >>> isinstance(source, definitions.Source)
    True
    """

    @staticmethod
    def builder(first_source: definitions.Source) -> HybridSourceBuilder:
        """Start with the source that is read first."""
        return HybridSourceBuilder(first_source)


class HybridSourceBuilder:
    """Collects the sources in their order.

    >>> from headrace.datastream.connectors.number_seq import NumberSequenceSource
    >>> type(HybridSource.builder(NumberSequenceSource(1, 3)).build()).__name__
    'HybridSource'
    """

    def __init__(self, first_source: definitions.Source) -> None:
        """Programs call `HybridSource.builder`."""
        self._sources: list[definitions.Source] = []
        self.add_source(first_source)

    def add_source(self, source: definitions.Source) -> HybridSourceBuilder:
        """Read this source when the one before it has ended."""
        if not isinstance(source, definitions.Source):
            raise TypeMismatchError(
                "A HybridSource is made of sources", seen=source, expected="a source of headrace.datastream.connectors"
            )
        self._sources.append(source)
        return self

    def build(self) -> HybridSource:
        """Build the source."""
        return HybridSource(Hybrid(tuple(source.get_definition() for source in self._sources)))


@dataclass(frozen=True, eq=False)
class Hybrid(Source):
    """Reads `sources` in turn; all but the last must end."""

    sources: tuple[Source, ...]

    def __post_init__(self) -> None:
        if not self.sources:
            raise InvalidProgramError("A hybrid source needs a source")
        for source in self.sources[:-1]:
            if not (source.bounded or source.may_finish):
                raise InvalidProgramError(
                    "All sources of a HybridSource except the last must be bounded",
                    seen=type(source).__name__,
                    remedy="bound it: set_bounded() of a Kafka source, a FileSource without monitor_continuously()",
                )
        if len(self._tags) > 1:
            raise InvalidProgramError(
                "All sources of a HybridSource have the same dead-letter output", seen=sorted(self._tags)
            )

    @property
    def bounded(self) -> bool:
        return all(source.bounded for source in self.sources)

    @property
    def may_finish(self) -> bool:
        return self.sources[-1].bounded or self.sources[-1].may_finish

    @property
    def non_parallel(self) -> bool:
        return any(source.non_parallel for source in self.sources)

    @property
    def produced_type(self) -> TypeInformation | None:
        first = self.sources[0].produced_type
        return first if all(source.produced_type == first for source in self.sources) else None

    @property
    def dead_letters(self) -> str | None:
        return next(iter(self._tags), None)

    @property
    def _tags(self) -> set[str]:
        return {source.dead_letters for source in self.sources if source.dead_letters is not None}

    def enumerator(self) -> SplitEnumerator:
        return HybridEnumerator([source.enumerator() for source in self.sources])

    def owner(self, split: Split, parallelism: int) -> int | None:
        return self.sources[_place(split.id)].owner(_inner(split), parallelism)

    def functions(self) -> Sequence[Any]:
        return [function for source in self.sources for function in source.functions()]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        return self.sources[_place(split.id)].open_reader(_inner(split), position, context)


class HybridEnumerator(SplitEnumerator):
    """Finds the splits of the current source, and switches to the next one at its end.

    >>> from headrace.connectors.generated.number_sequence import NumberSequence
    >>> enumerator = Hybrid((NumberSequence(1, 2), NumberSequence(3, 4))).enumerator()
    >>> [split.id for split in enumerator.start(1)], enumerator.more_splits
    (['0:0'], True)
    >>> read = frozenset(["0:0"])
    >>> [split.id for split in enumerator.discover(SplitProgress(known=read, finished=read))], enumerator.more_splits
    (['1:0'], False)
    """

    def __init__(self, enumerators: list[SplitEnumerator]) -> None:
        self._enumerators = enumerators
        self._first: dict[int, list[Split]] = {}
        """The splits that each source began with. Found once: a restart switches to the same ones."""
        self._current = 0

    @property
    def more_splits(self) -> bool:
        return self._current < len(self._enumerators) - 1 or self._enumerators[self._current].more_splits

    def start(self, parallelism: int) -> list[Split]:
        return self._splits_of(0, parallelism)

    def discover(self, progress: SplitProgress) -> list[Split]:
        """Continue where the known splits say. Nothing is kept of a switch that fails."""
        place = max((_place(split) for split in progress.known), default=0)
        while True:
            own = _own(progress, place)
            new = [] if own.known else self._splits_of(place, progress.parallelism)
            enumerator = self._enumerators[place]
            known = own.known | {_inner(split).id for split in new}
            new += [
                _named(place, split)
                for split in enumerator.discover(SplitProgress(known, own.finished, own.parallelism))
            ]
            self._current = place
            at_end = known == own.finished and not enumerator.more_splits
            if new or not at_end or place == len(self._enumerators) - 1:
                return new
            place += 1

    def _splits_of(self, place: int, parallelism: int) -> list[Split]:
        if place not in self._first:
            self._first[place] = [_named(place, split) for split in self._enumerators[place].start(parallelism)]
        return list(self._first[place])

    def notify_checkpoint_complete(self, positions: dict[str, Any]) -> None:
        for place, enumerator in enumerate(self._enumerators):
            own = {_inner(Split(split)).id: p for split, p in positions.items() if _place(split) == place}
            if own:
                enumerator.notify_checkpoint_complete(own)

    def close(self, kept: bool) -> None:
        for enumerator in self._enumerators:
            enumerator.close(kept)


def _own(progress: SplitProgress, place: int) -> SplitProgress:
    """Return the progress as the source at this place knows it."""
    known, finished = (
        frozenset(_inner(Split(split)).id for split in splits if _place(split) == place)
        for splits in (progress.known, progress.finished)
    )
    return SplitProgress(known, finished, progress.parallelism)


def _named(place: int, split: Split) -> Split:
    return Split(f"{place}:{split.id}", split.payload)


def _inner(split: Split) -> Split:
    return Split(split.id.partition(":")[2], split.payload)


def _place(split_id: str) -> int:
    return int(split_id.partition(":")[0])
