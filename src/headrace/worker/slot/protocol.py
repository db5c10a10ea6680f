"""What a courier and a slot process say to each other. Light: couriers import no operators.

1. The courier sends a pickled `Request`; 2. the slot says whether it has the job's spec, and gets it if not; 3. the courier sends
the task's frames up to an empty one; 4. the slot sends the task's frames up to an empty one. A slot is ended by a signal.
"""

from __future__ import annotations

import signal
from typing import NamedTuple

from headrace.config.worker_settings import TimeLimit

NEEDS_SPEC, HAS_SPEC = b"needs spec", b"has spec"
TIMEOUT_GRACE = 2.0
"""Seconds after a task's time is over: if its slot has not ended itself by then, its courier does."""
STACK_SIGNAL = signal.SIGUSR2
"""Lets a slot that can do nothing else write down where it is."""


class TaskName(NamedTuple):
    """Who a task is, for users: the operators of its vertices, and which of how many subtasks.

    >>> str(TaskName("Map -> Filter", 0, 2))
    "'Map -> Filter' (subtask 0 of 2)"
    """

    operators: str
    subtask: int
    parallelism: int

    def __str__(self) -> str:
        return f"{self.operators!r} (subtask {self.subtask} of {self.parallelism})"


class Request(NamedTuple):
    """An epoch of a task. `order` is a pickled EpochOrder."""

    order: bytes
    task_id: tuple[int, int]
    attempt: int
    limit: TimeLimit | None = None
