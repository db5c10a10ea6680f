"""The dispatcher: the jobs of a store, for the routes. Only the elected leader runs one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from headrace.service.dispatcher.programs import StoredPrograms
from headrace.service.dispatcher.remote_job import RemoteJob
from headrace.service.dispatcher.store import JobStore
from headrace.service.dispatcher.supervisor import Supervisor
from headrace.service.dispatcher.uploads import Uploads
from headrace.service.errors import NotFoundError
from headrace.service.job_folder import JobFolder
from headrace.service.logs import ExecutorLogs, Logs
from headrace.service.responses.jobs import is_over
from headrace.service.rest.backend import JobGateway
from headrace.service.rest.operations import Operations
from headrace.service.settings import ServiceSettings

_END_SECONDS = 60.0
_UNPACKED = 4
"""How many times larger than the longest upload an archive may be when unpacked."""


class Dispatcher:
    """Implements `Backend` for all jobs of a store."""

    def __init__(self, settings: ServiceSettings, address: str, leave: Callable[[], None]) -> None:
        self._settings = settings
        self._leave = leave
        self.address = address
        self.operations = Operations()
        self._store = JobStore(settings.directory / "jobs")
        self._supervisor = Supervisor(settings.restart_attempts)
        self._lock = threading.Lock()
        self._jobs: dict[str, RemoteJob] = {}
        self._folders: dict[str, JobFolder] = {}
        uploads = Uploads(settings.directory / "uploads", _UNPACKED * settings.longest_upload)
        self.programs = StoredPrograms(uploads, self._store, settings, self._adopt)
        self.logs = Logs(settings.directory / "service.log", self._job_logs)
        self.executor_logs = ExecutorLogs(settings.work_directory)

    def start(self) -> None:
        """Adopt the existing jobs: watch those whose process lives, restart the others."""
        self._supervisor.start()
        for folder in self._store.folders():
            self._adopt(folder)

    def stop(self) -> None:
        """Stop watching. The jobs keep running."""
        self._supervisor.stop()

    def _adopt(self, folder: JobFolder) -> None:
        with self._lock:
            self._folders[folder.job_id] = folder
            self._jobs[folder.job_id] = RemoteJob(folder)
        if folder.end() is None:
            self._supervisor.watch(folder)
        self._forget_oldest()

    def _forget_oldest(self) -> None:
        """Keep only the history of the jobs that ended last."""
        ended = [(end.end_ms, folder) for folder in self._store.folders() if (end := folder.end()) is not None]
        ended.sort(key=lambda entry: entry[0])
        for _, folder in ended[: max(0, len(ended) - self._settings.kept_jobs)]:
            with self._lock:
                self._jobs.pop(folder.job_id, None)
                self._folders.pop(folder.job_id, None)
            self._store.forget(folder)

    @property
    def configuration(self) -> dict[str, str]:
        return self._settings.configuration

    def jobs(self) -> list[JobGateway]:
        with self._lock:
            return list(self._jobs.values())

    def job(self, job_id: str) -> JobGateway:
        with self._lock:
            found = self._jobs.get(job_id)
        if found is None:
            raise NotFoundError(f"Job {job_id} not found")
        return found

    def shut_down(self) -> None:
        """Cancel all jobs, then end the service."""

        def end() -> None:
            running = [job for job in self.jobs() if not is_over(job.view().status)]
            for job in running:
                job.cancel()
            deadline = time.monotonic() + _END_SECONDS
            while time.monotonic() < deadline and any(not is_over(job.view().status) for job in running):
                time.sleep(0.1)
            self._leave()

        threading.Thread(target=end, name="headrace-shutdown", daemon=True).start()

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def _job_logs(self) -> dict[str, Path]:
        with self._lock:
            return {f"job-{job_id}.log": folder.log for job_id, folder in self._folders.items()}
