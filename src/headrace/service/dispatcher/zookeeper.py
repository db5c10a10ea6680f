"""An election by ZooKeeper, for dispatchers whose shared directory has no locks that can be trusted.

A leader that cannot reach ZooKeeper any more does not know whether another one leads: it ends its process before its session can
be given to others. The jobs go on.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import KazooException, NodeExistsError, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

from headrace.errors import ConfigurationError

__all__ = ["ZooKeeperElection"]

_SESSION_SECONDS = 10.0
_DOUBT_SECONDS = 6.0
"""How long a leader may be without ZooKeeper: less than its session lasts there."""
_CONNECT_SECONDS = 15.0
_LOST_EXIT_CODE = 3
_log = logging.getLogger("headrace.service")


class ZooKeeperElection:
    """The leader is the one whose turn it is in a queue below `path`; its address is in a node that ends with its session."""

    def __init__(self, quorum: str, path: str) -> None:
        self._client = KazooClient(hosts=quorum, timeout=_SESSION_SECONDS)
        self._path = path
        self._over = threading.Event()
        self._connected = threading.Event()
        self._leads = False
        self._client.add_listener(self._state_changed)
        try:
            self._client.start(_CONNECT_SECONDS)
        except KazooTimeoutError:
            raise ConfigurationError(
                "ZooKeeper cannot be reached", seen=quorum, remedy="see high-availability.zookeeper.quorum"
            ) from None

    def campaign(self, address: str, elected: Callable[[], None]) -> None:
        def stand() -> None:
            self._client.Election(f"{self._path}/queue", identifier=address).run(self._lead, address, elected)

        threading.Thread(target=stand, name="headrace-election", daemon=True).start()

    def _lead(self, address: str, elected: Callable[[], None]) -> None:
        """Leads as long as this call lasts."""
        node = f"{self._path}/leader"
        self._client.ensure_path(self._path)
        try:
            self._client.create(node, address.encode(), ephemeral=True)
        except NodeExistsError:  # of a session that has not ended yet
            self._client.delete(node)
            self._client.create(node, address.encode(), ephemeral=True)
        self._leads = True
        elected()
        self._over.wait()

    def leader(self) -> str | None:
        try:
            return str(self._client.get(f"{self._path}/leader")[0].decode())
        except (NoNodeError, KazooException):
            return None

    def resign(self) -> None:
        self._leads = False
        self._over.set()
        self._client.stop()

    def _state_changed(self, state: str) -> None:
        if state == KazooState.CONNECTED:
            self._connected.set()
            return
        self._connected.clear()
        if self._leads:
            threading.Thread(target=self._doubt, args=(state,), name="headrace-doubt", daemon=True).start()

    def _doubt(self, state: str) -> None:
        """Without ZooKeeper for too long, or forgotten by it: others may lead now."""
        if state == KazooState.LOST or not self._connected.wait(_DOUBT_SECONDS):
            if self._leads:
                _log.error("ZooKeeper is out of reach: this dispatcher ends, its jobs go on")
                logging.shutdown()
                os._exit(_LOST_EXIT_CODE)
