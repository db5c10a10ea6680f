"""The client of a job service: Flink's REST requests, waiting for operations that take longer, certificates.

Where the service is: 1. the given address; 2. `rest.address` (and `rest.port`) of the configuration; 3. the service that
runs on this machine, by the file that it writes; 4. `rest.port` (8081) of this machine.
"""

from __future__ import annotations

import functools
import json
import logging
import ssl
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import quote, urlencode, urlsplit

from headrace.cli.errors import NotFoundError, ServiceError
from headrace.cli.options import address_option, json_option, settings_option
from headrace.cli.rest_client import RestClient
from headrace.config.config_file import load_configuration
from headrace.config.headrace_keys import (
    CLIENT_CA,
    CLIENT_CERTIFICATE,
    CLIENT_KEY,
    SERVICE_CERTIFICATE,
    service_directory,
)
from headrace.errors import ConfigurationError
from headrace.service.tokens import noted_token

F = TypeVar("F", bound=Callable[..., Any])
TERMINAL = ("FINISHED", "FAILED", "CANCELED")
_log = logging.getLogger("headrace.cli")
_POLL_SECONDS = 0.2
_JOB_ID_DIGITS = 32


def find_service(address: str | None, settings: Mapping[str, str]) -> ServiceClient:
    """Return a client of the service.

    >>> find_service("localhost:1", {}).rest.url
    'http://localhost:1/'
    """
    port = settings.get("rest.port", "8081")
    if address is None and "rest.address" in settings:
        address = f"{settings['rest.address']}:{port}"
    return service_at(address or noted_service(settings).get("url") or f"127.0.0.1:{port}", settings)


def service_at(address: str, settings: Mapping[str, str]) -> ServiceClient:
    """Return a client of the service at an address, with the certificates from the settings.

    >>> service_at("host:1", {"headrace.service.tls.certificate": "cert.pem"}).rest.url
    'https://host:1/'
    """
    scheme = "https" if speaks_https(settings) else "http"
    url = address if "://" in address else f"{scheme}://{address}"
    directory = service_directory(settings)

    def noted(asked: str) -> str | None:
        return noted_token(directory, urlsplit(asked).netloc)

    # `localhost` may be IPv4 or IPv6, and another user's service may listen on the other one.
    exact = url.replace("://localhost", "://127.0.0.1", 1)
    return ServiceClient(RestClient(exact if noted(exact) else url, tls=tls_context(settings), noted=noted))


def noted_service(settings: Mapping[str, str]) -> dict[str, Any]:
    """Return what the service of this machine wrote when it began to listen: its `pid` and `url`; empty if none did."""
    try:
        noted = json.loads((service_directory(settings) / "service.json").read_text())
    except (OSError, ValueError) as error:
        _log.debug("no service is noted on this machine: %s", error)
        return {}
    return noted if isinstance(noted, dict) else {}


def service_options(function: F) -> F:
    """Add `-m`, `-D` and `--json` to a command; it gets `service`, a client of the service that they name."""

    @address_option
    @settings_option
    @json_option
    @functools.wraps(function)
    def call(*, address: str | None, settings: dict[str, str], **parameters: Any) -> Any:
        return function(service=find_service(address, load_configuration(overrides=settings)), **parameters)

    return cast(F, call)


class ServiceClient:
    """A client of a job service."""

    def __init__(self, rest: RestClient) -> None:
        self.rest = rest

    def jobs(self) -> list[dict[str, Any]]:
        """Return the entries of Flink's overview: running jobs first, then the latest first."""
        jobs: list[dict[str, Any]] = self.rest.get("jobs/overview")["jobs"]
        return sorted(jobs, key=lambda job: (job["state"] in TERMINAL, -job["start-time"]))

    def job(self, job_id: str) -> dict[str, Any]:
        """Return the details of a job."""
        found: dict[str, Any] = self.rest.get(f"jobs/{quote(job_id, safe='')}")
        return found

    def resolve(self, job: str) -> str:
        """Return the id of a job, given its id, a prefix of its id, or its name if only one running job has it."""
        if len(job) == _JOB_ID_DIGITS and all(c in "0123456789abcdef" for c in job):
            return job
        jobs = self.jobs()
        fitting = [j for j in jobs if j["jid"].startswith(job)] if len(job) >= 4 else []
        fitting = fitting or [j for j in jobs if j["name"] == job and j["state"] not in TERMINAL]
        if len(fitting) == 1:
            return str(fitting[0]["jid"])
        known = [f"{j['jid']} {j['name']}" for j in jobs if j["state"] not in TERMINAL]
        raise NotFoundError(
            f"{len(fitting)} jobs match" if fitting else "There is no such job",
            seen=job,
            expected="\n".join(known) or "no job is running",
            remedy="`headrace list --all` shows all jobs",
        )

    def browser_link(self) -> str:
        """Return the address that opens the web UI and signs the browser in; it works once."""
        return self.rest.url.rstrip("/") + str(self.rest.post("sign-in/links")["path"])

    # -- programs -------------------------------------------------------------------------------------------------

    def submit(self, program: Path, name: str, request: Mapping[str, Any]) -> str:
        """Upload a program, start it, and return the id of its job. Delete the uploaded copy."""
        stored = self.rest.upload("jars/upload", program, name)["filename"]
        jar = quote(stored.rsplit("/", 1)[-1], safe="")
        try:
            return str(self.rest.post(f"jars/{jar}/run", request)["jobid"])
        finally:
            self.rest.delete(f"jars/{jar}")

    def wait_for_end(self, job_id: str) -> str:
        """Wait until a job has ended, and return its state."""
        while True:
            state = str(self.job(job_id)["state"])
            if state in TERMINAL:
                return state
            time.sleep(_POLL_SECONDS)

    def root_exception(self, job_id: str) -> str | None:
        """Return the error that made a job fail."""
        found = self.rest.get(f"jobs/{job_id}/exceptions")
        entries = found.get("exceptionHistory", {}).get("entries", [])
        return found.get("root-exception") or (entries[0].get("stacktrace") if entries else None)

    # -- operations on jobs ---------------------------------------------------------------------------------------

    def cancel(self, job_id: str, timeout: float) -> str:
        """Cancel a job, wait until it has ended, and return its last state."""
        self.rest.patch(f"jobs/{job_id}?mode=cancel")
        deadline = time.monotonic() + timeout
        while (state := str(self.job(job_id)["state"])) not in TERMINAL and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return state

    def stop(self, job_id: str, directory: str | None, drain: bool) -> str:
        """Stop a job with a savepoint, and return the savepoint's path."""
        body = {"drain": drain, **({} if directory is None else {"targetDirectory": directory})}
        return self._location(f"jobs/{job_id}/savepoints", self.rest.post(f"jobs/{job_id}/stop", body))

    def savepoint(self, job_id: str, directory: str | None) -> str:
        """Take a savepoint, and return its path."""
        body = {"cancel-job": False, **({} if directory is None else {"target-directory": directory})}
        path = f"jobs/{job_id}/savepoints"
        return self._location(path, self.rest.post(path, body))

    def dispose(self, savepoint: str) -> None:
        """Delete a savepoint."""
        self._result("savepoint-disposal", self.rest.post("savepoint-disposal", {"savepoint-path": savepoint}))

    def checkpoint(self, job_id: str) -> Any:
        """Trigger a checkpoint, and return its number."""
        path = f"jobs/{job_id}/checkpoints"
        return self._result(path, self.rest.post(path, {"checkpointType": "CONFIGURED"})).get("checkpointId")

    def rescale(self, job_id: str, parallelism: int) -> None:
        """Change the parallelism of a job."""
        path = f"jobs/{job_id}/rescaling"
        self._result(path, self.rest.patch(f"{path}?{urlencode({'parallelism': parallelism})}"))

    def _location(self, path: str, answer: Mapping[str, Any]) -> str:
        return str(self._result(path, answer)["location"])

    def _result(self, path: str, answer: Mapping[str, Any]) -> dict[str, Any]:
        """Wait for a triggered operation, and return its result. Raise its failure."""
        trigger = answer["request-id"]
        while (found := self.rest.get(f"{path}/{trigger}"))["status"]["id"] != "COMPLETED":
            time.sleep(_POLL_SECONDS)
        operation: dict[str, Any] = found.get("operation") or {}
        cause = operation.get("failure-cause")
        if cause:
            text = str(cause.get("stack-trace") or cause.get("class") or cause)
            raise ServiceError("The operation failed", seen=text.strip())
        return operation


def speaks_https(settings: Mapping[str, str]) -> bool:
    """Return whether an address without a scheme means HTTPS: if any setting is set that only HTTPS needs.

    >>> speaks_https({"headrace.client.tls.ca": "ca.pem"}), speaks_https({})
    (True, False)
    """
    keys = (CLIENT_CERTIFICATE.key, CLIENT_KEY.key, CLIENT_CA.key, SERVICE_CERTIFICATE.key)
    return any(settings.get(key) for key in keys)


def tls_context(settings: Mapping[str, str]) -> ssl.SSLContext | None:
    """Return the context for `headrace.client.tls.*`; None if nothing is set, which means the system's authorities.

    >>> tls_context({}) is None
    True
    >>> tls_context({"headrace.client.tls.certificate": "me.pem"})
    Traceback (most recent call last):
    ...
    headrace.errors.ConfigurationError: headrace.client.tls.certificate and headrace.client.tls.key ... [CONFIGURATION]
      remedy:   set both; they may name the same PEM file
    """
    certificate, key, authority = (settings.get(option.key) for option in (CLIENT_CERTIFICATE, CLIENT_KEY, CLIENT_CA))
    if not (certificate or key or authority):
        return None
    if bool(certificate) != bool(key):
        raise ConfigurationError(
            f"{CLIENT_CERTIFICATE.key} and {CLIENT_KEY.key} must be set together",
            remedy="set both; they may name the same PEM file",
        )
    context = _context(authority)
    if certificate:
        try:
            context.load_cert_chain(certificate, key, password=lambda: b"")
        except OSError as error:
            raise _unusable(f"{CLIENT_CERTIFICATE.key}, {CLIENT_KEY.key}", f"{certificate}, {key}", error) from None
    return context


def _context(authority: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=authority or None)
    except OSError as error:
        raise _unusable(CLIENT_CA.key, str(authority), error) from None


def _unusable(keys: str, files: str, error: OSError) -> ConfigurationError:
    return ConfigurationError(
        f"The files of {keys} cannot be used",
        seen=f"{files}: {error}",
        expected="PEM files that this user can read, the key without a passphrase",
    )
