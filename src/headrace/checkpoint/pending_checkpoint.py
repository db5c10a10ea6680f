"""A checkpoint in progress: which tasks have acknowledged it, which have not. Pure; the coordinator owns it.

An epoch acknowledges all its tasks at once; tasks that acknowledge one by one, over connections, need the same record.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from headrace.worker.messages import TaskOwner


class AckResult(Enum):
    """What became of an acknowledgement."""

    SUCCESS = "accepted"
    DUPLICATE = "this task has acknowledged already"
    UNKNOWN = "this task, or this checkpoint, is not known"
    DISCARD = "the checkpoint has ended: what the task wrote is not needed"


class PendingCheckpoint:
    """One checkpoint between its trigger and its end.

    >>> pending = PendingCheckpoint(7, started=1000, deadline=2000, tasks=[("map", 0), ("map", 1)])
    >>> pending.acknowledge(("map", 0)).name, pending.acknowledge(("map", 0)).name
    ('SUCCESS', 'DUPLICATE')
    >>> pending.acknowledge(("sink", 0)).name, pending.missing
    ('UNKNOWN', frozenset({('map', 1)}))
    """

    def __init__(
        self, number: int, started: int, deadline: int, tasks: Iterable[TaskOwner], forced: bool = False
    ) -> None:
        """`forced`: a savepoint, which later checkpoints do not subsume."""
        self.number = number
        self.started = started
        self.deadline = deadline
        self.forced = forced
        self._tasks = frozenset(tasks)
        self._missing = set(self._tasks)

    @property
    def missing(self) -> frozenset[TaskOwner]:
        """The tasks that have not acknowledged."""
        return frozenset(self._missing)

    def acknowledge(self, task: TaskOwner) -> AckResult:
        """Note that a task has done its part."""
        if task not in self._tasks:
            return AckResult.UNKNOWN
        if task not in self._missing:
            return AckResult.DUPLICATE
        self._missing.remove(task)
        return AckResult.SUCCESS
