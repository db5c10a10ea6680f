"""The routes that start something and tell later what came of it: savepoints, checkpoints, stop, rescaling, disposal."""

from __future__ import annotations

from typing import Any

from headrace.checkpoint.disposal import discard_savepoint
from headrace.monitoring.job_view import VertexView
from headrace.service.errors import RequestError
from headrace.service.responses.jobs import is_over
from headrace.service.rest.backend import Backend, JobGateway
from headrace.service.rest.endpoint import Call, Endpoint, Field
from headrace.service.rest.lookup import job_of

__all__ = ["ENDPOINTS"]

_FORMATS = ("CANONICAL", "NATIVE")
_TRIGGER = Field("triggerId", summary="an id of the client's own, so that it may repeat the request")
_FORMAT = Field("formatType", summary="CANONICAL or NATIVE; both are the same here")


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


def _savepoint(backend: Backend, call: Call) -> dict[str, Any]:
    job = _running(backend, call)
    _check_format(call)
    directory = call.body.get("target-directory")

    def work() -> dict[str, Any]:
        if call.body.get("cancel-job", False):
            return {"location": job.stop(False, directory)}
        return {"location": job.savepoint(directory)}

    return {"request-id": backend.operations.start("savepoint", job.job_id, call.body.get("triggerId"), work)}


def _stop(backend: Backend, call: Call) -> dict[str, Any]:
    job = _running(backend, call)
    _check_format(call)
    drain, directory = call.body.get("drain", False), call.body.get("targetDirectory")

    def work() -> dict[str, Any]:
        return {"location": job.stop(drain, directory)}

    return {"request-id": backend.operations.start("savepoint", job.job_id, call.body.get("triggerId"), work)}


def _savepoint_status(backend: Backend, call: Call) -> dict[str, Any]:
    return backend.operations.status("savepoint", job_of(backend, call).job_id, call.path["triggerid"])


def _checkpoint(backend: Backend, call: Call) -> dict[str, Any]:
    job = _running(backend, call)
    kind = call.body.get("checkpointType", "CONFIGURED")
    if kind not in ("CONFIGURED", "FULL", "INCREMENTAL"):
        raise RequestError("Bad request received: 'checkpointType' must be CONFIGURED, FULL or INCREMENTAL.")
    if kind == "FULL":
        raise RequestError("Checkpoints here hold what has changed: take a savepoint for one that holds everything.")

    def work() -> dict[str, Any]:
        return {"checkpointId": job.checkpoint()}

    return {"request-id": backend.operations.start("checkpoint", job.job_id, call.body.get("triggerId"), work)}


def _checkpoint_status(backend: Backend, call: Call) -> dict[str, Any]:
    return backend.operations.status("checkpoint", job_of(backend, call).job_id, call.path["triggerid"])


def _rescale(backend: Backend, call: Call) -> dict[str, Any]:
    job = _running(backend, call)
    if "parallelism" not in call.query:
        raise RequestError("Bad request received: the query parameter 'parallelism' is missing.")
    parallelism = call.number("parallelism", 1, lowest=1, highest=32768)

    def work() -> dict[str, Any]:
        job.rescale(parallelism)
        return {}

    return {"request-id": backend.operations.start("rescaling", job.job_id, None, work)}


def _rescale_status(backend: Backend, call: Call) -> dict[str, Any]:
    return backend.operations.status("rescaling", job_of(backend, call).job_id, call.path["triggerid"])


def _requirements(backend: Backend, call: Call) -> dict[str, Any]:
    view = job_of(backend, call).view()
    return {v.vertex_id: {"parallelism": {"lowerBound": 1, "upperBound": v.parallelism}} for v in view.vertices}


def _require(backend: Backend, call: Call) -> dict[str, Any]:
    """Asks for an upper bound for each vertex. Jobs are cut by one parallelism, so the bounds must agree."""
    job = _running(backend, call)
    vertices = {vertex.vertex_id: vertex for vertex in job.view().vertices}
    missing = [vertex for vertex in vertices if vertex not in call.body]
    if missing:
        raise RequestError(f"The request is incomplete, missing job vertex {missing[:1]} resource requirements.")
    wanted = {_upper_bound(name, entry) for name, entry in call.body.items() if _known(name, vertices)}
    if len(wanted) != 1:
        raise RequestError(f"All vertices of a job here have one parallelism; asked for were {sorted(wanted)}.")
    job.rescale(wanted.pop())
    return {}


def _known(name: str, vertices: dict[str, VertexView]) -> bool:
    if name not in vertices:
        raise RequestError(f"Bad request received: {name[:100]!r} is no vertex of this job.")
    return vertices[name].max_parallelism > 1


def _upper_bound(name: str, entry: Any) -> int:
    bounds = entry.get("parallelism") if isinstance(entry, dict) else None
    upper = bounds.get("upperBound") if isinstance(bounds, dict) else None
    if not isinstance(upper, int) or isinstance(upper, bool) or not 1 <= upper <= 32768:
        raise RequestError(f"Bad request received: {name!r} needs a parallelism with an upperBound from 1 to 32768.")
    return upper


def _dispose(backend: Backend, call: Call) -> dict[str, Any]:
    path = call.body["savepoint-path"]

    def work() -> dict[str, Any]:
        discard_savepoint(path)
        return {}

    return {"request-id": backend.operations.start("disposal", "savepoints", None, work)}


def _disposal_status(backend: Backend, call: Call) -> dict[str, Any]:
    return backend.operations.status("disposal", "savepoints", call.path["triggerid"])


ENDPOINTS: tuple[Endpoint[Backend], ...] = (
    Endpoint(
        *("POST", "/jobs/{jobid}/savepoints", _savepoint, "Take a savepoint, and cancel the job if asked to"),
        body=(Field("target-directory"), Field("cancel-job", bool), _FORMAT, _TRIGGER),
        status=202,
    ),
    Endpoint("GET", "/jobs/{jobid}/savepoints/{triggerid}", _savepoint_status, "What became of a savepoint or stop"),
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
    Endpoint("GET", "/jobs/{jobid}/checkpoints/{triggerid}", _checkpoint_status, "What became of a checkpoint"),
    Endpoint(
        *("PATCH", "/jobs/{jobid}/rescaling", _rescale, "Let the job go on with another parallelism"),
        query=(Field("parallelism", int, required=True),),
    ),
    Endpoint("GET", "/jobs/{jobid}/rescaling/{triggerid}", _rescale_status, "What became of a rescaling"),
    Endpoint("GET", "/jobs/{jobid}/resource-requirements", _requirements, "The parallelism of each vertex"),
    Endpoint(
        *("PUT", "/jobs/{jobid}/resource-requirements", _require, "Ask for another parallelism"),
        body=(),
        free_body=True,
    ),
    Endpoint(
        *("POST", "/savepoint-disposal", _dispose, "Remove a savepoint"),
        body=(Field("savepoint-path", required=True),),
    ),
    Endpoint("GET", "/savepoint-disposal/{triggerid}", _disposal_status, "What became of a removal"),
)
