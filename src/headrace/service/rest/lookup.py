"""From the names in a path to what they name; what does not exist is a 404, what cannot exist a 400."""

from __future__ import annotations

import re
from collections.abc import Callable

from headrace.monitoring.job_view import JobView, SubtaskView, VertexView
from headrace.service.errors import NotFoundError, RequestError
from headrace.service.rest.backend import Backend, JobGateway
from headrace.service.rest.endpoint import Call

__all__ = ["job_of", "subtask_of", "task_manager_of", "vertex_of", "view_of"]

_ID = re.compile(r"[0-9a-fA-F]{32}")


def _id(call: Call, name: str) -> str:
    text = call.path[name]
    if not _ID.fullmatch(text):
        raise RequestError(
            f"Bad request, could not parse parameters: path parameter ({name}) is no id: {text[:100]!r}."
        )
    return text.lower()


def job_of(backend: Backend, call: Call) -> JobGateway:
    """The job that the path names."""
    return backend.job(_id(call, "jobid"))


def view_of(backend: Backend, call: Call) -> JobView:
    """What is known of the job that the path names."""
    return job_of(backend, call).view()


def vertex_of(backend: Backend, call: Call) -> VertexView:
    """The vertex that the path names."""
    wanted = _id(call, "vertexid")
    for vertex in view_of(backend, call).vertices:
        if vertex.vertex_id == wanted:
            return vertex
    raise NotFoundError(f"JobVertex {wanted} not found")


def subtask_of(backend: Backend, call: Call) -> SubtaskView:
    """The subtask that the path names."""
    vertex = vertex_of(backend, call)
    index = call.index("subtaskindex")
    if index >= len(vertex.subtasks):
        raise NotFoundError(f"Invalid subtask index for vertex {vertex.vertex_id}")
    return vertex.subtasks[index]


def task_manager_of(job: JobGateway) -> Callable[[SubtaskView], str]:
    """Says in which executor a subtask runs; not known if its host has several of them."""
    executors = job.executors()

    def find(subtask: SubtaskView) -> str:
        found = executors if len(executors) == 1 else [e for e in executors if e.host == subtask.host]
        return task_manager_id(job.job_id, found[0].id) if subtask.host and len(found) == 1 else "(unassigned)"

    return find


def task_manager_id(job_id: str, executor: str) -> str:
    """Executors belong to a job, so the id names both.

    >>> task_manager_id("0123456789abcdef0123456789abcdef", "driver")
    '01234567-driver'
    """
    return f"{job_id[:8]}-{executor}"
