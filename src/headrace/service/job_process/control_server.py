"""The control port through which the dispatcher talks to the process of a job: JSON over HTTP, with a secret.

GET /view, /executors          POST /threads, /cancel, /checkpoint, /savepoint, /stop, /rescale, /flamegraph
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from headrace.errors import HeadraceError
from headrace.service.local_job import LocalJob
from headrace.service.view_json import view_to_json

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
