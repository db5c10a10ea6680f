"""Runs an app with uvicorn."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from typing import Any

import uvicorn

from headrace.errors import ConfigurationError
from headrace.service.settings import Tls
from headrace.service.web.protocol import protocol_with_limit

__all__ = ["Server", "listening_socket"]

_LONGEST_HEADERS = 64 << 10
_HEADER_SECONDS = 15.0
_MOST_CONNECTIONS = 500


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; the port is known before anything is served."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except (OSError, OverflowError) as error:
        made.close()
        raise ConfigurationError(
            "The service cannot listen there", seen=f"{host}:{port}: {error}", remedy="set rest.port to a free port"
        ) from None
    made.listen(128)
    return made


class Server:
    """A uvicorn server on a socket."""

    def __init__(
        self, app: Any, listening: socket.socket, tls: Tls | None = None, header_seconds: float = _HEADER_SECONDS
    ) -> None:
        """`header_seconds`: how long a client may take to send the headers of a request."""
        self._socket = listening
        client_ca = None if tls is None else tls.client_ca
        config = uvicorn.Config(
            app,
            http=protocol_with_limit(header_seconds),
            ws="none",
            lifespan="off",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=3,
            limit_concurrency=_MOST_CONNECTIONS,
            h11_max_incomplete_event_size=_LONGEST_HEADERS,
            ssl_certfile=None if tls is None else tls.certificate,
            ssl_keyfile=None if tls is None else tls.key,
            ssl_ca_certs=client_ca,
            ssl_cert_reqs=ssl.CERT_NONE if client_ca is None else ssl.CERT_REQUIRED,
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serves until the process is asked to end, or `leave` is called."""
        self._server.run(sockets=[self._socket])

    def run_aside(self) -> None:
        """Serves in a thread of this process, as long as that lives; returns when it does."""
        threading.Thread(target=self.run, name="headrace-rest", daemon=True).start()
        while not self._server.started:
            time.sleep(0.01)

    def leave(self) -> None:
        """Lets `run` return."""
        self._server.should_exit = True
