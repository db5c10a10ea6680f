"""The dispatcher: the jobs of a store, for the routes; starts uploaded programs. Only the elected leader runs one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headrace.config.config_file import CONFIGURATION_FILE_VARIABLE, write_configuration
from headrace.config.job_file_keys import MODULES_KEY
from headrace.config.known_keys import check_options
from headrace.config.masking import masked_text
from headrace.errors import HeadraceError
from headrace.service.dispatcher.remote_job import RemoteJob
from headrace.service.dispatcher.store import JobStore, bundled_settings
from headrace.service.dispatcher.supervisor import Supervisor
from headrace.service.dispatcher.uploads import Uploads
from headrace.service.errors import NotFoundError, RequestError
from headrace.service.job_folder import JobFolder, Submission
from headrace.service.logs import ExecutorLogs, Logs
from headrace.service.responses.jobs import is_over
from headrace.service.rest.backend import JobGateway, RunRequest
from headrace.service.rest.operations import Operations
from headrace.service.settings import ServiceSettings

_START_SECONDS = 120.0
_PLAN_SECONDS = 60.0


class StoredPrograms:
    """Implements `Programs`."""

    def __init__(
        self, uploads: Uploads, store: JobStore, settings: ServiceSettings, adopt: Callable[[JobFolder], None]
    ) -> None:
        self._uploads = uploads
        self._store = store
        self._settings = settings
        self._adopt = adopt

    def upload(self, name: str, content: Path) -> Path:
        return self._uploads.add(name, content)

    def listed(self) -> list[dict[str, Any]]:
        return self._uploads.listed()

    def delete(self, program: str) -> None:
        self._uploads.remove(program)

    def run(self, program: str, request: RunRequest) -> str:
        """Return the id of the job once its program has reached execute(). Raise the program's error if it failed."""
        stored = self._uploads.find(program)
        job_id = request.job_id or uuid.uuid4().hex
        name = program.partition("_")[2]
        where = self._settings.directory / "jobs" / job_id
        configuration = self._configuration(request, job_id, where / "program" / name)
        configuration = bundled_settings(configuration, stored, where)
        now = time.time_ns() // 1_000_000
        submission = Submission(job_id, name, request.arguments, request.entry, now)
        folder = self._store.add(submission, stored, configuration)
        self._adopt(folder)
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            end = folder.end()
            if folder.reached() is not None or (end is not None and end.status == "CANCELED"):
                return job_id
            if end is not None:
                raise RequestError(f"The program failed before it started a job:\n{end.error}")
            time.sleep(0.05)
        return job_id  # it is slow but alive: the client can watch it

    def plan(self, program: str, request: RunRequest) -> dict[str, Any]:
        """Run the program up to its execute() in a separate process, and return its plan."""
        stored = self._uploads.find(program)
        with tempfile.TemporaryDirectory(prefix="headrace-plan-") as folder:
            settings = Path(folder) / "configuration.json"
            write_configuration(settings, self._configuration(request, uuid.uuid4().hex, stored))
            command = [sys.executable, "-m", "headrace.service.job_process.plan", str(stored), request.entry or ""]
            try:
                done = subprocess.run(
                    [*command, *request.arguments],
                    cwd=folder,
                    env={**os.environ, CONFIGURATION_FILE_VARIABLE: str(settings)},
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=_PLAN_SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise RequestError(f"The program did not reach its execute() within {_PLAN_SECONDS:.0f} s.") from None
        if done.returncode != 0:
            raise RequestError(f"The program has no plan:\n{masked_text(done.stderr.decode(errors='replace'))[-8000:]}")
        plan: dict[str, Any] = json.loads(done.stdout)
        return plan

    def _configuration(self, request: RunRequest, job_id: str, program: Path) -> dict[str, str]:
        try:
            check_options(request.configuration, "flinkConfiguration")
        except HeadraceError as error:
            raise RequestError(str(error)) from None
        settings = self._settings.job_configuration(request.configuration, job_id)
        if program.suffix == ".zip":  # the workers need its modules too
            settings[MODULES_KEY] = ",".join(part for part in (settings.get(MODULES_KEY), str(program)) if part)
        return settings


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
