"""Sources of given elements: what `from_collection` and cached streams read. They never change or copy the elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split
from headrace.connectors.base.split_reader import Batch, ReaderContext, SplitReader
from headrace.types.typeinfo import TypeInformation

Cached = list[tuple[Any, "int | None"]]
"""Elements with their timestamps."""


@dataclass(frozen=True, eq=False)
class CollectionSource(Source):
    """Reads elements, which already have `produced_type`, in order in one subtask.

    >>> source = CollectionSource([1, 2, 3])
    >>> reader = source.open_reader(source.splits(1)[0], None, ReaderContext())
    >>> reader.read(2, 0).values, reader.position(), reader.finished
    ([1, 2], 2, False)
    """

    elements: Sequence[Any]
    produced_type: TypeInformation | None = None
    non_parallel = True

    def splits(self, parallelism: int) -> list[Split]:
        return [Split("0")]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        return _ListReader(self.elements, position or 0, len(self.elements))


@dataclass(frozen=True, eq=False)
class CachedSource(Source):
    """Reads elements with their timestamps; each subtask reads a part of them, in order.

    >>> source = CachedSource([("a", 5), ("b", None), ("c", 7)])
    >>> [source.open_reader(split, None, ReaderContext()).read(10, 0) for split in source.splits(2)]
    [Batch(values=['a'], timestamps=[5], ...), Batch(values=['b', 'c'], timestamps=[None, 7], ...)]
    """

    elements: Cached
    produced_type: TypeInformation | None = None

    def splits(self, parallelism: int) -> list[Split]:
        size = len(self.elements)
        bounds = [size * number // parallelism for number in range(parallelism + 1)]
        return [Split(f"{start}-{end}", (start, end)) for start, end in pairwise(bounds)]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        start, end = split.payload
        return _CachedReader(self.elements, start if position is None else position, end)


class _ListReader(SplitReader):
    def __init__(self, elements: Sequence[Any], start: int, end: int) -> None:
        self._elements, self._next, self._end = elements, start, end
        self.finished = start >= end

    def read(self, limit: int, now: int) -> Batch:
        values = list(self._elements[self._next : min(self._next + limit, self._end)])
        self._next += len(values)
        self.finished = self._next >= self._end
        return Batch(values)

    def position(self) -> int:
        return self._next


class _CachedReader(_ListReader):
    def read(self, limit: int, now: int) -> Batch:
        part = super().read(limit, now).values
        timestamps = [timestamp for _, timestamp in part]
        plain = all(timestamp is None for timestamp in timestamps)
        return Batch([value for value, _ in part], None if plain else timestamps)
