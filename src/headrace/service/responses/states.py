"""Flink's task states, and how the state of a vertex follows from those of its subtasks."""

from __future__ import annotations

from collections.abc import Iterable

TASK_STATES = (
    *("CREATED", "SCHEDULED", "DEPLOYING", "INITIALIZING", "RUNNING", "FINISHED", "CANCELING", "CANCELED", "FAILED"),
    "RECONCILING",
)
_OF_JOBS = {"CANCELLING": "CANCELING", "FAILING": "CANCELING", "RESTARTING": "CREATED", "SUSPENDED": "CANCELED"}
_FIRST = ("FAILED", "CANCELING", "CANCELED")
_ORDER = ("CREATED", "SCHEDULED", "DEPLOYING", "INITIALIZING", "RECONCILING", "RUNNING")


def task_state(status: str) -> str:
    """Return the state of a task whose job is in this state.

    >>> task_state("RUNNING"), task_state("CANCELLING")
    ('RUNNING', 'CANCELING')
    """
    return _OF_JOBS.get(status, status if status in TASK_STATES else "CREATED")


def counted(statuses: Iterable[str]) -> dict[str, int]:
    """Return how many tasks are in each state.

    >>> counted(["RUNNING", "RUNNING"])["RUNNING"]
    2
    """
    found = dict.fromkeys(TASK_STATES, 0)
    for status in statuses:
        found[task_state(status)] += 1
    return found


def vertex_state(statuses: Iterable[str]) -> str:
    """Return the state of a vertex: a failure or cancellation takes precedence, then the least advanced state.

    >>> vertex_state(["RUNNING", "FINISHED"]), vertex_state(["FINISHED"]), vertex_state(["FAILED", "RUNNING"])
    ('RUNNING', 'FINISHED', 'FAILED')
    """
    states = [task_state(status) for status in statuses]
    for state in (*_FIRST, *_ORDER):
        if state in states:
            return state
    return "FINISHED" if states else "CREATED"
