"""A source of given elements: what `from_collection` reads. Never changes or copies the elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace.connectors.base.source import Batch, ReaderContext, Source, Split, SplitReader
from headrace.types.typeinfo import TypeInformation


class CollectionSource(Source):
    """Reads a list, in order, in one subtask.

    >>> source = CollectionSource([1, 2, 3])
    >>> reader = source.open_reader(source.splits(1)[0][0], None, ReaderContext())
    >>> reader.read(2, 0).values, reader.position(), reader.finished
    ([1, 2], 2, False)
    """

    non_parallel = True

    def __init__(self, elements: Sequence[Any], produced_type: TypeInformation | None = None) -> None:
        """Takes elements that already have `produced_type`."""
        self.elements = list(elements)
        self.produced_type = produced_type

    def splits(self, parallelism: int) -> list[list[Split]]:
        return [[Split("0")], *([] for _ in range(parallelism - 1))]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        return _CollectionReader(self.elements, position or 0)


class _CollectionReader(SplitReader):
    def __init__(self, elements: list[Any], start: int) -> None:
        self._elements = elements
        self._next = start
        self.finished = start >= len(elements)

    def read(self, limit: int, now: int) -> Batch:
        values = self._elements[self._next : self._next + limit]
        self._next += len(values)
        self.finished = self._next >= len(self._elements)
        return Batch(values)

    def position(self) -> int:
        return self._next
