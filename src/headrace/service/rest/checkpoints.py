"""The routes that show the checkpoints of a job."""

from __future__ import annotations

from typing import Any

from headrace.service.errors import NotFoundError
from headrace.service.responses import checkpoints as shapes
from headrace.service.rest.backend import Backend
from headrace.service.rest.endpoint import Call, Endpoint
from headrace.service.rest.lookup import view_of

__all__ = ["ENDPOINTS"]


def _statistics(backend: Backend, call: Call) -> dict[str, Any]:
    return shapes.statistics(view_of(backend, call))


def _configuration(backend: Backend, call: Call) -> dict[str, Any]:
    return shapes.configuration(view_of(backend, call))


def _entry(backend: Backend, call: Call) -> dict[str, Any]:
    number = call.index("checkpointid")
    entry = shapes.find(view_of(backend, call), number)
    if entry is None:
        raise NotFoundError(f"Could not find checkpointing statistics for checkpoint {number}.")
    return entry


def _details(backend: Backend, call: Call) -> dict[str, Any]:
    return shapes.details(view_of(backend, call), _entry(backend, call))


def _subtasks(backend: Backend, call: Call) -> dict[str, Any]:
    entry = _entry(backend, call)
    found = shapes.subtask_details(entry, call.path["vertexid"])
    if found is None:
        raise NotFoundError(f"There are no checkpoint statistics for task {call.path['vertexid'][:100]}.")
    return found


ENDPOINTS: tuple[Endpoint[Backend], ...] = (
    Endpoint("GET", "/jobs/{jobid}/checkpoints", _statistics, "Counts, summaries and the latest checkpoints"),
    Endpoint("GET", "/jobs/{jobid}/checkpoints/config", _configuration, "How checkpoints are made"),
    Endpoint("GET", "/jobs/{jobid}/checkpoints/details/{checkpointid}", _details, "A checkpoint with its vertices"),
    Endpoint(
        *("GET", "/jobs/{jobid}/checkpoints/details/{checkpointid}/subtasks/{vertexid}", _subtasks),
        "A checkpoint of a vertex with its subtasks",
    ),
)
