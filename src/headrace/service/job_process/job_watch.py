"""Follows the one job of this process and writes down what becomes of it."""

from __future__ import annotations

import contextlib
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

__all__ = ["JobWatch"]

_SNAPSHOT_SECONDS = 2.0


class JobWatch:
    """Is told of the job by the runtime; satisfies `JobListener`."""

    def __init__(self, folder: JobFolder, control: ControlServer) -> None:
        self._folder = folder
        self._control = control
        self._reached = False
        self._ending: threading.Thread | None = None

    def submitting(self, job_id: str, name: str) -> None:
        """The program has come to its execute()."""
        if self._reached:
            raise InvalidProgramError(
                "A program that is submitted to a service starts one job",
                seen=f"a second job, {name!r}",
                remedy="submit a program for each, or run this one with `python`",
            )
        if job_id != self._folder.job_id:
            raise InvalidProgramError(
                "The program gives its job an id of its own, but the service knows it by another",
                seen=job_id,
                expected=self._folder.job_id,
                remedy="leave headrace.job.id out of the program",
            )
        self._reached = True
        self._folder.write_reached(name)

    def started(self, master: JobMaster) -> None:
        """The job runs."""
        self._control.show(LocalJob(master))
        self._ending = threading.Thread(target=self._follow, args=(master,), name="headrace-watch", daemon=True)
        self._ending.start()

    def _follow(self, master: JobMaster) -> None:
        while not master.status().is_terminal_state():
            self._folder.write_view(master.view())
            with contextlib.suppress(Exception):  # how the job ended is read from its view
                master.wait(_SNAPSHOT_SECONDS)
        view = master.view()
        self._folder.write_view(view)
        error = view.exceptions[-1].text if view.status == "FAILED" and view.exceptions else None
        self._folder.write_end(End(view.status, view.end_ms, error))
        if view.status == "FINISHED":
            self._discard_checkpoints(view)

    def _discard_checkpoints(self, view: JobView) -> None:
        """Nothing starts from the checkpoints of a job that has come to its end."""
        directory = Configuration.from_dict(view.configuration).get(CHECKPOINT_DIRECTORY)
        if directory is not None:
            with contextlib.suppress(HeadraceError, OSError):
                discard_checkpoints(f"{directory}/{view.job_id}")

    def conclude(self, error: str | None) -> None:
        """The program has ended, with an error or without: waits for its job, if it got so far."""
        if self._ending is not None:
            self._ending.join()
            self._control.close()
            return
        text = masked_text(error) if error else "The program ended without starting a job: it must call env.execute()."
        self._folder.write_end(End("FAILED", time.time_ns() // 1_000_000, text))
