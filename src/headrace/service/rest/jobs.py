"""The routes of jobs: lists, details, plan, exceptions, accumulators, cancelling."""

from __future__ import annotations

from typing import Any

from headrace.service.errors import RequestError
from headrace.service.responses import jobs as shapes
from headrace.service.rest.backend import Backend
from headrace.service.rest.endpoint import Call, Endpoint, Field
from headrace.service.rest.lookup import job_of, view_of

__all__ = ["ENDPOINTS"]

_PAGE = 20


def _all(backend: Backend, call: Call) -> dict[str, Any]:
    return {"jobs": [{"id": view.job_id, "status": view.status} for view in (j.view() for j in backend.jobs())]}


def _overview(backend: Backend, call: Call) -> dict[str, Any]:
    now = backend.now()
    return {"jobs": [shapes.overview(job.view(), now) for job in backend.jobs()]}


def _details(backend: Backend, call: Call) -> dict[str, Any]:
    return shapes.details(view_of(backend, call), backend.now())


def _status(backend: Backend, call: Call) -> dict[str, Any]:
    return {"status": view_of(backend, call).status}


def _plan(backend: Backend, call: Call) -> dict[str, Any]:
    return {"plan": view_of(backend, call).plan}


def _config(backend: Backend, call: Call) -> dict[str, Any]:
    return shapes.execution_config(view_of(backend, call))


def _exceptions(backend: Backend, call: Call) -> dict[str, Any]:
    labels = [(part, "") for part in call.names("failureLabelFilter")]
    return shapes.exceptions(view_of(backend, call), call.number("maxExceptions", _PAGE), labels)


def _accumulators(backend: Backend, call: Call) -> dict[str, Any]:
    return shapes.accumulators(view_of(backend, call), call.query.get("includeSerializedValue", "").lower() == "true")


def _result(backend: Backend, call: Call) -> dict[str, Any]:
    return shapes.execution_result(view_of(backend, call))


def _cancel(backend: Backend, call: Call) -> dict[str, Any]:
    if call.query.get("mode", "cancel") != "cancel":
        raise RequestError("Bad request received: the mode must be 'cancel'; to stop a job, POST /jobs/:jobid/stop.")
    job = job_of(backend, call)
    status = job.view().status
    if shapes.is_over(status) and status != "CANCELED":
        raise RequestError(
            f"Job cancellation failed because the job has already reached another terminal state ({status}).",
            status=409,
        )
    job.cancel()
    return {}


def _no_job_graphs(backend: Backend, call: Call) -> dict[str, Any]:
    raise RequestError(
        "This service takes no serialized Java job graphs: upload a Python program to /jars/upload and run it."
    )


ENDPOINTS: tuple[Endpoint[Backend], ...] = (
    Endpoint("GET", "/jobs", _all, "Ids and states of all jobs"),
    Endpoint("POST", "/jobs", _no_job_graphs, "Refused: job graphs of Java cannot be run", body=(), free_body=True),
    Endpoint("GET", "/jobs/overview", _overview, "All jobs, a line for each"),
    Endpoint("GET", "/jobs/{jobid}", _details, "A job with its vertices and plan"),
    Endpoint("PATCH", "/jobs/{jobid}", _cancel, "Cancel a job", status=202, query=(Field("mode", summary="cancel"),)),
    Endpoint("GET", "/jobs/{jobid}/status", _status, "The state of a job"),
    Endpoint("GET", "/jobs/{jobid}/plan", _plan, "The plan of a job"),
    Endpoint("GET", "/jobs/{jobid}/config", _config, "The configuration of a job"),
    Endpoint(
        *("GET", "/jobs/{jobid}/exceptions", _exceptions, "What made a job fail or start again"),
        query=(Field("maxExceptions", int), Field("failureLabelFilter")),
    ),
    Endpoint(
        *("GET", "/jobs/{jobid}/accumulators", _accumulators, "Accumulators of a job"),
        query=(Field("includeSerializedValue", bool),),
    ),
    Endpoint("GET", "/jobs/{jobid}/execution-result", _result, "How a job ended"),
)
