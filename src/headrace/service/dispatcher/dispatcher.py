"""The dispatcher: the jobs of a store, for the routes; starts uploaded programs. Only the elected leader runs one.

Everything known about a job is in its folder. A program may bundle files in its zip archive, which are unpacked there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from headrace.config.config_file import CONFIGURATION_FILE_VARIABLE, write_configuration
from headrace.config.known_keys import check_options
from headrace.config.masking import masked_text
from headrace.config.pipeline_keys import BUNDLED, MODULES_KEY, moved_settings
from headrace.errors import HeadraceError
from headrace.service.dispatcher.remote_job import RemoteJob
from headrace.service.dispatcher.supervisor import Supervisor
from headrace.service.dispatcher.uploads import UNREADABLE, Uploads
from headrace.service.errors import NotFoundError, RequestError
from headrace.service.job_folder import JobFolder, Submission
from headrace.service.logs import ExecutorLogs, Logs
from headrace.service.responses.jobs import is_over
from headrace.service.rest.backend import JobGateway, RunRequest
from headrace.service.rest.operations import Operations
from headrace.service.settings import ServiceSettings

_ID = re.compile("[0-9a-f]{32}")


class JobStore:
    """The folder that contains the jobs."""

    def __init__(self, root: Path) -> None:
        self._root = root
        root.mkdir(mode=0o700, parents=True, exist_ok=True)

    def folders(self) -> list[JobFolder]:
        """Return all submitted jobs in no particular order."""
        found = [JobFolder(path) for path in self._root.iterdir() if _ID.fullmatch(path.name)]
        return [folder for folder in found if (folder.path / "job.json").is_file()]

    def add(self, submission: Submission, program: Path, configuration: Mapping[str, str]) -> JobFolder:
        """Record a job. Write `job.json` last: without it, the job does not exist."""
        folder = JobFolder(self._root / submission.job_id)
        try:
            os.mkdir(folder.path, 0o700)
        except FileExistsError:
            raise RequestError(f"Job {submission.job_id} has already been submitted.", status=409) from None
        try:
            _place_program(program, folder.path, submission.program)
            write_configuration(folder.configuration_file, configuration)
            folder.write(submission)
        except BaseException as error:
            self.forget(folder)
            if isinstance(error, UNREADABLE) and program.suffix == ".zip":
                raise RequestError(f"The archive cannot be unpacked: {error}.") from None
            raise
        return folder

    def forget(self, folder: JobFolder) -> None:
        shutil.rmtree(folder.path, ignore_errors=True)


def bundled_settings(settings: Mapping[str, str], stored: Path, job_folder: Path) -> dict[str, str]:
    """Return the settings with the paths of bundled files in the job's folder. Raise if the upload does not have them."""
    names = _bundled_names(stored)

    def place(path: str) -> str:
        if not path.startswith(BUNDLED):
            return path
        if path not in names and f"{path}/" not in names:
            raise RequestError(f"Bad request received: the uploaded program does not contain {path[:200]!r}.")
        return str(job_folder / path)

    return moved_settings(settings, place)


def _place_program(stored: Path, job_folder: Path, name: str) -> None:
    """Put an uploaded program into the folder of its job, with its bundled files beside it.

    The copy omits the bundled files: workers get the program as a module, and do not need the files a second time.
    """
    target = job_folder / "program" / name
    target.parent.mkdir()
    if not _bundled_names(stored):
        shutil.copyfile(stored, target)
        return
    with zipfile.ZipFile(stored) as bundle, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as modules:
        for entry in bundle.infolist():
            if entry.filename.startswith(BUNDLED):
                bundle.extract(entry, job_folder)  # its name was checked at the upload
            elif not entry.is_dir():
                with bundle.open(entry) as source, modules.open(entry.filename, "w") as copy:
                    shutil.copyfileobj(source, copy)  # in chunks: it may be much larger than the upload


def _bundled_names(stored: Path) -> set[str]:
    if stored.suffix != ".zip":
        return set()
    with zipfile.ZipFile(stored) as bundle:
        return {name for name in bundle.namelist() if name.startswith(BUNDLED)}


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
