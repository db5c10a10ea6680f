"""A checkpoint that is under way: who has acknowledged, who has not. Pure; the coordinator owns it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

__all__ = ["AckResult", "PendingCheckpoint"]


class AckResult(Enum):
    """What became of an acknowledgement."""

    SUCCESS = "taken in"
    DUPLICATE = "this task has acknowledged already"
    UNKNOWN = "this task, or this checkpoint, is not known"
    DISCARD = "the checkpoint has ended: what the task wrote is not needed"


class PendingCheckpoint:
    """One checkpoint between its trigger and its end.

    >>> pending = PendingCheckpoint(7, started=1000, deadline=2000, tasks=["a", "b"])
    >>> pending.acknowledge("a", "file-a").name, pending.acknowledge("a", "file-x").name
    ('SUCCESS', 'DUPLICATE')
    >>> pending.acknowledge("z").name, pending.complete
    ('UNKNOWN', False)
    >>> pending.acknowledge("b").name, pending.complete
    ('SUCCESS', True)
    """

    def __init__(
        self, number: int, started: int, deadline: int, tasks: Iterable[Hashable], forced: bool = False
    ) -> None:
        """`forced`: a savepoint, which later checkpoints do not subsume."""
        self.number = number
        self.started = started
        self.deadline = deadline
        self.forced = forced
        self._missing = set(tasks)
        self._acks: dict[Hashable, Any] = {}

    @property
    def acks(self) -> Mapping[Hashable, Any]:
        """What each task has handed in; the first one counts."""
        return MappingProxyType(self._acks)

    @property
    def missing(self) -> frozenset[Hashable]:
        """Who has not acknowledged."""
        return frozenset(self._missing)

    @property
    def complete(self) -> bool:
        """Whether all have acknowledged."""
        return not self._missing

    def acknowledge(self, task: Hashable, report: Any = None) -> AckResult:
        """Take in what a task hands in."""
        if task in self._acks:
            return AckResult.DUPLICATE
        if task not in self._missing:
            return AckResult.UNKNOWN
        self._missing.remove(task)
        self._acks[task] = report
        return AckResult.SUCCESS
