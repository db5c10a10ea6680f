"""Send HTTP requests to a job service, with the standard library only.

Decides how to send a request (JSON, token, upload) and how to report failures. Follows a standby's redirect to the leader,
even for requests that change something. `service_client` decides what to request.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from headrace.cli.errors import NotFoundError, ServiceError, ServiceUnreachableError
from headrace.errors import ConfigurationError

TOKEN_VARIABLE = "HEADRACE_TOKEN"  # noqa: S105 - the name of the variable
_TIMEOUT_SECONDS = 60.0
_REDIRECTS = 3
_TLS_REMEDY = (
    "set headrace.client.tls.ca to the authority of its certificate; if it requires a client certificate, also set "
    "headrace.client.tls.certificate and headrace.client.tls.key"
)
_REDIRECT_CODES = (301, 302, 303, 307, 308)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None  # urllib itself would turn a POST into a GET


class RestClient:
    """A service at an address such as `127.0.0.1:8081` or `https://host/base`; paths are relative to it.

    >>> RestClient("localhost:8081").url
    'http://localhost:8081/'
    """

    def __init__(
        self,
        address: str,
        token: str | None = None,
        tls: ssl.SSLContext | None = None,
        noted: Callable[[str], str | None] = lambda url: None,
    ) -> None:
        """Create a client; the token is by default that of the environment variable HEADRACE_TOKEN.

        `noted` returns the token that a service of this user has noted for an address, which takes precedence.
        `tls` decides which HTTPS services to trust, and which certificate to present to them.
        """
        url = address if "://" in address else f"http://{address}"
        if not _is_address(url):
            raise ConfigurationError(
                "This is not the address of a service", seen=address, expected="host:port or a URL"
            )
        self.url = url.rstrip("/") + "/"
        self._token = token or os.environ.get(TOKEN_VARIABLE)
        self._noted = noted
        # A service on this machine is never behind a proxy of the environment.
        local = urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")
        proxies = [urllib.request.ProxyHandler({})] if local else []
        https = urllib.request.HTTPSHandler(context=tls)
        self._opener = urllib.request.build_opener(_NoRedirects, https, *proxies)

    def get(self, path: str) -> Any:
        """Return the response of a path."""
        return self._request("GET", path)

    def post(self, path: str, body: Any = None) -> Any:
        """Send a POST request with JSON."""
        return self._request("POST", path, json.dumps(body or {}).encode(), "application/json")

    def patch(self, path: str, body: Any = None) -> Any:
        """Send a PATCH request with JSON."""
        return self._request("PATCH", path, json.dumps(body or {}).encode(), "application/json")

    def delete(self, path: str) -> Any:
        """Send a DELETE request."""
        return self._request("DELETE", path)

    def upload(self, path: str, file: Path, name: str | None = None) -> Any:
        """Upload a file as a form, under its own name or another."""
        boundary = secrets.token_hex(16)
        shown = (name or file.name).replace('"', "%22").replace("\r", "").replace("\n", "")
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="jarfile"; filename="{shown}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        body = head.encode() + file.read_bytes() + f"\r\n--{boundary}--\r\n".encode()
        return self._request("POST", path, body, f"multipart/form-data; boundary={boundary}")

    def _request(self, method: str, path: str, body: bytes | None = None, kind: str | None = None) -> Any:
        url = urljoin(self.url, path.lstrip("/"))
        for _ in range(_REDIRECTS + 1):
            request = urllib.request.Request(url, data=body, method=method)  # noqa: S310 - http or https, checked above
            request.add_header("Accept", "application/json")
            if kind is not None:
                request.add_header("Content-Type", kind)
            token = self._noted(url) or self._token
            if token:
                request.add_header("Authorization", f"Bearer {token}")
            try:
                with self._opener.open(request, timeout=_TIMEOUT_SECONDS) as answer:
                    return _json_of(answer.read(), url)
            except urllib.error.HTTPError as error:
                leader = error.headers.get("Location")
                if error.code in _REDIRECT_CODES and leader:
                    url = urljoin(url, leader)
                    if urlsplit(url).scheme in ("http", "https"):
                        continue
                raise _refusal(error, url) from None
            except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
                raise self._unreachable(error) from None
        raise ServiceError("The service redirects in circles", seen=url)

    def _unreachable(self, error: Exception) -> ServiceUnreachableError:
        reason = getattr(error, "reason", error)
        cut_off = isinstance(reason, (ConnectionResetError, BrokenPipeError, http.client.HTTPException))
        if self.url.startswith("https:") and (cut_off or isinstance(reason, ssl.SSLError)):
            return ServiceUnreachableError(
                f"The HTTPS connection to {self.url} failed", seen=str(reason), remedy=_TLS_REMEDY
            )
        if cut_off:
            return ServiceUnreachableError(
                f"The server at {self.url} does not respond like a job service",
                seen=str(reason),
                remedy="start the address with https:// if it is an HTTPS service",
            )
        return ServiceUnreachableError(
            f"No job service responds at {self.url}",
            seen=str(reason),
            remedy="start one with `headrace cluster start`, or set its address with -m HOST:PORT",
        )


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the port is not a number, or too large
        return False


def _json_of(text: bytes, url: str) -> Any:
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except ValueError:
        raise ServiceError(
            "The server is not a job service: its response is not JSON", seen=f"{url}: {text[:100]!r}"
        ) from None


def _refusal(error: urllib.error.HTTPError, url: str) -> ServiceError:
    """Return the service's own message, from Flink's {"errors": [...]}, without the stack trace that may follow."""
    text = error.read()
    try:
        words = [str(part) for part in json.loads(text)["errors"] if part]
    except (ValueError, KeyError, TypeError):
        words = [text[:200].decode(errors="replace").strip()]
    message = next((word for word in words if word), f"HTTP {error.code}")
    if error.code in (401, 403):
        return ServiceError(
            f"The service rejected the request: {message}",
            seen=url,
            remedy=f"set the environment variable {TOKEN_VARIABLE} to its token; to find the token of your own service on "
            "this machine, set headrace.service.dir to the same value as the service",
        )
    kind = NotFoundError if error.code == 404 else ServiceError
    return kind(message, seen=f"{url}, HTTP {error.code}")
