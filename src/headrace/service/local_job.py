"""A job of this process, as the routes see it."""

from __future__ import annotations

import threading

from headrace.runtime.executor import ExecutorView
from headrace.runtime.job_master import JobMaster
from headrace.runtime.job_view import JobView

__all__ = ["LocalJob"]


class LocalJob:
    """The way to a job master in this process; satisfies `JobGateway`."""

    def __init__(self, master: JobMaster) -> None:
        self._master = master

    @property
    def job_id(self) -> str:
        return str(self._master.job_id)

    def view(self) -> JobView:
        return self._master.view()

    def executors(self) -> list[ExecutorView]:
        return [] if self._master.status().is_terminal_state() else self._master.executors()

    def cancel(self) -> None:
        threading.Thread(target=self._master.cancel, name="headrace-cancel", daemon=True).start()

    def checkpoint(self) -> int:
        return self._master.trigger_checkpoint()

    def savepoint(self, directory: str | None) -> str:
        return self._master.trigger_savepoint(directory)

    def stop(self, drain: bool, directory: str | None) -> str:
        return self._master.stop_with_savepoint(drain, directory)

    def rescale(self, parallelism: int) -> None:
        self._master.rescale(parallelism)
