"""A real service in a process of its own, and a client that speaks HTTP to it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import psutil

from headrace.service.tokens import noted_token

T = TypeVar("T")

NUMBERS = """
import sys
from headrace.common import WatermarkStrategy
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.number_seq import NumberSequenceSource

env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_source(
    NumberSequenceSource(1, int(sys.argv[1])), WatermarkStrategy.for_monotonous_timestamps(), "numbers"
)
counts = numbers.map(lambda v: (v % 3, 1)).key_by(lambda t: t[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
counts.filter(lambda t: False).print()
env.execute("numbers")
"""
ENDLESS = ["1000000000000"]


def wait_for(what: Callable[[], T | None], seconds: float = 30.0) -> T:
    """Asks until there is an answer."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"nothing came of it within {seconds} s")


class Client:
    """Plain HTTP. Follows no redirect, raises nothing: tests look at what came."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.url = url
        self.token = token

    def call(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        status, _, content = self.raw(method, path, body, headers)
        try:
            return status, json.loads(content)
        except ValueError:
            return status, content.decode(errors="replace")

    def raw(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=60)
        sent = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, data, {**sent, "Content-Type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        status, content = self.call("GET", path)
        assert status == 200, (path, status, content)
        return content

    def upload(self, name: str, content: bytes, field: str = "jarfile") -> tuple[int, Any]:
        line = uuid.uuid4().hex
        form = f'--{line}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n'
        data = form.encode() + content + f"\r\n--{line}--\r\n".encode()
        return self.call("POST", "/jars/upload", data, {"Content-Type": f"multipart/form-data; boundary={line}"})

    def program(self, text: str, name: str = "job.py") -> str:
        status, answer = self.upload(name, text.encode())
        assert status == 200, answer
        return str(answer["filename"].rpartition("/")[2])

    def run(self, text: str, arguments: list[str], **settings: str) -> str:
        body = {"programArgsList": arguments, "flinkConfiguration": settings}
        status, answer = self.call("POST", f"/jars/{self.program(text)}/run", body)
        assert status == 200, answer
        return str(answer["jobid"])

    def status(self, job: str) -> str:
        return str(self.get(f"/jobs/{job}/status")["status"])

    def wait_for_status(self, job: str, wanted: str, seconds: float = 40.0) -> None:
        deadline = time.monotonic() + seconds
        while (status := self.status(job)) != wanted:
            assert time.monotonic() < deadline, (job, status, self.get(f"/jobs/{job}/exceptions"))
            time.sleep(0.05)

    def completed_checkpoints(self, job: str) -> int:
        return int(self.get(f"/jobs/{job}/checkpoints")["counts"]["completed"])

    def triggered(self, method: str, path: str, status_path: str, body: Any = None) -> Any:
        """Starts an operation and waits for what comes of it."""
        status, answer = self.call(method, path, body)
        assert status in (200, 202), answer
        where = f"{status_path}/{answer['request-id']}"
        return wait_for(lambda: (found := self.get(where))["status"]["id"] == "COMPLETED" and [found["operation"]])[0]


class Service(Client):
    """`python -m headrace.service` on a free port."""

    def __init__(self, directory: Path, environment: dict[str, str], **settings: str) -> None:
        defaults = {
            "rest.port": "0",
            "headrace.service.dir": str(directory),
            "headrace.executor": "local",
            "parallelism.default": "2",
            "execution.checkpointing.interval": "200 ms",
        }
        given = {**defaults, **{k.replace("__", ".").replace("_", "-"): v for k, v in settings.items()}}
        self.directory = directory
        note = directory / "service.json"
        note.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "headrace.service", *(f"-D{key}={value}" for key, value in given.items())],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

        def listening() -> str | None:
            assert self.process.poll() is None, self.process.stdout.read() if self.process.stdout else ""
            try:
                found = json.loads(note.read_text())
            except (OSError, ValueError):
                return None
            return str(found["url"]) if found["pid"] == self.process.pid else None

        super().__init__(wait_for(listening))
        self.token = noted_token(directory, urlsplit(self.url).netloc)

    def link(self, path: str = "") -> str:
        """An address that opens a page and signs the browser in, once."""
        status, answer = self.call("POST", "/sign-in/links", {})
        assert status == 200, answer
        return f"{self.url}{answer['path']}"

    def leading(self) -> Service:
        wait_for(lambda: self.call("GET", "/overview")[0] == 200)
        return self

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)

    def log_text(self) -> str:
        """The service's own log, as it is on disk."""
        return (self.directory / "service.log").read_text()

    def master(self, job: str) -> int:
        """The process of a job."""
        return int(json.loads((self.directory / "jobs" / job / "control.json").read_text())["pid"])


class Dispatcher:
    """A dispatcher with a token in this process, so that tests can look at its app."""

    def __init__(self, root: Path, longest_upload: int = 100_000, **server: float) -> None:
        from headrace.service.dispatcher.node import FileElection, Node
        from headrace.service.settings import read_settings
        from headrace.service.tokens import TokenFile
        from headrace.service.web.access import AccessRules
        from headrace.service.web.app import make_app
        from headrace.service.web.server import Server, listening_socket

        self.folder = root / "service"
        self.folder.mkdir()
        self.token_file = TokenFile(root / "token")
        self.token = self.token_file.renew()
        settings = read_settings(
            {
                "headrace.service.dir": str(self.folder),
                "headrace.executor": "local",
                "rest.server.max-content-length": str(longest_upload),
            }
        )
        self._node = Node(settings, FileElection(self.folder))
        listening = listening_socket("127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        self.app = make_app(self._node, AccessRules(["flows.example"], self.token_file.accepts), longest_upload)
        self._server = Server(self.app, listening, **server)
        self._server.run_aside()
        self.client, self.anonymous = Client(self.url, self.token), Client(self.url)
        self._node.start(self.url, self._server.leave)
        wait_for(lambda: self.client.call("GET", "/overview")[0] == 200)

    def mutating(self) -> list[tuple[str, str]]:
        """Read from the app itself: a new route cannot be forgotten."""
        found = [(method, route.path) for route in self.app.routes for method in route.methods]
        return [(method, path) for method, path in found if method not in ("GET", "HEAD")]

    def stop(self) -> None:
        self._server.leave()
        self._node.stop()


MARK = "HEADRACE_TEST_RUN"


def heard_by_certificate(start_service: Callable[..., Service], folder: Path) -> Service:
    """A service that hears only clients with a certificate: `cert.pem` is its own, `client.pem` with `client.key` the client's."""

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=20)

    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    names = ("-addext", "subjectAltName=IP:127.0.0.1")
    openssl("req", "-x509", *curve, "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=service", *names)
    openssl("req", "-x509", *curve, "-keyout", "client.key", "-out", "client.pem", "-subj", "/CN=client")
    files = {"certificate": "cert.pem", "key": "key.pem", "client-ca": "client.pem"}
    return start_service(**{f"headrace.service.tls.{key}": str(folder / name) for key, name in files.items()})


def end_marked(mark: str) -> None:
    """Ends the processes that inherited this mark."""
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                process.kill()
        except (psutil.Error, OSError):
            continue
