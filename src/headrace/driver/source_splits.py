"""The splits of one source: which exist, how far each has been read, and which subtask has it. Pure.

A subtask that is restored may have ended, and then reads nothing more. Its first report says so. Until all subtasks of a
restored source have reported, new splits stay unassigned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split, SplitProgress
from headrace.operators.source import SplitPosition


class SourceSplits:
    """The splits of one source."""

    def __init__(self, source: Source, parallelism: int, first: int = 0) -> None:
        """`first` is the subtask that gets the first split: sources of few splits begin at different subtasks."""
        self._source = source
        self._first = first
        self._assigned: list[dict[str, SplitPosition]] = [{} for _ in range(parallelism)]
        """By subtask."""
        self._unassigned: dict[str, SplitPosition] = {}
        self._restored = False
        self._complete = False
        self.enumerated = False
        """Whether the first splits are known."""

    @property
    def more(self) -> bool:
        """Whether a subtask without splits may still get one, so that it must not end."""
        return not self._complete or bool(self._unassigned)

    @property
    def progress(self) -> SplitProgress:
        """What the enumerator needs to know."""
        splits = [p for assigned in self._assigned for p in assigned.values()]
        return SplitProgress(
            frozenset(p.split.id for p in splits) | frozenset(self._unassigned),
            frozenset(p.split.id for p in splits if p.finished),
            len(self._assigned),
        )

    @property
    def positions(self) -> list[SplitPosition]:
        """All splits, with the subtasks that have them."""
        owned = [replace(p, subtask=i) for i, assigned in enumerate(self._assigned) for p in assigned.values()]
        return [*self._unassigned.values(), *owned]

    def of(self, subtask: int) -> tuple[SplitPosition, ...]:
        return tuple(self._assigned[subtask].values())

    def add(self, splits: list[Split], more: bool) -> None:
        """Record new splits. `more`: others can follow."""
        self.enumerated = True
        self._complete = not more
        if splits:
            known = self.progress.known
            self._unassigned.update({split.id: SplitPosition(split) for split in splits if split.id not in known})

    def assign(self, ended: Sequence[bool | None]) -> None:
        """Assign new splits to subtasks that have not ended. `ended` says it for each; None: it has not reported yet."""
        if self._unassigned and not (self._restored and None in ended):
            self._assign_to([subtask for subtask, has_ended in enumerate(ended) if not has_ended])

    def restore(self, splits: list[SplitPosition], as_they_were: bool) -> None:
        """Continue with splits of another ledger. `as_they_were`: subtasks are restored one by one.

        A subtask that is restored as it was may have ended: it must not get a split that another one had.
        """
        self._restored = self.enumerated = True
        for position in splits:
            if as_they_were and position.subtask is not None and position.subtask < len(self._assigned):
                self._assigned[position.subtask][position.split.id] = position
            else:
                self._unassigned[position.split.id] = position
        if not as_they_were:
            self._assign_to(range(len(self._assigned)))

    def update(self, subtask: int, positions: Iterable[SplitPosition]) -> None:
        """Record how far a subtask has read."""
        self._assigned[subtask].update({p.split.id: p for p in positions})

    def _assign_to(self, subtasks: Sequence[int]) -> None:
        """Give each split to the subtask that it belongs to, or to the one that has the fewest left to read."""
        unread = {i: sum(not p.finished for p in self._assigned[i].values()) for i in subtasks}
        if not unread:
            return
        count = len(self._assigned)
        for position in self._unassigned.values():
            owner = self._source.owner(position.split, len(self._assigned))
            subtask = owner if owner in unread else min(unread, key=lambda i: (unread[i], (i - self._first) % count))
            self._assigned[subtask][position.split.id] = position
            unread[subtask] += not position.finished
        self._unassigned = {}
