"""The app: all endpoints at their paths and below /v1, live events, the OpenAPI document and the web UI.

The files of the web UI are part of the package, and may not load anything from elsewhere. Live events
(server-sent events) are the state of a job, or the list of jobs, every second. A client that accepts `application/json` gets
the content of one event instead, which helps behind proxies that block streams.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from headrace import __version__
from headrace.errors import HeadraceError
from headrace.service.errors import RequestError
from headrace.service.responses import jobs as responses
from headrace.service.rest.backend import Backend, view_of
from headrace.service.rest.endpoint import Call, Endpoint, Field
from headrace.service.rest.routes import ENDPOINTS
from headrace.service.web.access import Access, AccessRules
from headrace.service.web.bodies import answer, error_answer, json_text, read_call
from headrace.service.web.sign_in import SIGN_IN_PATH, sign_in_routes

_NO_LEADER = "Service temporarily unavailable due to an ongoing leader election. Please refresh."
_log = logging.getLogger("headrace.service")
Handler = Callable[[Request], Awaitable[Response]]


class Host(Protocol):
    """Provides a backend if this process leads, otherwise the address of the leader."""

    def backend(self) -> Backend | None: ...
    def leader(self) -> str | None: ...


def make_app(host: Host, rules: AccessRules, longest_upload: int) -> Starlette:
    """Return the app for a dispatcher, or for the jobs of one process."""
    routes: list[Route] = []
    for endpoint in ENDPOINTS:
        handler = _led(host, _endpoint_handler(endpoint, longest_upload))
        for prefix in ("", "/v1"):
            routes.append(Route(prefix + endpoint.path, handler, methods=[endpoint.method]))
    for prefix in ("", "/v1"):
        routes.append(Route(f"{prefix}/events", _led(host, overview_events)))
        routes.append(Route(f"{prefix}/jobs/{{jobid}}/events", _led(host, job_events)))
    document = openapi_document(ENDPOINTS)

    async def openapi(request: Request) -> Response:
        return answer(document, 200)

    routes.append(Route("/openapi.json", openapi))
    routes.extend(sign_in_routes(rules.sign_in))
    routes.extend(_PAGES)
    return Starlette(
        routes=routes,
        middleware=[Middleware(Access, rules=rules, is_public=_is_public)],
        exception_handlers={HTTPException: _no_route, Exception: _internal_error},
    )


def _is_public(method: str, path: str) -> bool:
    """Return whether a request needs no token: files of the web UI contain no secrets, and signing in issues tokens."""
    return is_page(method, path) or (method == "POST" and path == SIGN_IN_PATH)


def _led(host: Host, handler: Callable[[Backend, Request], Awaitable[Response]]) -> Handler:
    """Serve the request if this process leads, otherwise redirect to the leader, like Flink's standby masters."""

    async def handle(request: Request) -> Response:
        backend = host.backend()
        try:
            if backend is not None:
                return await handler(backend, request)
            leader = await run_in_threadpool(host.leader)
            if leader is None:
                return error_answer(503, _NO_LEADER)
            query = f"?{request.url.query}" if request.url.query else ""
            return RedirectResponse(f"{leader}{request.url.path}{query}", 307)
        except RequestError as error:
            return error_answer(error.status, error.message)
        except HeadraceError as error:
            return error_answer(400, str(error))
        except ClientDisconnect:
            return error_answer(400, "The client disconnected.")

    return handle


def _endpoint_handler(
    endpoint: Endpoint[Backend], longest_upload: int
) -> Callable[[Backend, Request], Awaitable[Response]]:
    async def handle(backend: Backend, request: Request) -> Response:
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="headrace-")) if endpoint.upload else ""
            call = await read_call(request, endpoint, longest_upload, Path(folder))
            content = await run_in_threadpool(endpoint.handler, backend, call)
        return await run_in_threadpool(answer, content, endpoint.status)

    return handle


async def _no_route(request: Request, error: Exception) -> Response:
    """Respond with 404 to an unknown path, and to a method that the path does not have, as Flink does."""
    assert isinstance(error, HTTPException)
    status = 404 if error.status_code == 405 else error.status_code
    return error_answer(status, f"Not found: {request.url.path[:200]}" if status == 404 else str(error.detail))


async def _internal_error(request: Request, error: Exception) -> Response:
    _log.error("%s %s", request.method, request.url.path, exc_info=error)
    return error_answer(500, "Internal server error.")


_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def _files() -> dict[str, Path]:
    """Return all files of the UI by path. Nothing else can be requested."""
    root = Path(str(files("headrace.service"))) / "ui"
    return {f"/{path.relative_to(root).as_posix()}": path for path in root.rglob("*") if path.is_file()}


_KNOWN = _files()


def is_page(method: str, path: str) -> bool:
    """Return whether this is a file of the UI, which contains no secrets."""
    return method in ("GET", "HEAD") and (path == "/" or path in _KNOWN)


async def _page(request: Request) -> Response:
    path = _KNOWN.get("/index.html" if request.url.path == "/" else request.url.path)
    if path is None:
        return error_answer(404, f"Unable to load requested file {request.url.path[:200]}.")
    return FileResponse(path, headers=_HEADERS)


_PAGES = [Route("/", _page), *(Route(path, _page) for path in _KNOWN)]


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


_ERROR = {
    "description": "Rejected",
    "content": {
        "application/json": {
            "schema": {"type": "object", "properties": {"errors": {"type": "array", "items": {"type": "string"}}}}
        }
    },
}


def openapi_document(endpoints: Iterable[Endpoint[Any]]) -> dict[str, Any]:
    """Return the document, with the paths without /v1.

    >>> openapi_document([])["openapi"]
    '3.1.0'
    """
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "headrace",
            "version": __version__,
            "description": "Jobs of headrace, with the paths and fields of Apache Flink's REST API v1.",
        },
        "servers": [{"url": "/"}, {"url": "/v1"}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"token": []}],
        "paths": paths,
    }


def _operation(endpoint: Endpoint[Any]) -> dict[str, Any]:
    names = [part[1:-1] for part in endpoint.path.split("/") if part.startswith("{")]
    operation: dict[str, Any] = {
        "operationId": f"{endpoint.method.lower()}_{endpoint.path.strip('/').translate(_PLAIN)}",
        "summary": endpoint.summary,
        "parameters": [
            *({"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names),
            *(_parameter(entry) for entry in endpoint.query),
        ],
        "responses": {str(endpoint.status): {"description": endpoint.summary}, "4XX": _ERROR},
    }
    if endpoint.upload:
        form = {"type": "object", "properties": {"jarfile": {"type": "string", "format": "binary"}}}
        operation["requestBody"] = {"content": {"multipart/form-data": {"schema": form}}}
    elif endpoint.body is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": _schema(endpoint)}}}
    return operation


_PLAIN = str.maketrans({"/": "_", "{": "", "}": "", "-": "_"})


def _parameter(entry: Field) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": entry.name, "in": "query", "schema": {"type": entry.type_name}}
    return {**shown, "required": entry.required, "description": entry.summary}


def _schema(endpoint: Endpoint[Any]) -> dict[str, Any]:
    fields = endpoint.body or ()
    return {
        "type": "object",
        "properties": {e.name: {"type": e.type_name, "description": e.summary} for e in fields},
        "required": [entry.name for entry in fields if entry.required],
        "additionalProperties": endpoint.free_body,
    }
