"""The name of a task for users. Light: couriers import this module."""

from __future__ import annotations

from typing import NamedTuple


class TaskName(NamedTuple):
    """The operators of a task's vertices, and which of how many subtasks it is.

    >>> str(TaskName("Map -> Filter", 0, 2))
    "'Map -> Filter' (subtask 0 of 2)"
    """

    operators: str
    subtask: int
    parallelism: int

    def __str__(self) -> str:
        return f"{self.operators!r} (subtask {self.subtask} of {self.parallelism})"
