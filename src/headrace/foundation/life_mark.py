"""A lock file that shows whether the process that created it is alive. The lock ends with the process."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from headrace.foundation.private_folders import owner_only


class LifeMark:
    """A file that contains a process id and is locked while that process lives: if it can be locked, the process is dead."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self._file = open(
            path, "a+" if create else "r+", opener=owner_only
        )  # not inherited by programs that the process starts

    def take(self) -> bool:
        """Lock the file for the life of this process. Return False if another process holds the lock."""
        if not self._lock():
            return False
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()
        return True

    def keep(self) -> None:
        """Release the lock only when the process ends, not even when its interpreter ends."""
        os.dup(self._file.fileno())

    def living(self) -> int | None:
        """Return the id of the process that holds the lock, or None if it is dead."""
        if self._lock():
            fcntl.flock(self._file, fcntl.LOCK_UN)
            return None
        self._file.seek(0)
        text = self._file.read()
        return int(text) if text.isdigit() else 0

    def close(self) -> None:
        """Release the lock if this process holds it."""
        self._file.close()

    def _lock(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
