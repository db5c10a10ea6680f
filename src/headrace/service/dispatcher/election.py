"""Elect the leader among several dispatchers: the one that holds a lock in their shared directory.

The lock ends with the process that holds it, however that ends. A process that is only suspended keeps it. So there are
never two leaders. The leader's address is in a file beside the lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from headrace.service.files import FileLock, read_json, write_json

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
