"""Leader election with ZooKeeper, for dispatchers whose shared directory has no reliable locks.

A leader that loses its connection to ZooKeeper does not know whether another one leads. It therefore exits before its
session can expire. The jobs keep running.
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

_SESSION_SECONDS = 10.0
_DOUBT_SECONDS = 6.0
"""How long a leader may be disconnected from ZooKeeper: less than the session timeout."""
_CONNECT_SECONDS = 15.0
_LOST_EXIT_CODE = 3
_log = logging.getLogger("headrace.service")


class ZooKeeperElection:
    """Elects the first of a queue below `path`; the leader's address is in a node that ends with its session."""

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
                "Cannot connect to ZooKeeper", seen=quorum, remedy="check high-availability.zookeeper.quorum"
            ) from None

    def campaign(self, address: str, elected: Callable[[], None]) -> None:
        def stand() -> None:
            self._client.Election(f"{self._path}/queue", identifier=address).run(self._lead, address, elected)

        threading.Thread(target=stand, name="headrace-election", daemon=True).start()

    def _lead(self, address: str, elected: Callable[[], None]) -> None:
        """Lead until this call returns."""
        node = f"{self._path}/leader"
        self._client.ensure_path(self._path)
        try:
            self._client.create(node, address.encode(), ephemeral=True)
        except NodeExistsError:  # from a session that has not ended yet
            self._client.delete(node)
            self._client.create(node, address.encode(), ephemeral=True)
        self._leads = True
        elected()
        self._over.wait()

    def leader(self) -> str | None:
        try:
            return str(self._client.get(f"{self._path}/leader")[0].decode())
        except NoNodeError:
            return None
        except KazooException as error:
            _log.debug("cannot ask ZooKeeper for the leader: %r", error)
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
        """Exit if ZooKeeper has been unreachable for too long or the session is lost: others may lead now."""
        if state == KazooState.LOST or not self._connected.wait(_DOUBT_SECONDS):
            if self._leads:
                _log.error("ZooKeeper is unreachable: this dispatcher exits, its jobs keep running")
                logging.shutdown()
                os._exit(_LOST_EXIT_CODE)
