"""Operations that take longer than a request. As in Flink, one request starts an operation and later ones poll it.

Operations live as long as this process. After a restart of the service their ids are unknown, as in Flink.
"""

from __future__ import annotations

import re
import threading
import traceback
import uuid
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from headrace.errors import HeadraceError
from headrace.service.errors import NotFoundError, RequestError
from headrace.service.responses.jobs import failure_cause

_KEPT = 1000
_TRIGGER = re.compile(r"[0-9a-f]{32}")


class Operations:
    """The most recently started operations.

    >>> operations = Operations()
    >>> trigger = operations.start("savepoint", "job", None, lambda: {"location": "/backups/1"})
    >>> operations.wait()
    >>> operations.status("savepoint", "job", trigger)
    {'status': {'id': 'COMPLETED'}, 'operation': {'location': '/backups/1'}}
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str, str], dict[str, Any] | None] = OrderedDict()
        self._threads: list[threading.Thread] = []

    def start(self, kind: str, scope: str, trigger: str | None, work: Callable[[], dict[str, Any] | None]) -> str:
        """Start an operation and return its id. Starting it again under the same id has no effect."""
        trigger = uuid.uuid4().hex if trigger is None else _checked(trigger)
        key = (kind, scope, trigger)
        with self._lock:
            if key in self._known:
                return trigger
            self._known[key] = None
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
            thread = threading.Thread(target=self._run, args=(key, work), name=f"{kind}-{trigger[:8]}", daemon=True)
            self._threads = [t for t in self._threads if t.is_alive()] + [thread]
        thread.start()
        return trigger

    def _run(self, key: tuple[str, str, str], work: Callable[[], dict[str, Any] | None]) -> None:
        try:
            result = work() or {}
        except HeadraceError as error:
            result = {"failure-cause": failure_cause(type(error).__name__, str(error))}
        except Exception as error:
            result = {"failure-cause": failure_cause(type(error).__name__, traceback.format_exc())}
        with self._lock:
            if key in self._known:
                self._known[key] = result

    def status(self, kind: str, scope: str, trigger: str) -> dict[str, Any]:
        key = (kind, scope, _checked(trigger))
        with self._lock:
            if key not in self._known:
                raise NotFoundError(f"Could not find the {kind} operation with triggerId={trigger} for {scope}.")
            result = self._known[key]
        return {"status": {"id": "IN_PROGRESS" if result is None else "COMPLETED"}, "operation": result}

    def wait(self) -> None:
        for thread in list(self._threads):
            thread.join()


def _checked(trigger: str) -> str:
    if not _TRIGGER.fullmatch(trigger):
        raise RequestError(f"Bad request, could not parse parameters: {trigger!r} is not a trigger id.")
    return trigger
