"""REST and web UI inside the process of a program, for the jobs of that program (`headrace.ui: true`).

The runtime calls this when a job starts. There is one server per process, and it lives as long as the process.
"""

from __future__ import annotations

import atexit
import sys
import threading
import time

from headrace.config.configuration import Configuration
from headrace.driver.job_master import JobMaster
from headrace.service.errors import NotFoundError
from headrace.service.local_job import LocalJob
from headrace.service.logs import ExecutorLogs, Logs
from headrace.service.rest.backend import Backend, JobGateway
from headrace.service.rest.operations import Operations
from headrace.service.settings import ServiceSettings, read_settings
from headrace.service.web.access import guard_for
from headrace.service.web.app import make_app
from headrace.service.web.server import Server, listening_socket

_lock = threading.Lock()
_running: list[EmbeddedService] = []


def service_for(configuration: Configuration) -> EmbeddedService:
    """Return the service of this process; start it if this is the first job that needs it."""
    with _lock:
        if not _running:
            settings = read_settings({key: str(value) for key, value in configuration.to_dict().items()})
            _running.append(EmbeddedService(settings))
        return _running[0]


class EmbeddedService:
    """Implements `Backend` and `Host` for the jobs of this process, and `JobListener` to learn about them."""

    programs = None

    def __init__(self, settings: ServiceSettings) -> None:
        self.operations = Operations()
        self.logs = Logs(None, dict)
        self.executor_logs = ExecutorLogs(settings.work_directory)
        self.configuration = settings.configuration
        self._jobs: dict[str, LocalJob] = {}
        listening = listening_socket(settings.bind_address, settings.port)
        self.address = settings.url(listening.getsockname()[1])
        guard = guard_for(settings, listening)
        atexit.register(guard.end)
        Server(make_app(self, guard.rules, settings.longest_upload), listening, settings.tls).run_aside()
        sys.stderr.write(f"headrace: {guard.said}\n")
        if sys.stderr.isatty():  # others could find a link in a log before its user opens it
            sys.stderr.write(f"headrace: open it in a browser (the link works once): {guard.link(self.address)}\n")

    def submitting(self, job_id: str, name: str) -> None:
        """Do nothing: no preparation is needed."""

    def started(self, master: JobMaster) -> None:
        self._jobs[str(master.job_id)] = LocalJob(master)

    def backend(self) -> Backend:
        return self

    def leader(self) -> str:
        return self.address

    def jobs(self) -> list[JobGateway]:
        return list(self._jobs.values())

    def job(self, job_id: str) -> JobGateway:
        try:
            return self._jobs[job_id]
        except KeyError:
            raise NotFoundError(f"Job {job_id} not found") from None

    def shut_down(self) -> None:
        """Cancel the jobs. The program decides when the process ends."""
        for job in self.jobs():
            job.cancel()

    def now(self) -> int:
        return time.time_ns() // 1_000_000
