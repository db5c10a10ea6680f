"""The routes of the vertices of a job and of their subtasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.monitoring.job_view import VertexView
from headrace.service.errors import NotFoundError, RequestError
from headrace.service.responses import metrics
from headrace.service.responses import vertices as responses
from headrace.service.responses.jobs import is_over
from headrace.service.rest.backend import Backend, Handler, job_of, subtask_of, task_manager_of, vertex_of
from headrace.service.rest.endpoint import METRIC_NAMES, Call, Endpoint, Field

_JOB_IS_OVER, _NOTHING_SAMPLED_YET = -1, -3
"""Flink's time stamps for a missing flame graph."""
_FLAME_GRAPHS = ("FULL", "ON_CPU", "OFF_CPU")


def _now(respond: Callable[[VertexView, int], Any]) -> Handler:
    """Return a handler that responds with a function of a vertex and the current time."""
    return lambda backend, call: respond(vertex_of(backend, call), backend.now())


def _with_managers(respond: Callable[[VertexView, int, responses.TaskManagerOf], Any]) -> Handler:
    """Return a handler that responds with a function of a vertex, the current time and its task managers."""
    return lambda backend, call: respond(
        vertex_of(backend, call), backend.now(), task_manager_of(job_of(backend, call))
    )


def _watermarks(backend: Backend, call: Call) -> list[dict[str, str]]:
    return metrics.watermarks(vertex_of(backend, call))


def _accumulators(backend: Backend, call: Call) -> dict[str, Any]:
    """Return none: accumulators are kept per job, see /jobs/:jobid/accumulators."""
    return {"id": vertex_of(backend, call).vertex_id, "user-accumulators": []}


def _subtask_accumulators(backend: Backend, call: Call) -> dict[str, Any]:
    vertex = vertex_of(backend, call)
    entries = [
        {"subtask": s.index, "attempt": s.attempt, "endpoint": responses.endpoint_of(s), "user-accumulators": []}
        for s in vertex.subtasks
    ]
    return {"id": vertex.vertex_id, "parallelism": vertex.parallelism, "subtasks": entries}


def _subtask(backend: Backend, call: Call) -> dict[str, Any]:
    return responses.subtask(subtask_of(backend, call), backend.now(), task_manager_of(job_of(backend, call)))


def _attempt(backend: Backend, call: Call) -> dict[str, Any]:
    attempt, subtask = call.index("attempt"), subtask_of(backend, call)
    if attempt != subtask.attempt:
        raise NotFoundError(
            f"Attempt {attempt} of subtask {subtask.index} is unknown; the current attempt is {subtask.attempt}"
        )
    return _subtask(backend, call)


def _attempt_accumulators(backend: Backend, call: Call) -> dict[str, Any]:
    found = _attempt(backend, call)
    name = f"{call.path['jobid']}_{call.path['vertexid']}_{found['subtask']}_{found['attempt']}"
    return {"subtask": found["subtask"], "attempt": found["attempt"], "id": name, "user-accumulators": []}


def _flame_graph(backend: Backend, call: Call) -> dict[str, Any]:
    """Return samples of the running code of all subtasks. Waiting code is not sampled, so OFF_CPU is empty."""
    kind = call.query.get("type", "FULL").upper()
    if kind not in _FLAME_GRAPHS:
        raise RequestError(f"Bad request received: 'type' must be one of {', '.join(_FLAME_GRAPHS)}.")
    vertex, job = vertex_of(backend, call), job_of(backend, call)
    if is_over(job.view().status):
        return {"endTimestamp": _JOB_IS_OVER}
    if kind == "OFF_CPU":
        return {"endTimestamp": backend.now(), "data": {"name": "root", "value": 0, "children": []}}
    found = job.flame_graph(vertex.vertex_id)
    return {"endTimestamp": backend.now(), "data": found} if found["value"] else {"endTimestamp": _NOTHING_SAMPLED_YET}


def _metrics(backend: Backend, call: Call) -> list[dict[str, str]]:
    return metrics.listed(metrics.of_vertex(vertex_of(backend, call)), call.metrics())


def _subtask_metrics(backend: Backend, call: Call) -> list[dict[str, str]]:
    return metrics.listed(subtask_of(backend, call).metrics, call.metrics())


def _aggregated_metrics(backend: Backend, call: Call) -> list[dict[str, Any]]:
    vertex = vertex_of(backend, call)
    chosen = _subtask_numbers(call)
    subtasks = [s.metrics for s in vertex.subtasks if chosen is None or s.index in chosen]
    return metrics.aggregated(subtasks, call.metrics(), call.names("agg"))


def _subtask_numbers(call: Call) -> set[int] | None:
    """Return the requested subtasks: `0,2-4` means 0, 2, 3 and 4."""
    if "subtasks" not in call.query:
        return None
    found: set[int] = set()
    for part in call.names("subtasks"):
        first, _, last = part.partition("-")
        if not all(text.isascii() and text.isdigit() and len(text) < 7 for text in (first, last or first)):
            raise RequestError("Bad request received: 'subtasks' must be numbers or ranges, such as 0,2-4.")
        found.update(range(int(first), int(last or first) + 1))
    return found


def _no_coordinator_metrics(backend: Backend, call: Call) -> list[dict[str, str]]:
    vertex_of(backend, call)
    return []


_GET = (METRIC_NAMES,)
_AT = "/jobs/{jobid}/vertices/{vertexid}"
_SUBTASK = _AT + "/subtasks/{subtaskindex}"
ENDPOINTS: tuple[Endpoint[Backend], ...] = (
    Endpoint("GET", _AT, _with_managers(responses.details), "A vertex with its subtasks"),
    Endpoint("GET", _AT + "/accumulators", _accumulators, "Accumulators of a vertex"),
    Endpoint("GET", _AT + "/backpressure", _now(responses.back_pressure), "Back pressure of a vertex"),
    Endpoint(
        *("GET", _AT + "/flamegraph", _flame_graph, "Flame graph of a vertex; poll until it has data"),
        query=(Field("type"),),
    ),
    Endpoint("GET", _AT + "/jm-operator-metrics", _no_coordinator_metrics, "Metrics of coordinators", query=_GET),
    Endpoint("GET", _AT + "/metrics", _metrics, "Metrics of all subtasks", query=_GET),
    Endpoint("GET", _AT + "/subtasks/accumulators", _subtask_accumulators, "Accumulators of the subtasks"),
    Endpoint(
        *("GET", _AT + "/subtasks/metrics", _aggregated_metrics, "Aggregated metrics of the subtasks"),
        query=(*_GET, Field("agg"), Field("subtasks")),
    ),
    Endpoint("GET", _AT + "/subtasktimes", _now(responses.subtask_times), "When the subtasks entered each state"),
    Endpoint("GET", _AT + "/taskmanagers", _with_managers(responses.task_managers), "The subtasks by executor"),
    Endpoint("GET", _AT + "/watermarks", _watermarks, "Watermarks of the subtasks"),
    Endpoint("GET", _SUBTASK, _subtask, "A subtask"),
    Endpoint("GET", _SUBTASK + "/attempts/{attempt}", _attempt, "An attempt of a subtask"),
    Endpoint("GET", _SUBTASK + "/attempts/{attempt}/accumulators", _attempt_accumulators, "Its accumulators"),
    Endpoint("GET", _SUBTASK + "/metrics", _subtask_metrics, "Metrics of a subtask", query=_GET),
)
