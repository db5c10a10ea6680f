"""A source of what an earlier job has computed: what a cached stream reads. Never changes the elements."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from headrace.connectors.base.source import Batch, ReaderContext, Source, Split, SplitReader
from headrace.types.typeinfo import TypeInformation

Cached = list[tuple[Any, "int | None"]]
"""Elements with their timestamps."""


class CachedSource(Source):
    """Reads elements with their timestamps; each subtask reads a part of them, in order.

    >>> source = CachedSource([("a", 5), ("b", None), ("c", 7)])
    >>> [source.open_reader(split, None, ReaderContext()).read(10, 0) for (split,) in source.splits(2)]
    [Batch(values=['a'], timestamps=[5], ...), Batch(values=['b', 'c'], timestamps=[None, 7], ...)]
    """

    def __init__(self, elements: Cached, produced_type: TypeInformation | None = None) -> None:
        """Takes elements that already have `produced_type`."""
        self.elements = elements
        self.produced_type = produced_type

    def splits(self, parallelism: int) -> list[list[Split]]:
        size = len(self.elements)
        bounds = [size * number // parallelism for number in range(parallelism + 1)]
        return [[Split(f"{start}-{end}", (start, end))] for start, end in pairwise(bounds)]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        start, end = split.payload
        return _CachedReader(self.elements, start if position is None else position, end)


class _CachedReader(SplitReader):
    def __init__(self, elements: Cached, start: int, end: int) -> None:
        self._elements, self._next, self._end = elements, start, end
        self.finished = start >= end

    def read(self, limit: int, now: int) -> Batch:
        part = self._elements[self._next : min(self._next + limit, self._end)]
        self._next += len(part)
        self.finished = self._next >= self._end
        timestamps = [timestamp for _, timestamp in part]
        plain = all(timestamp is None for timestamp in timestamps)
        return Batch([value for value, _ in part], None if plain else timestamps)

    def position(self) -> int:
        return self._next
