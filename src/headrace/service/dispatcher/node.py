"""One process of the service: it leads, or it waits and redirects clients to the leader."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable

from headrace.service.dispatcher.dispatcher import Dispatcher
from headrace.service.dispatcher.election import Election
from headrace.service.files import write_json
from headrace.service.rest.backend import Backend
from headrace.service.settings import ServiceSettings

_log = logging.getLogger("headrace.service")


class Node:
    """Becomes the dispatcher when it is elected."""

    def __init__(self, settings: ServiceSettings, election: Election) -> None:
        self._settings = settings
        self._election = election
        self._lock = threading.Lock()
        self._dispatcher: Dispatcher | None = None
        self._address = ""

    def start(self, address: str, leave: Callable[[], None]) -> None:
        """Stand for election under this address; `leave` ends the process."""
        self._address = address
        note = self._settings.directory / "service.json"
        write_json(note, {"pid": os.getpid(), "url": address})

        def lead() -> None:
            dispatcher = Dispatcher(self._settings, address, leave)
            dispatcher.start()
            write_json(note, {"pid": os.getpid(), "url": address})  # a standby may have written it meanwhile
            with self._lock:
                self._dispatcher = dispatcher
            _log.info("leading as %s", address)

        self._election.campaign(address, lead)

    def backend(self) -> Backend | None:
        """Return the dispatcher that serves requests; None while another process leads."""
        with self._lock:
            return self._dispatcher

    def leader(self) -> str | None:
        """Return the leader's address; None also while this process is about to lead."""
        found = self._election.leader()
        return None if found == self._address else found

    def stop(self) -> None:
        """Let another process lead. The jobs keep running."""
        with self._lock:
            dispatcher, self._dispatcher = self._dispatcher, None
        if dispatcher is not None:
            dispatcher.stop()
        self._election.resign()
