"""/jobs/:jobid/vertices/:vertexid and below: subtasks, times, task managers, back pressure, watermarks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from headrace.monitoring.job_view import SubtaskView, VertexView, back_pressure_level
from headrace.service.responses.states import TASK_STATES, counted, five_number_summary, task_state, vertex_state

_COUNTS = (
    ("read-bytes", "numBytesIn"),
    ("write-bytes", "numBytesOut"),
    ("read-records", "numRecordsIn"),
    ("write-records", "numRecordsOut"),
)
_TIMES = (
    ("accumulated-backpressured-time", "accumulateBackPressuredTimeMs"),
    ("accumulated-idle-time", "accumulateIdleTimeMs"),
    ("accumulated-busy-time", "accumulateBusyTimeMs"),
)
_BEFORE_RUNNING = ("CREATED", "SCHEDULED", "DEPLOYING", "INITIALIZING", "RUNNING")
"""Subtasks enter these states at the same moment, with their first epoch."""
_SHARES = ("backPressuredTimeMsPerSecond", "idleTimeMsPerSecond", "busyTimeMsPerSecond")
TaskManagerOf = Callable[[SubtaskView], str]
"""Returns the task manager that runs a subtask."""


def duration_of(start: int, end: int, now: int) -> int:
    """Return the milliseconds from start to end, or to now; -1 before the start.

    >>> duration_of(5, -1, 9), duration_of(5, 6, 9), duration_of(-1, -1, 9)
    (4, 1, -1)
    """
    return -1 if start < 0 else (now if end < 0 else end) - start


def span_of(subtasks: Sequence[SubtaskView]) -> tuple[int, int]:
    """Return when the first subtask started and when the last one ended."""
    starts = [s.start_ms for s in subtasks if s.start_ms >= 0]
    ends = [s.end_ms for s in subtasks]
    return min(starts, default=-1), max(ends) if ends and min(ends) >= 0 else -1


def _number(subtask: SubtaskView, name: str) -> float:
    value = subtask.metrics.get(name, 0)
    return 0.0 if isinstance(value, str) else value


def io_metrics(subtasks: Iterable[SubtaskView]) -> dict[str, Any]:
    """Return how much was read and written, and how the time was spent."""
    known = list(subtasks)
    shown: dict[str, Any] = {}
    for name, metric in _COUNTS:
        shown[name] = int(sum(_number(s, metric) for s in known))
        shown[f"{name}-complete"] = True
    for name, metric in _TIMES:
        shown[name] = int(sum(_number(s, metric) for s in known))
    return shown


def endpoint_of(subtask: SubtaskView) -> str:
    """Return the host and the process id of a subtask."""
    return f"{subtask.host}:{subtask.pid}" if subtask.host else "(unassigned)"


def subtask(view: SubtaskView, now: int, manager: TaskManagerOf) -> dict[str, Any]:
    """Return one subtask as an entry of the details of a vertex."""
    state = task_state(view.status)
    duration = duration_of(view.start_ms, view.end_ms, now)
    return {
        "subtask": view.index,
        "status": state,
        "attempt": view.attempt,
        "endpoint": endpoint_of(view),
        "start-time": view.start_ms,
        "start_time": view.start_ms,
        "end-time": view.end_ms,
        "duration": duration,
        "metrics": io_metrics([view]),
        "taskmanager-id": manager(view),
        "status-duration": {**dict.fromkeys(_BEFORE_RUNNING, 0), state: max(duration, 0)},
    }


def details(vertex: VertexView, now: int, manager: TaskManagerOf) -> dict[str, Any]:
    """Return the vertex with all of its subtasks."""
    subtasks = [subtask(view, now, manager) for view in vertex.subtasks]
    return {
        "id": vertex.vertex_id,
        "name": vertex.name,
        "parallelism": vertex.parallelism,
        "maxParallelism": vertex.max_parallelism,
        "now": now,
        "subtasks": subtasks,
        "aggregated": _aggregated(subtasks),
    }


def _aggregated(subtasks: list[dict[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in (*_COUNTS, *_TIMES)]
    durations: dict[str, list[float]] = defaultdict(list)
    for entry in subtasks:
        for state, duration in entry["status-duration"].items():
            durations[state].append(duration)
    return {
        "metrics": {name: five_number_summary([s["metrics"][name] for s in subtasks]) for name in names},
        "status-duration": {state: five_number_summary(values) for state, values in durations.items()},
    }


def subtask_times(vertex: VertexView, now: int) -> dict[str, Any]:
    """Return when each subtask entered each state."""
    return {
        "id": vertex.vertex_id,
        "name": vertex.name,
        "now": now,
        "subtasks": [
            {
                "subtask": view.index,
                "endpoint": endpoint_of(view),
                "duration": duration_of(view.start_ms, view.end_ms, now),
                "timestamps": _timestamps(view),
            }
            for view in vertex.subtasks
        ],
    }


def _timestamps(view: SubtaskView) -> dict[str, int]:
    known = dict.fromkeys(TASK_STATES, 0)
    if view.start_ms >= 0:
        known.update(dict.fromkeys(_BEFORE_RUNNING, view.start_ms))
    if view.end_ms >= 0:
        known[task_state(view.status)] = view.end_ms
    return known


def task_managers(vertex: VertexView, now: int, manager: TaskManagerOf) -> dict[str, Any]:
    """Return the subtasks, grouped by the task manager that runs them."""
    groups: dict[str, list[SubtaskView]] = defaultdict(list)
    for view in vertex.subtasks:
        groups[manager(view)].append(view)
    return {
        "id": vertex.vertex_id,
        "name": vertex.name,
        "now": now,
        "taskmanagers": [_group(name, views, now, manager) for name, views in sorted(groups.items())],
    }


def _group(name: str, views: list[SubtaskView], now: int, manager: TaskManagerOf) -> dict[str, Any]:
    start, end = span_of(views)
    return {
        "endpoint": views[0].host or "(unassigned)",
        "taskmanager-id": name,
        "status": vertex_state(v.status for v in views),
        "start-time": start,
        "end-time": end,
        "duration": duration_of(start, end, now),
        "metrics": io_metrics(views),
        "status-counts": counted(v.status for v in views),
        "aggregated": _aggregated([subtask(view, now, manager) for view in views]),
    }


def back_pressure(vertex: VertexView, now: int) -> dict[str, Any]:
    """Return how much of its time each subtask waits for downstream subtasks."""
    subtasks = [_pressure(view) for view in vertex.subtasks]
    ratio = max((s["ratio"] for s in subtasks), default=0.0)
    level = back_pressure_level(ratio)
    return {
        "status": "ok",
        "backpressureLevel": level,
        "backpressure-level": level,
        "end-timestamp": now,
        "subtasks": subtasks,
    }


def busiest(subtasks: Sequence[SubtaskView]) -> dict[str, float]:
    """Return how the least idle subtask spends its time; nothing if none was measured."""
    measured = [{name: _number(view, name) for name in _SHARES} for view in subtasks if _SHARES[0] in view.metrics]
    return min(measured, key=lambda times: times["idleTimeMsPerSecond"], default={})


def _pressure(view: SubtaskView) -> dict[str, Any]:
    pressed, idle, busy = (_number(view, name) / 1000 for name in _SHARES)
    level = back_pressure_level(pressed)
    return {
        "subtask": view.index,
        "attempt-number": view.attempt,
        "backpressureLevel": level,
        "backpressure-level": level,
        "ratio": pressed,
        "idleRatio": idle,
        "busyRatio": busy,
    }
