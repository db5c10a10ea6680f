"""The routes of jobs: lists, details, plan, exceptions, accumulators, metrics, cancelling."""

from __future__ import annotations

from typing import Any

from headrace.service.errors import RequestError
from headrace.service.responses import jobs as responses
from headrace.service.responses import metrics
from headrace.service.rest.backend import Backend, from_view, job_of, view_of
from headrace.service.rest.endpoint import METRIC_NAMES, Call, Endpoint, Field

_PAGE = 20


def _all(backend: Backend, call: Call) -> dict[str, Any]:
    return {"jobs": [{"id": view.job_id, "status": view.status} for view in (j.view() for j in backend.jobs())]}


def _overview(backend: Backend, call: Call) -> dict[str, Any]:
    now = backend.now()
    return {"jobs": [responses.overview(job.view(), now) for job in backend.jobs()]}


def _details(backend: Backend, call: Call) -> dict[str, Any]:
    return responses.details(view_of(backend, call), backend.now())


def _exceptions(backend: Backend, call: Call) -> dict[str, Any]:
    labels = [(part, "") for part in call.names("failureLabelFilter")]
    return responses.exceptions(view_of(backend, call), call.number("maxExceptions", _PAGE), labels)


def _accumulators(backend: Backend, call: Call) -> dict[str, Any]:
    return responses.accumulators(
        view_of(backend, call), call.query.get("includeSerializedValue", "").lower() == "true"
    )


def _metrics(backend: Backend, call: Call) -> list[dict[str, str]]:
    return metrics.listed(metrics.of_job(view_of(backend, call), backend.now()), call.metrics())


def _aggregated_metrics(backend: Backend, call: Call) -> list[dict[str, Any]]:
    chosen, now = call.names("jobs"), backend.now()
    jobs = [job for job in backend.jobs() if not chosen or job.job_id in chosen]
    return metrics.aggregated([metrics.of_job(job.view(), now) for job in jobs], call.metrics(), call.names("agg"))


def _cancel(backend: Backend, call: Call) -> dict[str, Any]:
    if call.query.get("mode", "cancel") != "cancel":
        raise RequestError("Bad request received: 'mode' must be 'cancel'; to stop a job, POST /jobs/:jobid/stop.")
    job = job_of(backend, call)
    status = job.view().status
    if responses.is_over(status) and status != "CANCELED":
        raise RequestError(
            f"Job cancellation failed because the job has already reached another terminal state ({status}).",
            status=409,
        )
    job.cancel()
    return {}


def _no_job_graphs(backend: Backend, call: Call) -> dict[str, Any]:
    raise RequestError(
        "This service does not accept serialized Java job graphs: upload a Python program to /jars/upload and run it."
    )


ENDPOINTS: tuple[Endpoint[Backend], ...] = (
    Endpoint(
        *("GET", "/jobs/metrics", _aggregated_metrics, "Aggregated metrics of jobs"),
        query=(METRIC_NAMES, Field("agg"), Field("jobs")),
    ),
    Endpoint("GET", "/jobs/{jobid}/metrics", _metrics, "Metrics of a job", query=(METRIC_NAMES,)),
    Endpoint("GET", "/jobs", _all, "Ids and states of all jobs"),
    Endpoint("POST", "/jobs", _no_job_graphs, "Rejected: job graphs of Java cannot run here", body=(), free_body=True),
    Endpoint("GET", "/jobs/overview", _overview, "Summaries of all jobs"),
    Endpoint("GET", "/jobs/{jobid}", _details, "A job with its vertices and plan"),
    Endpoint("PATCH", "/jobs/{jobid}", _cancel, "Cancel a job", status=202, query=(Field("mode", summary="cancel"),)),
    Endpoint("GET", "/jobs/{jobid}/status", from_view(lambda view: {"status": view.status}), "The state of a job"),
    Endpoint("GET", "/jobs/{jobid}/plan", from_view(lambda view: {"plan": view.plan}), "The plan of a job"),
    Endpoint("GET", "/jobs/{jobid}/config", from_view(responses.execution_config), "The configuration of a job"),
    Endpoint(
        *("GET", "/jobs/{jobid}/exceptions", _exceptions, "The errors that made a job fail or restart"),
        query=(Field("maxExceptions", int), Field("failureLabelFilter")),
    ),
    Endpoint(
        *("GET", "/jobs/{jobid}/accumulators", _accumulators, "Accumulators of a job"),
        query=(Field("includeSerializedValue", bool),),
    ),
    Endpoint("GET", "/jobs/{jobid}/execution-result", from_view(responses.execution_result), "How a job ended"),
)
