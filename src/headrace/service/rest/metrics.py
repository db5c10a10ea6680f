"""The routes of the metrics of jobs."""

from __future__ import annotations

from typing import Any

from headrace.service.responses import metrics as shapes
from headrace.service.rest.backend import Backend
from headrace.service.rest.endpoint import Call, Endpoint, Field
from headrace.service.rest.lookup import view_of

__all__ = ["ENDPOINTS"]


def _of_job(backend: Backend, call: Call) -> list[dict[str, str]]:
    wanted = call.names("get") if "get" in call.query else None
    return shapes.listed(shapes.of_job(view_of(backend, call), backend.now()), wanted)


def _of_jobs(backend: Backend, call: Call) -> list[dict[str, Any]]:
    wanted = call.names("get") if "get" in call.query else None
    chosen, now = call.names("jobs"), backend.now()
    jobs = [job for job in backend.jobs() if not chosen or job.job_id in chosen]
    return shapes.aggregated([shapes.of_job(job.view(), now) for job in jobs], wanted, call.names("agg"))


_GET = Field("get", summary="names of metrics, with commas between them")
ENDPOINTS: tuple[Endpoint[Backend], ...] = (
    Endpoint(
        *("GET", "/jobs/metrics", _of_jobs, "Metrics of jobs, put together"),
        query=(_GET, Field("agg"), Field("jobs")),
    ),
    Endpoint("GET", "/jobs/{jobid}/metrics", _of_job, "Metrics of a job", query=(_GET,)),
)
