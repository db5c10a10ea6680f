"""Run an app with uvicorn, with a time limit for the headers of a request."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from headrace.errors import ConfigurationError
from headrace.service.settings import Tls

_LONGEST_HEADERS = 64 << 10
_HEADER_SECONDS = 15.0
_MOST_CONNECTIONS = 500


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket, so that the port is known before anything is served."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except (OSError, OverflowError) as error:
        made.close()
        raise ConfigurationError(
            "The service cannot listen on this address",
            seen=f"{host}:{port}: {error}",
            remedy="set rest.port to a free port",
        ) from None
    made.listen(128)
    return made


class Server:
    """A uvicorn server on a socket."""

    def __init__(
        self, app: Any, listening: socket.socket, tls: Tls | None = None, header_seconds: float = _HEADER_SECONDS
    ) -> None:
        """Create the server; `header_seconds` limits how long a client may take to send the headers of a request."""
        self._socket = listening
        client_ca = None if tls is None else tls.client_ca
        config = uvicorn.Config(
            app,
            http=_protocol_with_limit(header_seconds),
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
        """Serve until the process gets a signal to end, or `leave` is called."""
        self._server.run(sockets=[self._socket])

    def run_aside(self) -> None:
        """Serve in a daemon thread; return once the server has started."""
        threading.Thread(target=self.run, name="headrace-rest", daemon=True).start()
        while not self._server.started:
            time.sleep(0.01)

    def leave(self) -> None:
        self._server.should_exit = True


def _protocol_with_limit(seconds: float) -> type[asyncio.Protocol]:
    """Return a protocol class for uvicorn that closes connections whose headers take longer than `seconds`.

    uvicorn limits only the time between two requests. `bodies` limits the time of a body.
    """

    class TimedProtocol(H11Protocol):
        """Runs a timer while the headers of a request, or the first byte of the first request, are awaited."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._header_timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._header_timer = self.loop.call_later(seconds, self._give_up)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._stop_timer()
            elif self._header_timer is None:
                self._header_timer = self.loop.call_later(seconds, self._give_up)

        def on_response_complete(self) -> None:
            self._stop_timer()  # the response may be complete by the time the request is
            super().on_response_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def _stop_timer(self) -> None:
            if self._header_timer is not None:
                self._header_timer.cancel()
                self._header_timer = None

        def _give_up(self) -> None:
            self._header_timer = None
            if not self.transport.is_closing():
                self.transport.abort()

    return TimedProtocol
