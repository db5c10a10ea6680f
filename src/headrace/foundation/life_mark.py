"""A lock file that shows whether the process that made it is alive. The lock ends with the process."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from headrace.foundation.private_folders import owner_only

__all__ = ["LifeMark"]


class LifeMark:
    """A file with a process id in it, locked as long as that process lives: who can lock it knows that it is dead."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self._file = open(
            path, "a+" if create else "r+", opener=owner_only
        )  # not inherited by programs that the process starts

    def take(self) -> bool:
        """Locks the file for the life of this process; False if another one has it."""
        if not self._lock():
            return False
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()
        return True

    def keep(self) -> None:
        """Lets nothing but the end of the process give the lock back: not even the end of its interpreter."""
        os.dup(self._file.fileno())

    def living(self) -> int | None:
        """The id of the process that holds the lock; None if it is dead."""
        if self._lock():
            fcntl.flock(self._file, fcntl.LOCK_UN)
            return None
        self._file.seek(0)
        text = self._file.read()
        return int(text) if text.isdigit() else 0

    def close(self) -> None:
        """Return the lock back, if this process has it."""
        self._file.close()

    def _lock(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
