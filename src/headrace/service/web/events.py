"""Live events for the web UI (server-sent events): the state of a job, or the list of jobs, every second.

A client that accepts `application/json` gets the content of one event instead. This helps behind proxies that block streams.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from headrace.service.errors import RequestError
from headrace.service.responses import jobs as responses
from headrace.service.rest.backend import Backend, view_of
from headrace.service.rest.endpoint import Call
from headrace.service.web.bodies import answer, json_text

_SECONDS = 1.0
_MOST_STREAMS = 100
_open: set[object] = set()


async def overview_events(backend: Backend, request: Request) -> Response:
    """Serve /events: every second, an event `overview` with /jobs/overview and a `glance` at each job."""

    def shown() -> Any:
        now = backend.now()
        return {"jobs": [responses.live_overview(job.view(), now) for job in backend.jobs()]}

    return await _stream(request, "overview", shown)


async def job_events(backend: Backend, request: Request) -> Response:
    """Serve /jobs/:jobid/events: every second, an event `job` with the job's details, metrics and bottleneck."""
    call = Call(path={"jobid": str(request.path_params["jobid"])})

    def shown() -> Any:
        return responses.live_details(view_of(backend, call), backend.now())

    return await _stream(request, "job", shown)


async def _stream(request: Request, name: str, shown: Callable[[], Any]) -> Response:
    if request.headers.get("accept", "").startswith("application/json"):
        return answer(await run_in_threadpool(shown), 200)
    if len(_open) >= _MOST_STREAMS:
        raise RequestError("Too many clients listen to events; retry with Accept: application/json.", status=429)
    first = await run_in_threadpool(shown)  # report errors in the request before the stream begins
    return StreamingResponse(
        _events(request, name, first, shown), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def _events(request: Request, name: str, first: Any, shown: Callable[[], Any]) -> AsyncIterator[str]:
    token = object()
    _open.add(token)
    try:
        content = first
        while not await request.is_disconnected():
            yield f"event: {name}\ndata: {json_text(content)}\n\n"
            await asyncio.sleep(_SECONDS)
            try:
                content = await run_in_threadpool(shown)
            except RequestError:
                return  # the job has been removed
    finally:
        _open.discard(token)
