"""The routes that show checkpoints, and those that start an operation and poll it: savepoints, stop, rescaling, disposal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.checkpoint.disposal import discard_savepoint
from headrace.monitoring.job_view import VertexView
from headrace.service.errors import NotFoundError, RequestError
from headrace.service.responses import checkpoints as responses
from headrace.service.responses.jobs import is_over
from headrace.service.rest.backend import Backend, Handler, JobGateway, from_view, job_of, view_of
from headrace.service.rest.endpoint import Call, Endpoint, Field

_FORMATS = ("CANONICAL", "NATIVE")
_TRIGGER = Field("triggerId", summary="an id chosen by the client, so that it can retry the request")
_FORMAT = Field("formatType", summary="CANONICAL or NATIVE; both write the same format")


def _running(backend: Backend, call: Call) -> JobGateway:
    job = job_of(backend, call)
    status = job.view().status
    if is_over(status):
        raise RequestError(f"Job {job.job_id} has ended: {status}.", status=409)
    return job


def _check_format(call: Call) -> None:
    form = call.body.get("formatType", "CANONICAL")
    if form not in _FORMATS:
        raise RequestError(f"Bad request received: 'formatType' must be one of {', '.join(_FORMATS)}.")


def _status(kind: str) -> Handler:
    """Return the handler that polls an operation of a job."""
    return lambda backend, call: backend.operations.status(kind, job_of(backend, call).job_id, call.path["triggerid"])


def _start(
    backend: Backend, call: Call, kind: str, scope: str, work: Callable[[], dict[str, Any] | None]
) -> dict[str, Any]:
    return {"request-id": backend.operations.start(kind, scope, call.body.get("triggerId"), work)}


def _savepoint(backend: Backend, call: Call) -> dict[str, Any]:
    job = _running(backend, call)
    _check_format(call)
    directory = call.body.get("target-directory")

    def work() -> dict[str, Any]:
        if call.body.get("cancel-job", False):
            return {"location": job.stop(False, directory)}
        return {"location": job.savepoint(directory)}

    return _start(backend, call, "savepoint", job.job_id, work)


def _stop(backend: Backend, call: Call) -> dict[str, Any]:
    job = _running(backend, call)
    _check_format(call)
    drain, directory = call.body.get("drain", False), call.body.get("targetDirectory")
    return _start(backend, call, "savepoint", job.job_id, lambda: {"location": job.stop(drain, directory)})


def _checkpoint(backend: Backend, call: Call) -> dict[str, Any]:
    job = _running(backend, call)
    kind = call.body.get("checkpointType", "CONFIGURED")
    if kind not in ("CONFIGURED", "FULL", "INCREMENTAL"):
        raise RequestError("Bad request received: 'checkpointType' must be CONFIGURED, FULL or INCREMENTAL.")
    if kind == "FULL":
        raise RequestError("Checkpoints are incremental: take a savepoint to get a full one.")
    return _start(backend, call, "checkpoint", job.job_id, lambda: {"checkpointId": job.checkpoint()})


def _rescale(backend: Backend, call: Call) -> dict[str, Any]:
    job = _running(backend, call)
    if "parallelism" not in call.query:
        raise RequestError("Bad request received: the query parameter 'parallelism' is missing.")
    parallelism = call.number("parallelism", 1, lowest=1, highest=32768)
    return _start(backend, call, "rescaling", job.job_id, lambda: job.rescale(parallelism))


def _requirements(backend: Backend, call: Call) -> dict[str, Any]:
    view = job_of(backend, call).view()
    return {v.vertex_id: {"parallelism": {"lowerBound": 1, "upperBound": v.parallelism}} for v in view.vertices}


def _require(backend: Backend, call: Call) -> dict[str, Any]:
    """Rescale the job to the upper bound of its vertices. A job has one parallelism, so the bounds must agree."""
    job = _running(backend, call)
    vertices = {vertex.vertex_id: vertex for vertex in job.view().vertices}
    missing = [vertex for vertex in vertices if vertex not in call.body]
    if missing:
        raise RequestError(f"The request is incomplete, missing job vertex {missing[:1]} resource requirements.")
    wanted = {_upper_bound(name, entry) for name, entry in call.body.items() if _known(name, vertices)}
    if len(wanted) != 1:
        raise RequestError(f"All vertices of a job must have the same parallelism; requested were {sorted(wanted)}.")
    job.rescale(wanted.pop())
    return {}


def _known(name: str, vertices: dict[str, VertexView]) -> bool:
    if name not in vertices:
        raise RequestError(f"Bad request received: {name[:100]!r} is not a vertex of this job.")
    return vertices[name].max_parallelism > 1


def _upper_bound(name: str, entry: Any) -> int:
    bounds = entry.get("parallelism") if isinstance(entry, dict) else None
    upper = bounds.get("upperBound") if isinstance(bounds, dict) else None
    if not isinstance(upper, int) or isinstance(upper, bool) or not 1 <= upper <= 32768:
        raise RequestError(f"Bad request received: {name!r} needs a parallelism with an upperBound from 1 to 32768.")
    return upper


def _dispose(backend: Backend, call: Call) -> dict[str, Any]:
    path = call.body["savepoint-path"]
    return _start(backend, call, "disposal", "savepoints", lambda: discard_savepoint(path))


def _disposal_status(backend: Backend, call: Call) -> dict[str, Any]:
    return backend.operations.status("disposal", "savepoints", call.path["triggerid"])


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
    Endpoint(
        *("POST", "/jobs/{jobid}/savepoints", _savepoint, "Take a savepoint, and cancel the job if asked to"),
        body=(Field("target-directory"), Field("cancel-job", bool), _FORMAT, _TRIGGER),
        status=202,
    ),
    Endpoint("GET", "/jobs/{jobid}/savepoints/{triggerid}", _status("savepoint"), "The status of a savepoint or stop"),
    Endpoint(
        *("POST", "/jobs/{jobid}/stop", _stop, "Take a savepoint and end the job"),
        body=(Field("targetDirectory"), Field("drain", bool), _FORMAT, _TRIGGER),
        status=202,
    ),
    Endpoint(
        *("POST", "/jobs/{jobid}/checkpoints", _checkpoint, "Make a checkpoint now"),
        body=(Field("checkpointType"), _TRIGGER),
        status=202,
    ),
    Endpoint("GET", "/jobs/{jobid}/checkpoints/{triggerid}", _status("checkpoint"), "The status of a checkpoint"),
    Endpoint(
        *("PATCH", "/jobs/{jobid}/rescaling", _rescale, "Continue the job with another parallelism"),
        query=(Field("parallelism", int, required=True),),
    ),
    Endpoint("GET", "/jobs/{jobid}/rescaling/{triggerid}", _status("rescaling"), "The status of a rescaling"),
    Endpoint("GET", "/jobs/{jobid}/resource-requirements", _requirements, "The parallelism of each vertex"),
    Endpoint(
        *("PUT", "/jobs/{jobid}/resource-requirements", _require, "Request another parallelism"),
        body=(),
        free_body=True,
    ),
    Endpoint(
        *("POST", "/savepoint-disposal", _dispose, "Remove a savepoint"), body=(Field("savepoint-path", required=True),)
    ),
    Endpoint("GET", "/savepoint-disposal/{triggerid}", _disposal_status, "The status of a removal"),
)
