"""Follow the job of this process, and record its views and its end."""

from __future__ import annotations

import contextlib
import logging
import threading
import time

from headrace.checkpoint.disposal import discard_checkpoints
from headrace.config.checkpoint_keys import CHECKPOINT_DIRECTORY
from headrace.config.configuration import Configuration
from headrace.config.masking import masked_text
from headrace.driver.job_master import JobMaster
from headrace.errors import HeadraceError, InvalidProgramError
from headrace.monitoring.job_view import JobView
from headrace.service.job_folder import End, JobFolder
from headrace.service.job_process.control_server import ControlServer
from headrace.service.local_job import LocalJob

_log = logging.getLogger("headrace.service")
_SNAPSHOT_SECONDS = 2.0


class JobWatch:
    """Implements `JobListener`: the runtime tells it about the job."""

    def __init__(self, folder: JobFolder, control: ControlServer) -> None:
        self._folder = folder
        self._control = control
        self._reached = False
        self._ending: threading.Thread | None = None

    def submitting(self, job_id: str, name: str) -> None:
        if self._reached:
            raise InvalidProgramError(
                "A program that is submitted to a service can start only one job",
                seen=f"a second job, {name!r}",
                remedy="submit one program per job, or run this one with `python`",
            )
        if job_id != self._folder.job_id:
            raise InvalidProgramError(
                "The program sets another job id than the service",
                seen=job_id,
                expected=self._folder.job_id,
                remedy="do not set headrace.job.id in the program",
            )
        self._reached = True
        self._folder.write_reached(name)

    def started(self, master: JobMaster) -> None:
        self._control.show(LocalJob(master))
        self._ending = threading.Thread(target=self._follow, args=(master,), name="headrace-watch", daemon=True)
        self._ending.start()

    def _follow(self, master: JobMaster) -> None:
        while not master.status().is_terminal_state():
            self._folder.write_view(master.view())
            with contextlib.suppress(Exception):  # the view tells how the job ended
                master.wait(_SNAPSHOT_SECONDS)
        view = master.view()
        self._folder.write_view(view)
        error = view.exceptions[-1].text if view.status == "FAILED" and view.exceptions else None
        self._folder.write(End(view.status, view.end_ms, error))
        if view.status == "FINISHED":
            self._discard_checkpoints(view)

    def _discard_checkpoints(self, view: JobView) -> None:
        """Discard the checkpoints of a finished job: nothing can start from them."""
        directory = Configuration.from_dict(view.configuration).get(CHECKPOINT_DIRECTORY)
        if directory is not None:
            try:
                discard_checkpoints(f"{directory}/{view.job_id}")
            except (HeadraceError, OSError) as error:
                _log.warning("cannot discard the checkpoints of job %s: %s", view.job_id, error)

    def conclude(self, error: str | None) -> None:
        """Wait for the job of a program that has ended, if it started one. Otherwise record the error."""
        if self._ending is not None:
            self._ending.join()
            self._control.close()
            return
        text = masked_text(error) if error else "The program ended without starting a job: it must call env.execute()."
        self._folder.write(End("FAILED", time.time_ns() // 1_000_000, text))
