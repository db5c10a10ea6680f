"""Read and write small JSON files atomically, and lock files until the process ends."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path
from typing import Any

_TRIES, _PAUSE_SECONDS = 10, 0.02


def write_json(path: Path, content: Any) -> None:
    """Replace a file atomically; only this user can read it.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.json"
    >>> write_json(file, {"a": 1})
    >>> read_json(file)
    {'a': 1}
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def read_json(path: Path) -> Any:
    """Return the content of the file; None if it does not exist."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


class FileLock:
    """A lock that at most one process holds. The system releases it when that process ends, however it ends.

    >>> import tempfile
    >>> lock = FileLock(Path(tempfile.mkdtemp()) / "lock")
    >>> lock.take(), lock.is_taken()
    (True, True)
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: int | None = None

    def take(self) -> bool:
        """Take the lock until this process ends; return False if another process holds it.

        Retries for a moment, because `is_taken` locks the file briefly too.
        """
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        for _ in range(_TRIES):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                time.sleep(_PAUSE_SECONDS)
            else:
                self._held = descriptor
                return True
        os.close(descriptor)
        return False

    def is_taken(self) -> bool:
        if self._held is not None:
            return True
        try:
            descriptor = os.open(self._path, os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    def release(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None
