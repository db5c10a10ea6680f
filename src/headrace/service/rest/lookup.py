"""Resolve the names in a path. Raise a 404 for what does not exist and a 400 for what cannot exist."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from headrace.monitoring.job_view import JobView, SubtaskView, VertexView
from headrace.service.errors import NotFoundError, RequestError
from headrace.service.rest.backend import Backend, JobGateway
from headrace.service.rest.endpoint import Call

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
