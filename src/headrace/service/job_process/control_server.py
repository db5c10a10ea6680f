"""The control port through which the dispatcher talks to the process of a job: JSON over HTTP, with a secret.

GET /view, /executors          POST /threads, /cancel, /checkpoint, /savepoint, /stop, /rescale, /flamegraph

The views of the job and its end are also recorded in its folder.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import logging
import secrets
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from headrace.checkpoint.disposal import discard_checkpoints
from headrace.config.checkpoint_keys import CHECKPOINT_DIRECTORY
from headrace.config.configuration import Configuration
from headrace.config.masking import masked_text
from headrace.driver.job_master import JobMaster
from headrace.errors import HeadraceError, InvalidProgramError
from headrace.monitoring.job_view import JobView, view_to_json
from headrace.service.job_folder import End, JobFolder
from headrace.service.local_job import LocalJob

_LONGEST_BODY = 1 << 20
_LAST_ANSWERS_SECONDS = 5.0


class ControlServer:
    """Listens from the start of the process; responds with 503 until the job exists."""

    def __init__(self, host: str) -> None:
        self.secret = secrets.token_urlsafe(32)
        self._job: LocalJob | None = None
        self._asked = threading.Condition()
        self._answering = 0
        self._server = ThreadingHTTPServer((host, 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, name="headrace-control", daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def show(self, job: LocalJob) -> None:
        self._job = job

    def close(self) -> None:
        """Wait until pending requests, such as the one that ended the job, have their responses."""
        with self._asked:
            self._asked.wait_for(lambda: self._answering == 0, _LAST_ANSWERS_SECONDS)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Count a request as pending until its response is sent."""
        with self._asked:
            self._answering += 1
        try:
            yield
        finally:
            with self._asked:
                self._answering -= 1
                self._asked.notify_all()

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        job = self._job
        if job is None:
            return 503, {"class": "UnavailableError", "error": "The job is starting"}
        action = _ACTIONS.get((method, path))
        if action is None:
            return 404, {"class": "NotFoundError", "error": f"Not found: {path}"}
        try:
            return 200, action(job, body)
        except HeadraceError as error:
            return 400, {"class": type(error).__name__, "error": str(error)}
        except Exception as error:
            return 400, {"class": type(error).__name__, "error": traceback.format_exc()}


_ACTIONS: dict[tuple[str, str], Callable[[LocalJob, dict[str, Any]], Any]] = {
    ("GET", "/view"): lambda job, body: view_to_json(job.view()),
    ("GET", "/executors"): lambda job, body: [asdict(entry) for entry in job.executors()],
    ("POST", "/threads"): lambda job, body: [asdict(entry) for entry in job.threads(body["executor"])],
    ("POST", "/cancel"): lambda job, body: job.cancel(),
    ("POST", "/checkpoint"): lambda job, body: job.checkpoint(),
    ("POST", "/savepoint"): lambda job, body: job.savepoint(body["directory"]),
    ("POST", "/stop"): lambda job, body: job.stop(body["drain"], body["directory"]),
    ("POST", "/rescale"): lambda job, body: job.rescale(body["parallelism"]),
    ("POST", "/flamegraph"): lambda job, body: job.flame_graph(body["vertex"]),
}


def _handler(control: ControlServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 60

        def do_GET(self) -> None:
            self._serve("GET")

        def do_POST(self) -> None:
            self._serve("POST")

        def _serve(self, method: str) -> None:
            given = self.headers.get("Authorization", "")
            length = self.headers.get("Content-Length", "0")
            if not hmac.compare_digest(given.encode(), f"Bearer {control.secret}".encode()):
                self._send(401, {"class": "RequestError", "error": "The secret is wrong"})
            elif not length.isdigit() or int(length) > _LONGEST_BODY:
                self._send(413, {"class": "RequestError", "error": "The body is too long"})
            else:
                content = self.rfile.read(int(length))
                with control.answering():
                    self._send(*control.answer(method, self.path, json.loads(content) if content else {}))

        def _send(self, status: int, content: Any) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass  # a request each second would fill the log of the job

    return Handler


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
