"""The routes that show the checkpoints of a job."""

from __future__ import annotations

from typing import Any

from headrace.service.errors import NotFoundError
from headrace.service.responses import checkpoints as responses
from headrace.service.rest.backend import Backend, from_view, view_of
from headrace.service.rest.endpoint import Call, Endpoint


def _entry(backend: Backend, call: Call) -> dict[str, Any]:
    number = call.index("checkpointid")
    entry = responses.find(view_of(backend, call), number)
    if entry is None:
        raise NotFoundError(f"Could not find checkpointing statistics for checkpoint {number}.")
    return entry


def _details(backend: Backend, call: Call) -> dict[str, Any]:
    return responses.details(view_of(backend, call), _entry(backend, call))


def _subtasks(backend: Backend, call: Call) -> dict[str, Any]:
    entry = _entry(backend, call)
    found = responses.subtask_details(entry, call.path["vertexid"])
    if found is None:
        raise NotFoundError(f"There are no checkpoint statistics for task {call.path['vertexid'][:100]}.")
    return found


_AT = "/jobs/{jobid}/checkpoints"
ENDPOINTS: tuple[Endpoint[Backend], ...] = (
    Endpoint("GET", _AT, from_view(responses.statistics), "Counts, summaries and the latest checkpoints"),
    Endpoint("GET", _AT + "/config", from_view(responses.configuration), "Settings of the checkpoints"),
    Endpoint("GET", _AT + "/details/{checkpointid}", _details, "A checkpoint with its vertices"),
    Endpoint(
        "GET",
        _AT + "/details/{checkpointid}/subtasks/{vertexid}",
        _subtasks,
        "A checkpoint of a vertex with its subtasks",
    ),
)
