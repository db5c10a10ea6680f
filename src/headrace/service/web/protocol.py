"""HTTP/1.1 with a time limit for headers: a connection that does not complete a request's headers in time is closed.

uvicorn limits only the time between two requests. Bodies have limits of their own (`bodies`).
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["protocol_with_limit"]


def protocol_with_limit(seconds: float) -> type[asyncio.Protocol]:
    """Return a protocol class for uvicorn that closes connections whose headers take longer than this."""

    class TimedProtocol(H11Protocol):
        """Has a timer running whenever a request is awaited that has begun, or a first one that has not."""

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
            self._stop_timer()  # the data that completed the request may also have been answered by now
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
