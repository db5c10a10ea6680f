"""The interfaces behind the routes: jobs, programs, logs. A dispatcher serves many jobs, a program only its own.

The names in a path are resolved here: a 404 for what does not exist, a 400 for what cannot exist.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from headrace.driver.executor import ExecutorView, ThreadView
from headrace.monitoring.job_view import JobView, SubtaskView, VertexView
from headrace.service.errors import NotFoundError, RequestError
from headrace.service.logs import ExecutorLogs, Logs
from headrace.service.rest.endpoint import Call
from headrace.service.rest.operations import Operations


class JobGateway(Protocol):
    """Access to one job. All calls except `view` may block until the job has performed the request."""

    @property
    def job_id(self) -> str: ...
    def view(self) -> JobView: ...
    def executors(self) -> list[ExecutorView]: ...
    def threads(self, executor_id: str) -> list[ThreadView]: ...
    def cancel(self) -> None:
        """Ask the job to end; do not wait for it."""

    def checkpoint(self) -> int: ...
    def savepoint(self, directory: str | None) -> str: ...
    def stop(self, drain: bool, directory: str | None) -> str: ...
    def rescale(self, parallelism: int) -> None: ...
    def flame_graph(self, vertex: str) -> dict[str, Any]:
        """Return the samples taken so far. The first call starts sampling and does not wait for it to end."""


@dataclass(frozen=True)
class RunRequest:
    """How to run an uploaded program."""

    arguments: tuple[str, ...] = ()
    entry: str | None = None
    job_id: str | None = None
    configuration: dict[str, str] = field(default_factory=dict)


class Programs(Protocol):
    """Uploaded programs."""

    def upload(self, name: str, content: Path) -> Path: ...
    def listed(self) -> list[dict[str, Any]]: ...
    def delete(self, program: str) -> None: ...
    def run(self, program: str, request: RunRequest) -> str: ...
    def plan(self, program: str, request: RunRequest) -> dict[str, Any]: ...


class Backend(Protocol):
    """The service behind the routes."""

    @property
    def operations(self) -> Operations: ...
    @property
    def programs(self) -> Programs | None: ...
    @property
    def logs(self) -> Logs: ...
    @property
    def executor_logs(self) -> ExecutorLogs: ...
    @property
    def configuration(self) -> dict[str, str]: ...
    @property
    def address(self) -> str: ...
    def jobs(self) -> list[JobGateway]: ...
    def job(self, job_id: str) -> JobGateway:
        """Return the job with this id, or raise NotFoundError."""

    def shut_down(self) -> None: ...
    def now(self) -> int:
        """Return the milliseconds since 1970."""


Handler = Callable[[Backend, Call], Any]
_ID = re.compile(r"[0-9a-fA-F]{32}")


def _id(call: Call, name: str) -> str:
    text = call.path[name]
    if not _ID.fullmatch(text):
        raise RequestError(
            f"Bad request, could not parse parameters: path parameter ({name}) is not an id: {text[:100]!r}."
        )
    return text.lower()


def job_of(backend: Backend, call: Call) -> JobGateway:
    """Return the job that the path names."""
    return backend.job(_id(call, "jobid"))


def view_of(backend: Backend, call: Call) -> JobView:
    """Return the view of the job that the path names."""
    return job_of(backend, call).view()


def from_view(respond: Callable[[JobView], Any]) -> Handler:
    """Return a handler that responds with a function of the view of the job that the path names."""
    return lambda backend, call: respond(view_of(backend, call))


def vertex_of(backend: Backend, call: Call) -> VertexView:
    """Return the vertex that the path names."""
    wanted = _id(call, "vertexid")
    for vertex in view_of(backend, call).vertices:
        if vertex.vertex_id == wanted:
            return vertex
    raise NotFoundError(f"JobVertex {wanted} not found")


def subtask_of(backend: Backend, call: Call) -> SubtaskView:
    """Return the subtask that the path names."""
    vertex = vertex_of(backend, call)
    index = call.index("subtaskindex")
    if index >= len(vertex.subtasks):
        raise NotFoundError(f"Invalid subtask index for vertex {vertex.vertex_id}")
    return vertex.subtasks[index]


def task_manager_of(job: JobGateway) -> Callable[[SubtaskView], str]:
    """Return a function that names the executor of a subtask; unknown if its host has several executors."""
    executors = job.executors()

    def find(subtask: SubtaskView) -> str:
        found = executors if len(executors) == 1 else [e for e in executors if e.host == subtask.host]
        return task_manager_id(job.job_id, found[0].id) if subtask.host and len(found) == 1 else "(unassigned)"

    return find


def task_manager_id(job_id: str, executor: str) -> str:
    """Return an id that names the job and its executor.

    >>> task_manager_id("0123456789abcdef0123456789abcdef", "driver")
    '01234567-driver'
    """
    return f"{job_id[:8]}-{executor}"
