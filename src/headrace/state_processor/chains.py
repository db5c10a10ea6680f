"""Merge the state files of one subtask, key group by key group. At most one key group is in memory.

Entries are returned as they are stored. Files are sorted by operator, state and key group, so merging the files of a chain
is enough to let later entries win.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any

from headrace.state.files import StateFile, read_parts, since_last_base
from headrace.state.tombstone import TOMBSTONE

Groups = Iterator[tuple[int, list[tuple[Any, Any]]]]
"""Key groups in ascending order, each with all its entries."""


@dataclass(frozen=True)
class Chain:
    """Files of one subtask, oldest first. They must be trusted, because reading them loads their classes."""

    directory: str
    job_id: str
    vertex: str
    subtask: int
    files: tuple[StateFile, ...]

    def plain(self, operator_id: str) -> dict[str, Any]:
        """Return what an operator has stored besides keyed state."""
        found: dict[str, Any] = {}
        for file in since_last_base(self.files):
            for _, part in self._parts(file, operator_id, None, None):
                found.update(part.plain)
        return found

    def groups(self, operator_id: str, state: str, key_groups: range | None = None) -> Groups:
        """Return the entries of one state that were not deleted."""
        runs = [self._runs(number, operator_id, state, key_groups) for number in range(len(self._living))]
        for group, of_group in groupby(merge(*runs, key=itemgetter(0, 1)), key=itemgetter(0)):
            entries: dict[Any, Any] = {}
            for _, _, later in of_group:
                entries.update(later)
            living = [entry for entry in entries.items() if entry[1] is not TOMBSTONE]
            if living:
                yield group, living

    def states(self, operator_id: str) -> set[str]:
        """Return the names of all states that have entries, including timers, without reading the entries."""
        names: set[str] = set()

        def note(uid: str, state: str | None) -> bool:
            if uid == operator_id and state is not None:
                names.add(state)
            return False

        for file in self._living:
            for _ in read_parts(self.directory, [file], self._identity, wanted=note):
                pass
        return names

    @property
    def _living(self) -> tuple[StateFile, ...]:
        return tuple(since_last_base(self.files))

    @property
    def _identity(self) -> dict[str, Any]:
        return {"job_id": self.job_id, "vertex_id": self.vertex, "subtask": self.subtask}

    def _runs(
        self, number: int, operator_id: str, state: str, key_groups: range | None
    ) -> Iterator[tuple[int, int, list[tuple[Any, Any]]]]:
        for _, part in self._parts(self._living[number], operator_id, state, key_groups):
            for group, entries in part.keyed.get(state, {}).items():
                yield group, number, entries

    def _parts(self, file: StateFile, operator_id: str, state: str | None, key_groups: range | None) -> Iterator[Any]:
        return read_parts(
            self.directory,
            [file],
            self._identity,
            key_groups,
            allowed_modules=None,
            trust_job_code=True,
            wanted=lambda uid, name: uid == operator_id and name == state,
        )


class GroupStream(Mapping[int, Iterable[tuple[Any, Any]]]):
    """A stream of key groups as the mapping that a state file needs. Each is requested once, in ascending order.

    >>> stream = GroupStream(range(4), iter([(1, [("a", 1)]), (3, [("b", 2)])]))
    >>> [(group, list(stream[group])) for group in stream]
    [(0, []), (1, [('a', 1)]), (2, []), (3, [('b', 2)])]
    """

    def __init__(self, key_groups: range, stream: Iterator[tuple[int, Iterable[tuple[Any, Any]]]]) -> None:
        """Wrap a stream that yields some of `key_groups`, in ascending order."""
        self._key_groups = key_groups
        self._stream = stream
        self._next = next(stream, None)

    def __getitem__(self, group: int) -> Iterable[tuple[Any, Any]]:
        while self._next is not None and self._next[0] < group:
            self._next = next(self._stream, None)
        return self._next[1] if self._next is not None and self._next[0] == group else ()

    def __iter__(self) -> Iterator[int]:
        return iter(self._key_groups)

    def __len__(self) -> int:
        return len(self._key_groups)
