"""One process of the service: leads, or waits and sends clients to the one that does."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from headrace.service.dispatcher.dispatcher import Dispatcher
from headrace.service.dispatcher.election import Election
from headrace.service.dispatcher.settings import ServiceSettings
from headrace.service.rest.backend import Backend

__all__ = ["Node"]

_log = logging.getLogger("headrace.service")


class Node:
    """Becomes the dispatcher when it is elected."""

    def __init__(self, settings: ServiceSettings, election: Election) -> None:
        self._settings = settings
        self._election = election
        self._lock = threading.Lock()
        self._dispatcher: Dispatcher | None = None

    def start(self, address: str, leave: Callable[[], None]) -> None:
        """Stands for election under this address; `leave` ends the process."""

        def lead() -> None:
            dispatcher = Dispatcher(self._settings, address, leave)
            dispatcher.start()
            with self._lock:
                self._dispatcher = dispatcher
            _log.info("leading as %s", address)

        self._election.campaign(address, lead)

    def backend(self) -> Backend | None:
        """What answers requests; None while another one leads."""
        with self._lock:
            return self._dispatcher

    def leader(self) -> str | None:
        """Where the leader is."""
        return self._election.leader()

    def stop(self) -> None:
        """Lets another one lead; the jobs go on."""
        with self._lock:
            dispatcher, self._dispatcher = self._dispatcher, None
        if dispatcher is not None:
            dispatcher.stop()
        self._election.resign()
