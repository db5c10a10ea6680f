"""One process of the service: it leads, or it waits and redirects clients to the leader.

The leader holds a lock in the shared directory, which ends with its process, however that ends. A suspended process keeps
it, so there are never two leaders. The leader's address is in a file beside the lock.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from headrace.service.dispatcher.dispatcher import Dispatcher
from headrace.service.job_folder import FileLock, read_json, write_json
from headrace.service.rest.backend import Backend
from headrace.service.settings import ServiceSettings

_POLL_SECONDS = 0.5


class Election(Protocol):
    """How to choose the leader."""

    def campaign(self, address: str, elected: Callable[[], None]) -> None:
        """Stand for election; call `elected` in a new thread when this process becomes the leader."""

    def leader(self) -> str | None:
        """Return the address of the leader, if there is one."""

    def resign(self) -> None:
        """Let another process lead."""


class FileElection:
    """Election by a file lock, for dispatchers that share a directory."""

    def __init__(self, directory: Path) -> None:
        self._lock = FileLock(directory / "leader.lock")
        self._note = directory / "leader.json"
        self._over = threading.Event()

    def campaign(self, address: str, elected: Callable[[], None]) -> None:
        def stand() -> None:
            while not self._lock.take():
                if self._over.wait(_POLL_SECONDS):
                    return
            write_json(self._note, {"url": address})
            elected()

        threading.Thread(target=stand, name="headrace-election", daemon=True).start()

    def leader(self) -> str | None:
        if not self._lock.is_taken():
            return None
        note = read_json(self._note)
        return None if note is None else str(note["url"])

    def resign(self) -> None:
        self._over.set()
        self._lock.release()


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
