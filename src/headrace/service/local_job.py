"""A job of this process, for the routes."""

from __future__ import annotations

import logging
import threading
from typing import Any

from headrace.driver.executor import ExecutorView, ThreadView
from headrace.driver.job_master import JobMaster
from headrace.monitoring.job_view import JobView

_log = logging.getLogger("headrace.service")
_SAMPLING_SECONDS = 0.2
"""How long a request for a flame graph waits; the caller polls."""


class LocalJob:
    """Implements `JobGateway` for a job master in this process."""

    def __init__(self, master: JobMaster) -> None:
        self._master = master

    @property
    def job_id(self) -> str:
        return str(self._master.job_id)

    def view(self) -> JobView:
        return self._master.view()

    def executors(self) -> list[ExecutorView]:
        if self._master.status().is_terminal_state():
            return []
        try:
            return self._master.executors()
        except Exception:
            _log.debug("job %s: no executors, Spark is probably stopping", self.job_id, exc_info=True)
            return []

    def threads(self, executor_id: str) -> list[ThreadView]:
        return [] if self._master.status().is_terminal_state() else self._master.threads(executor_id)

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

    def flame_graph(self, vertex: str) -> dict[str, Any]:
        return self._master.flame_graph(vertex, _SAMPLING_SECONDS)
