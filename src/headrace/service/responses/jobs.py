"""/jobs/:jobid and other responses about a job as a whole."""

from __future__ import annotations

import base64
import json
import pickle
from dataclasses import asdict
from typing import Any

from headrace.config.masking import masked_text
from headrace.monitoring.job_view import ExceptionView, JobView, VertexView
from headrace.service.responses.states import counted, task_state, vertex_state
from headrace.service.responses.vertices import busiest, duration_of, io_metrics, span_of

_OVER = ("FINISHED", "CANCELED", "FAILED")
_CHECKPOINT = ("id", "status", "end_timestamp", "failure_message")
_REAL_TIME = 1e11
"""Event time before 1973 is artificial, so its lag behind the clock means nothing."""
_SUMMARY = (
    *("running", "canceling", "canceled", "total", "created", "scheduled", "deploying", "reconciling", "finished"),
    *("initializing", "failed"),
)


def is_over(status: str) -> bool:
    """Return whether a job in this state has ended for good.

    >>> is_over("FAILED"), is_over("RESTARTING")
    (True, False)
    """
    return status in _OVER


def details(view: JobView, now: int) -> dict[str, Any]:
    """Return the job with its vertices and its plan."""
    return {
        "jid": view.job_id,
        "application-id": view.job_id,
        "name": view.name,
        "isStoppable": not is_over(view.status),
        "state": view.status,
        "job-type": view.mode,
        "schedulerType": "Default",
        "start-time": view.start_ms,
        "end-time": view.end_ms,
        "duration": duration_of(view.start_ms, view.end_ms, now),
        "maxParallelism": view.max_parallelism,
        "now": now,
        "timestamps": timestamps(view),
        "vertices": [_vertex(vertex, now) for vertex in view.vertices],
        "status-counts": counted(vertex_state(s.status for s in v.subtasks) for v in view.vertices),
        "plan": view.plan,
        "pending-operators": 0,
    }


def live_details(view: JobView, now: int) -> dict[str, Any]:
    """Return the details for the web UI, with the metrics of each vertex (without its operators') and the bottleneck."""
    shown = details(view, now)
    for entry, vertex in zip(shown["vertices"], view.vertices):
        entry["vertex-metrics"] = {name: value for name, value in vertex.metrics.items() if "." not in name}
        entry["backpressure-level"] = vertex.back_pressure
        entry["busiest-subtask"] = busiest(vertex.subtasks)
    bottleneck = None if view.bottleneck is None else asdict(view.bottleneck)
    return {**shown, "bottleneck": bottleneck, "waiting-since": view.waiting_since_ms}


def timestamps(view: JobView) -> dict[str, int]:
    """Return when the job last entered each state, 0 for never."""
    return {"INITIALIZING": view.start_ms, **view.state_timestamps}


def _vertex(vertex: VertexView, now: int) -> dict[str, Any]:
    start, end = span_of(vertex.subtasks)
    return {
        "id": vertex.vertex_id,
        "slotSharingGroupId": vertex.vertex_id,
        "name": vertex.name,
        "maxParallelism": vertex.max_parallelism,
        "parallelism": vertex.parallelism,
        "status": vertex_state(s.status for s in vertex.subtasks),
        "start-time": start,
        "end-time": end,
        "duration": duration_of(start, end, now),
        "tasks": counted(s.status for s in vertex.subtasks),
        "metrics": io_metrics(vertex.subtasks),
    }


def overview(view: JobView, now: int) -> dict[str, Any]:
    """Return the job as an entry of the list of jobs."""
    statuses = [subtask.status for vertex in view.vertices for subtask in vertex.subtasks]
    tasks = {name: 0 for name in _SUMMARY}
    for status in statuses:
        tasks[task_state(status).lower()] += 1
    tasks["total"] = len(statuses)
    return {
        "jid": view.job_id,
        "name": view.name,
        "jobType": view.mode,
        "schedulerType": "Default",
        "start-time": view.start_ms,
        "end-time": view.end_ms,
        "duration": duration_of(view.start_ms, view.end_ms, now),
        "state": view.status,
        "last-modification": max(view.state_timestamps.values(), default=view.start_ms),
        "tasks": tasks,
        "pending-operators": 0,
    }


def live_overview(view: JobView, now: int) -> dict[str, Any]:
    """Return the list entry for the web UI, with the figures that show at a glance whether the job is healthy."""
    lags = [float(v.metrics["watermarkLag"]) for v in view.vertices if "watermarkLag" in v.metrics]
    sources = [vertex for vertex in view.vertices if not vertex.inputs]
    concluded = [c for c in view.checkpoints["history"] if c["status"] != "IN_PROGRESS"]
    names = {vertex.vertex_id: vertex.name for vertex in view.vertices}
    slow, failures = view.bottleneck, exceptions(view, 1, [])["exceptionHistory"]["entries"]
    glance = {
        "records-per-second": sum(v.metrics.get("numRecordsOutPerSecond", 0.0) for v in sources),
        "watermark-lag": max((lag for lag in lags if now - lag > _REAL_TIME), default=None),
        "checkpoint": _glance_at(concluded[0]) if concluded else None,
        "bottleneck": None if slow is None else {"vertex": names.get(slow.vertex_id), "reason": slow.reason},
        "exception": failures[0] if failures else None,
        "waiting-since": view.waiting_since_ms,
    }
    return {**overview(view, now), "glance": glance}


def _glance_at(checkpoint: dict[str, Any]) -> dict[str, Any]:
    shown = {key: checkpoint.get(key) for key in _CHECKPOINT}
    return {**shown, "failure_message": masked_text(shown["failure_message"] or "") or None}


def execution_config(view: JobView) -> dict[str, Any]:
    """Return the configuration of the job, secrets masked."""
    strategy = view.configuration.get("restart-strategy.type", view.configuration.get("restart-strategy"))
    return {
        "jid": view.job_id,
        "name": view.name,
        "execution-config": {
            "restart-strategy": strategy or "Cluster level default restart strategy",
            "job-parallelism": view.parallelism,
            "object-reuse-mode": view.configuration.get("pipeline.object-reuse", "false") == "true",
            "user-config": view.configuration,
        },
    }


def exceptions(view: JobView, limit: int, labels: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the errors of the job, newest first. Failures have no labels, so a filter by label matches none."""
    found = [] if labels else list(reversed(view.exceptions))
    last = view.exceptions[-1] if view.exceptions else None
    return {
        **_flink_1_fields(last),
        "exceptionHistory": {
            "entries": [
                {
                    "exceptionName": entry.name,
                    "stacktrace": masked_text(entry.text),
                    "timestamp": entry.timestamp_ms,
                    "failureLabels": {},
                    "taskName": entry.task_name,
                    "endpoint": entry.location,
                    "taskManagerId": None,
                    "concurrentExceptions": [],
                    "count": entry.count,
                    "first-timestamp": entry.timestamp_ms if entry.count == 1 else entry.first_ms,
                    "advice": entry.advice,
                }
                for entry in found[:limit]
            ],
            "truncated": len(found) > limit,
        },
    }


def _flink_1_fields(last: ExceptionView | None) -> dict[str, Any]:
    """Return the fields that Flink 2 removed; older tools still read them."""
    return {
        "root-exception": None if last is None else masked_text(last.text),
        "timestamp": None if last is None else last.timestamp_ms,
        "all-exceptions": [],
        "truncated": False,
    }


def accumulators(view: JobView, serialized: bool) -> dict[str, Any]:
    """Return the results of the accumulators; the serialized form is a pickle, for Python clients that request it."""
    shown = sorted(view.accumulators.items())
    return {
        "job-accumulators": [],
        "user-task-accumulators": [
            {"name": name, "type": type(value).__name__, "value": _text(value)} for name, value in shown
        ],
        "serialized-user-task-accumulators": {name: _pickled(value) for name, value in shown} if serialized else {},
    }


def execution_result(view: JobView) -> dict[str, Any]:
    """Return how the job ended, if it has."""
    if not is_over(view.status):
        return {"status": {"id": "IN_PROGRESS"}}
    result: dict[str, Any] = {
        "id": view.job_id,
        "name": view.name,
        "application-id": view.job_id,
        "application-status": {"FINISHED": "SUCCEEDED"}.get(view.status, view.status),
        "accumulator-results": {name: _pickled(value) for name, value in view.accumulators.items()},
        "net-runtime": duration_of(view.start_ms, view.end_ms, view.end_ms),
        "start-time": view.start_ms,
        "end-time": view.end_ms,
    }
    if view.status == "FAILED" and view.exceptions:
        result["failure-cause"] = failure_cause(view.exceptions[-1].name, view.exceptions[-1].text)
    return {"status": {"id": "COMPLETED"}, "job-execution-result": result}


def failure_cause(name: str, text: str) -> dict[str, str]:
    """Return a failure in the form that Flink's clients read.

    >>> failure_cause("ValueError", "no")["class"]
    'ValueError'
    """
    return {"class": name, "stack-trace": masked_text(text), "serialized-throwable": ""}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _pickled(value: Any) -> str:
    return base64.b64encode(pickle.dumps(value)).decode()
