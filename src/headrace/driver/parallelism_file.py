"""Watches a configuration file for another parallelism: editing it rescales the running job."""

from __future__ import annotations

import logging
import os
import time

from headrace.config.config_file import parse_properties

_PAUSE = 0.5
_log = logging.getLogger("headrace")


class ParallelismFile:
    r"""Checks a file now and then; returns its `parallelism.default` when the file has changed since the job began.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
    ...     watched = ParallelismFile(file.name, pause=0)
    ...     before = watched.changed()
    ...     _ = file.write("parallelism.default: 4\n"), file.flush()
    ...     before, watched.changed(), watched.changed()
    (None, 4, None)
    """

    def __init__(self, path: str, pause: float = _PAUSE) -> None:
        """Take the present content as what the job was started with."""
        self._path = path
        self._pause = pause
        self._seen = self._look()
        self._next = time.monotonic() + pause

    def changed(self) -> int | None:
        """Return the new parallelism, once for each change of the file."""
        if time.monotonic() < self._next:
            return None
        self._next = time.monotonic() + self._pause
        now = self._look()
        if now == self._seen:
            return None
        self._seen = now
        try:
            with open(self._path, encoding="utf-8") as file:
                found = parse_properties(file.read(), self._path).get("parallelism.default")
        except (OSError, ValueError):
            return None  # it is being written, or gone: nothing changes
        try:
            return int(found) if found else None
        except ValueError:
            _log.warning("headrace: parallelism.default in %s is not an integer: %r", self._path, found)
            return None

    def look_again(self) -> None:
        """Let `changed` return the parallelism once more: the job could not follow the file yet."""
        self._seen = None

    def _look(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size
