"""What commands ask of a job service, in Flink's paths and fields; waits for what takes its time.

Also finds the service: 1. the address that was given; 2. `rest.address` (and `rest.port`) of the configuration; 3. the one
that runs on this machine, by the file that it writes; 4. `rest.port` (8081) of this machine.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from headrace.cli.client_tls import speaks_https, tls_context
from headrace.cli.errors import NotFoundError, ServiceError
from headrace.cli.rest_client import RestClient
from headrace.config.service_directories import service_directory
from headrace.service.token_notes import noted_token

__all__ = ["TERMINAL", "ServiceClient", "find_service", "service_at"]

TERMINAL = ("FINISHED", "FAILED", "CANCELED")
_POLL_SECONDS = 0.2
_JOB_ID_DIGITS = 32


def find_service(address: str | None, settings: Mapping[str, str]) -> ServiceClient:
    """Give a client of the service that is meant.

    >>> find_service("localhost:1", {}).rest.url
    'http://localhost:1/'
    """
    port = settings.get("rest.port", "8081")
    if address is None and "rest.address" in settings:
        address = f"{settings['rest.address']}:{port}"
    return service_at(address or _noted_address(settings) or f"127.0.0.1:{port}", settings)


def service_at(address: str, settings: Mapping[str, str]) -> ServiceClient:
    """Give a client of the service at an address, with the certificates that the settings name.

    >>> service_at("host:1", {"headrace.service.tls.certificate": "cert.pem"}).rest.url
    'https://host:1/'
    """
    scheme = "https" if speaks_https(settings) else "http"
    url = address if "://" in address else f"{scheme}://{address}"
    directory = service_directory(settings)

    def noted(asked: str) -> str | None:
        return noted_token(directory, urlsplit(asked).netloc)

    # `localhost` may be either family, and another user's service may listen on the other one.
    exact = url.replace("://localhost", "://127.0.0.1", 1)
    return ServiceClient(RestClient(exact if noted(exact) else url, tls=tls_context(settings), noted=noted))


def _noted_address(settings: Mapping[str, str]) -> str | None:
    try:
        noted = json.loads((service_directory(settings) / "service.json").read_text())
        return str(noted["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


class ServiceClient:
    """A job service."""

    def __init__(self, rest: RestClient) -> None:
        self.rest = rest

    def jobs(self) -> list[dict[str, Any]]:
        """Give all jobs, as Flink's overview lists them: those that run first, then the latest first."""
        jobs: list[dict[str, Any]] = self.rest.get("jobs/overview")["jobs"]
        return sorted(jobs, key=lambda job: (job["state"] in TERMINAL, -job["start-time"]))

    def job(self, job_id: str) -> dict[str, Any]:
        """Give what is known of a job."""
        found: dict[str, Any] = self.rest.get(f"jobs/{quote(job_id, safe='')}")
        return found

    def resolve(self, job: str) -> str:
        """Give the id of a job by its id, by the beginning of its id, or by its name if only one that runs has it."""
        if len(job) == _JOB_ID_DIGITS and all(c in "0123456789abcdef" for c in job):
            return job
        jobs = self.jobs()
        fitting = [j for j in jobs if j["jid"].startswith(job)] if len(job) >= 4 else []
        fitting = fitting or [j for j in jobs if j["name"] == job and j["state"] not in TERMINAL]
        if len(fitting) == 1:
            return str(fitting[0]["jid"])
        known = [f"{j['jid']} {j['name']}" for j in jobs if j["state"] not in TERMINAL]
        raise NotFoundError(
            f"{len(fitting)} jobs are meant by this" if fitting else "There is no such job",
            seen=job,
            expected="\n".join(known) or "no job runs",
            remedy="`headrace list --all` shows all jobs",
        )

    def browser_link(self) -> str:
        """Give the address that opens the web UI and signs the browser in; it works once."""
        return self.rest.url.rstrip("/") + str(self.rest.post("sign-in/links")["path"])

    # -- programs -------------------------------------------------------------------------------------------------

    def submit(self, program: Path, name: str, request: Mapping[str, Any]) -> str:
        """Upload a program and start it; give the id of its job. The uploaded copy is deleted again."""
        stored = self.rest.upload("jars/upload", program, name)["filename"]
        jar = quote(stored.rsplit("/", 1)[-1], safe="")
        try:
            return str(self.rest.post(f"jars/{jar}/run", request)["jobid"])
        finally:
            self.rest.delete(f"jars/{jar}")

    def wait_for_end(self, job_id: str) -> str:
        """Wait until a job has ended; give how."""
        while True:
            state = str(self.job(job_id)["state"])
            if state in TERMINAL:
                return state
            time.sleep(_POLL_SECONDS)

    def root_exception(self, job_id: str) -> str | None:
        """Give what made a job fail."""
        found = self.rest.get(f"jobs/{job_id}/exceptions")
        entries = found.get("exceptionHistory", {}).get("entries", [])
        return found.get("root-exception") or (entries[0].get("stacktrace") if entries else None)

    # -- what is done with jobs -----------------------------------------------------------------------------------

    def cancel(self, job_id: str, timeout: float) -> str:
        """Cancel a job and wait until it has ended; give its last state."""
        self.rest.patch(f"jobs/{job_id}?mode=cancel")
        deadline = time.monotonic() + timeout
        while (state := str(self.job(job_id)["state"])) not in TERMINAL and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return state

    def stop(self, job_id: str, directory: str | None, drain: bool) -> str:
        """Stop a job with a savepoint; give the path of that."""
        body = {"drain": drain, **({} if directory is None else {"targetDirectory": directory})}
        return self._location(f"jobs/{job_id}/savepoints", self.rest.post(f"jobs/{job_id}/stop", body))

    def savepoint(self, job_id: str, directory: str | None) -> str:
        """Take a savepoint; give its path."""
        body = {"cancel-job": False, **({} if directory is None else {"target-directory": directory})}
        path = f"jobs/{job_id}/savepoints"
        return self._location(path, self.rest.post(path, body))

    def dispose(self, savepoint: str) -> None:
        """Delete a savepoint."""
        self._result("savepoint-disposal", self.rest.post("savepoint-disposal", {"savepoint-path": savepoint}))

    def checkpoint(self, job_id: str) -> Any:
        """Make a checkpoint now; give its number."""
        path = f"jobs/{job_id}/checkpoints"
        return self._result(path, self.rest.post(path, {"checkpointType": "CONFIGURED"})).get("checkpointId")

    def rescale(self, job_id: str, parallelism: int) -> None:
        """Let a job go on with another parallelism."""
        path = f"jobs/{job_id}/rescaling"
        self._result(path, self.rest.patch(f"{path}?{urlencode({'parallelism': parallelism})}"))

    def _location(self, path: str, answer: Mapping[str, Any]) -> str:
        return str(self._result(path, answer)["location"])

    def _result(self, path: str, answer: Mapping[str, Any]) -> dict[str, Any]:
        """Waits for what was triggered; raises why it failed."""
        trigger = answer["request-id"]
        while (found := self.rest.get(f"{path}/{trigger}"))["status"]["id"] != "COMPLETED":
            time.sleep(_POLL_SECONDS)
        operation: dict[str, Any] = found.get("operation") or {}
        cause = operation.get("failure-cause")
        if cause:
            text = str(cause.get("stack-trace") or cause.get("class") or cause)
            raise ServiceError("The service could not do it", seen=text.strip())
        return operation
