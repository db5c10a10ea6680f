"""A job whose master is another process: query its control port while it lives, otherwise read its folder."""

from __future__ import annotations

import http.client
import json
import logging
import threading
import time
from dataclasses import replace
from typing import Any

from headrace.driver.executor import ExecutorView, ThreadView
from headrace.monitoring.job_view import ExceptionView, JobView, blank_view, view_from_json
from headrace.service.errors import RequestError, UnavailableError
from headrace.service.job_folder import End, JobFolder
from headrace.service.responses.jobs import is_over

_log = logging.getLogger("headrace.service")
_FRESH_SECONDS = 0.3
_QUICK_SECONDS = 3.0
_SLOW_SECONDS = 900.0
_SILENT_SECONDS = 5.0
"""How long to leave a process alone that did not respond in time, so that other requests do not queue behind it."""


class _SilentError(UnavailableError):
    """The process lives, but does not respond."""


class RemoteJob:
    """Implements `JobGateway` for the job of a folder."""

    def __init__(self, folder: JobFolder) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._seen: JobView | None = None
        self._seen_at = 0.0
        self._silent_until = 0.0
        self._final: JobView | None = None

    @property
    def job_id(self) -> str:
        return self._folder.job_id

    def view(self) -> JobView:
        if self._final is not None:
            return self._final
        end = self._folder.end()
        if end is not None:
            self._final = self._with_crashes(_ended(self._last_seen(None), end))
            return self._final
        return self._with_crashes(self._living())

    def _living(self) -> JobView:
        with self._lock:
            if self._seen is not None and time.monotonic() - self._seen_at < _FRESH_SECONDS:
                return self._seen
            silent = time.monotonic() < self._silent_until
        if silent:
            return self._last_seen(None)
        try:
            view = view_from_json(self._ask("GET", "/view", None, _QUICK_SECONDS))
        except _SilentError as error:
            _log.debug("%s", error)
            self._silent_until = time.monotonic() + _SILENT_SECONDS
            return self._last_seen(None)
        except RequestError as error:
            _log.debug("job %s: not reachable: %s", self.job_id, error)
            return self._last_seen("RESTARTING" if len(self._folder.starts().starts) > 1 else "INITIALIZING")
        with self._lock:
            self._seen, self._seen_at = view, time.monotonic()
        return view

    def _last_seen(self, status: str | None) -> JobView:
        """Return the last view that the process wrote; `status` replaces its status unless the job had ended."""
        known = self._folder.view()
        if known is not None:
            return known if status is None or is_over(known.status) else replace(known, status=status)
        submission = self._folder.submission()
        start = submission.submitted_ms if submission is not None else 0
        return blank_view(self.job_id, self._folder.reached() or "(starting)", status or "INITIALIZING", start)

    def _with_crashes(self, view: JobView) -> JobView:
        crashes = [
            ExceptionView(at, "JobMasterLost", "The process of the job master was lost.", None, None)
            for at in self._folder.starts().crashes
        ]
        if not crashes:
            return view
        return replace(view, exceptions=tuple(sorted((*crashes, *view.exceptions), key=lambda e: e.timestamp_ms)))

    def executors(self) -> list[ExecutorView]:
        if self._folder.end() is not None:
            return []
        try:
            return [ExecutorView(**entry) for entry in self._ask("GET", "/executors", None, _QUICK_SECONDS)]
        except RequestError as error:
            _log.debug("job %s: no executors: %s", self.job_id, error)
            return []

    def threads(self, executor_id: str) -> list[ThreadView]:
        found = self._ask("POST", "/threads", {"executor": executor_id}, _QUICK_SECONDS)
        return [ThreadView(**entry) for entry in found]

    def cancel(self) -> None:
        """Record the request first: it then holds even if this process dies now, or the job's has not started yet."""
        self._folder.wish_cancelled(time.time_ns() // 1_000_000)
        try:
            self._ask("POST", "/cancel", {}, _QUICK_SECONDS)
        except RequestError as error:
            _log.debug("job %s: cannot be told to cancel, left to the supervisor: %s", self.job_id, error)

    def checkpoint(self) -> int:
        return int(self._ask("POST", "/checkpoint", {}, _SLOW_SECONDS))

    def savepoint(self, directory: str | None) -> str:
        return str(self._ask("POST", "/savepoint", {"directory": directory}, _SLOW_SECONDS))

    def stop(self, drain: bool, directory: str | None) -> str:
        return str(self._ask("POST", "/stop", {"drain": drain, "directory": directory}, _SLOW_SECONDS))

    def rescale(self, parallelism: int) -> None:
        self._ask("POST", "/rescale", {"parallelism": parallelism}, _SLOW_SECONDS)

    def flame_graph(self, vertex: str) -> dict[str, Any]:
        found: dict[str, Any] = self._ask("POST", "/flamegraph", {"vertex": vertex}, _QUICK_SECONDS)
        return found

    def _ask(self, method: str, path: str, body: dict[str, Any] | None, timeout: float) -> Any:
        control = self._folder.control()
        if control is None or not self._folder.lock.is_taken():
            raise UnavailableError(f"The process of job {self.job_id} is not running.")
        connection = http.client.HTTPConnection(control.host, control.port, timeout=timeout)
        headers = {"Authorization": f"Bearer {control.secret}", "Content-Type": "application/json"}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            content = json.loads(answer.read())
        except TimeoutError:
            raise _SilentError(f"The process of job {self.job_id} did not respond in time.") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise UnavailableError(f"The process of job {self.job_id} did not respond: {error}.") from None
        finally:
            connection.close()
        if answer.status == http.client.SERVICE_UNAVAILABLE:
            raise UnavailableError(content["error"])
        if answer.status != http.client.OK:
            raise RequestError(content["error"])
        return content


def _ended(view: JobView, end: End) -> JobView:
    times = {**view.state_timestamps, end.status: end.end_ms}
    exceptions = view.exceptions
    if end.error is not None and not any(entry.text == end.error for entry in exceptions):
        exceptions = (*exceptions, ExceptionView(end.end_ms, "JobFailed", end.error, None, None))
    return replace(view, status=end.status, end_ms=end.end_ms, state_timestamps=times, exceptions=exceptions)
