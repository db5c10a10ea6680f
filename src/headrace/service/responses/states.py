"""Parts of several responses: Flink's task states, the state of a vertex, summaries of lists of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Any

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


def quantile(ordered: Sequence[float], part: float) -> float:
    """Return the smallest number with at least this fraction of all numbers at or below it.

    >>> quantile([1, 2, 3, 4], 0.5), quantile([], 0.5)
    (2, 0)
    """
    return ordered[max(0, ceil(part * len(ordered)) - 1)] if ordered else 0


def size_summary(values: Sequence[int]) -> dict[str, Any]:
    """Return minimum, maximum, average and percentiles; without values the percentiles are NaN.

    >>> size_summary([1, 3])["avg"], size_summary([])["p50"]
    (2, 'NaN')
    """
    ordered = sorted(values)
    shown: dict[str, Any] = {
        "min": ordered[0] if ordered else 0,
        "max": ordered[-1] if ordered else 0,
        "avg": sum(ordered) // len(ordered) if ordered else 0,
    }
    for name, part in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)):
        shown[name] = float(quantile(ordered, part)) if ordered else "NaN"
    return shown


def five_number_summary(values: Sequence[float]) -> dict[str, int]:
    """Return the summary that Flink adds to lists of subtasks and task managers.

    >>> five_number_summary([1, 2, 3])["median"]
    2
    """
    ordered = sorted(values)
    shown = {
        name: quantile(ordered, part) for name, part in (("p25", 0.25), ("median", 0.5), ("p75", 0.75), ("p95", 0.95))
    }
    shown["min"], shown["max"] = (ordered[0], ordered[-1]) if ordered else (0, 0)
    shown["sum"] = sum(ordered)
    shown["avg"] = sum(ordered) / len(ordered) if ordered else 0
    return {name: int(value) for name, value in shown.items()}
