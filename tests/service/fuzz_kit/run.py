"""Send hostile requests to a service and watch it: no 5xx, bounded memory, alive at the end, no file touched outside its root."""

from __future__ import annotations

import hashlib
import http.client
import io
import socket
import time
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
from service_kit import NUMBERS, Client

from fuzz_kit.requests import HostileRequests, Request
from headrace.service.rest.routes import ENDPOINTS
from headrace.service.web.access import AccessRules
from headrace.service.web.app import make_app

__all__ = ["Report", "fuzz", "routes_of_the_app"]

_MOST_GROWTH = 200 << 20
_SECONDS = 60.0
"""What a job answers whose process is just starting: no fault of the service, but only where a job is named."""


@dataclass
class Report:
    """What came of it."""

    requests: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    grown: int = 0
    seconds: float = 0.0

    def lines(self) -> list[str]:
        counts = ", ".join(f"{status}: {number}" for status, number in sorted(self.statuses.items()))
        return [
            f"{self.requests} requests in {self.seconds:.0f} s; memory grew by {self.grown >> 20} MB",
            f"answers: {counts}",
            *self.problems[:20],
            f"{len(self.problems)} problems",
        ]


def routes_of_the_app() -> list[tuple[str, str]]:
    """Return (verb, path) of every route of the app but the one that ends the service."""

    class Nobody:
        def backend(self) -> None: ...
        def leader(self) -> None: ...

    app = make_app(Nobody(), AccessRules([], lambda token: False), 1)
    found = [(verb, route.path) for route in app.routes for verb in sorted(route.methods)]
    assert len(found) > 2 * len(ENDPOINTS)
    return [(verb, path) for verb, path in found if not path.endswith("/cluster")]


def fuzz(service: Any, canaries: Path, requests: int, seed: int) -> Report:
    """Send the requests to a running `Service`; `canaries` is a folder beside its own that nothing may touch."""
    report, began = Report(), time.monotonic()
    before = _marks(canaries)
    client = Client(service.url, service.token)
    made = HostileRequests(routes_of_the_app(), service.token, seed)
    process = psutil.Process(service.process.pid)
    programs = [client.program("raise SystemExit(3)"), client.program("x = (", "broken.py"), _bundle(client)]
    job = client.run(NUMBERS, ["100"])
    client.wait_for_status(job, "FINISHED")
    vertices = [vertex["id"] for vertex in client.get(f"/jobs/{job}")["vertices"]]
    real = {"jobid": [job], "jarid": programs, "vertexid": vertices, "subtaskindex": ["0", "1", "2"]}
    real |= {"checkpointid": ["1"], "filename": ["service.log", f"job-{job}.log"], "attempt": ["0"]}
    start = process.memory_info().rss
    for number in range(requests):
        request = made.next(real)
        status = _send(service.url, request)
        report.requests += 1
        report.statuses[str(status)] += 1
        if isinstance(status, int) and status >= 500:
            report.problems.append(
                f"request {number} of seed {seed}: {status} for {request.name}: {request.content[:300]!r}"
            )
        if service.process.poll() is not None:
            report.problems.append(f"request {number} of seed {seed} ended the service: {request.name}")
            break
        if number % 100 == 99:
            report.grown = max(report.grown, process.memory_info().rss - start)
            if process.memory_info().rss - start > _MOST_GROWTH:
                report.problems.append(f"request {number} of seed {seed}: memory grew by {report.grown >> 20} MB")
                break
    if service.process.poll() is None and client.call("GET", "/overview")[0] != 200:
        report.problems.append("the service does not answer any more")
    if _marks(canaries) != before:
        report.problems.append("a file outside of the service's folder has changed")
    report.seconds = time.monotonic() - began
    return report


def _bundle(client: Client) -> str:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("__main__.py", "raise SystemExit(3)")
        made.writestr("headrace-files/a", "x")
    status, answer = client.upload("bundle.zip", out.getvalue())
    assert status == 200, answer
    return str(answer["filename"].rpartition("/")[2])


def _send(url: str, request: Request) -> int | str:
    """Return the status of the answer, or in a word why there is none."""
    place = urlsplit(url)
    try:
        with socket.create_connection((place.hostname or "", place.port or 0), timeout=_SECONDS) as connection:
            try:
                connection.sendall(request.content)
                if not request.complete:
                    connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it was refused before it was complete; the answer may be there all the same
            answer = http.client.HTTPResponse(connection, method=request.name.partition(" ")[0])
            answer.begin()
            if answer.getheader("content-type", "").startswith("text/event-stream"):
                return answer.status  # it goes on as long as somebody listens
            answer.read()
            return answer.status
    except TimeoutError:
        return "no answer in time"
    except (OSError, http.client.HTTPException):
        return "closed"


def _marks(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
