"""What the routes ask of the service: jobs, programs, logs. A dispatcher answers for many jobs, a process for its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from headrace.driver.executor import ExecutorView, ThreadView
from headrace.monitoring.job_view import JobView
from headrace.service.rest.operations import Operations

__all__ = ["Backend", "ExecutorLogFolder", "JobGateway", "LogFolder", "Programs", "RunRequest"]


class JobGateway(Protocol):
    """The way to one job. All calls but `view` may block until the job has done what is asked."""

    @property
    def job_id(self) -> str: ...
    def view(self) -> JobView: ...
    def executors(self) -> list[ExecutorView]: ...
    def threads(self, executor_id: str) -> list[ThreadView]: ...
    def cancel(self) -> None:
        """Asks the job to end; does not wait for it."""

    def checkpoint(self) -> int: ...
    def savepoint(self, directory: str | None) -> str: ...
    def stop(self, drain: bool, directory: str | None) -> str: ...
    def rescale(self, parallelism: int) -> None: ...
    def flame_graph(self, vertex: str) -> dict[str, Any]:
        """What is known so far; the first call begins to sample. Does not wait for the end of that."""


@dataclass(frozen=True)
class RunRequest:
    """How an uploaded program is to be run."""

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


class LogFolder(Protocol):
    """Log files that may be read."""

    def names(self) -> list[str]: ...
    def find(self, name: str) -> Path: ...
    def main(self) -> Path: ...


class ExecutorLogFolder(Protocol):
    """Log files of executors, as far as they can be reached from here."""

    def of(self, executor: ExecutorView) -> dict[str, Path]: ...


class Backend(Protocol):
    """All that the routes need."""

    @property
    def operations(self) -> Operations: ...
    @property
    def programs(self) -> Programs | None: ...
    @property
    def logs(self) -> LogFolder: ...
    @property
    def executor_logs(self) -> ExecutorLogFolder: ...
    @property
    def configuration(self) -> dict[str, str]: ...
    @property
    def address(self) -> str: ...
    def jobs(self) -> list[JobGateway]: ...
    def job(self, job_id: str) -> JobGateway:
        """The job with this id; raises NotFoundError."""

    def shut_down(self) -> None: ...
    def now(self) -> int:
        """Milliseconds since 1970."""
