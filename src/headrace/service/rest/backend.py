"""The interfaces behind the routes: jobs, programs, logs. A dispatcher serves many jobs, a program only its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from headrace.driver.executor import ExecutorView, ThreadView
from headrace.monitoring.job_view import JobView
from headrace.service.logs import ExecutorLogs, Logs
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
