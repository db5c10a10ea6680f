"""Tells others that a running job needs a savepoint or a checkpoint folder: a lock that ends with the process.

A job holds a shared lock on a file; who wants to remove what the file stands for needs the lock alone. Only for local paths
(and mounted ones whose file system has locks): object stores have no locks.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from headrace.errors import ConfigurationError
from headrace.foundation.private_folders import owner_only
from headrace.state import storage

__all__ = ["CHECKPOINT_LOCK", "METADATA", "Use", "alone_with", "use_of_checkpoints", "use_of_origin"]

METADATA = "_metadata"
"""The manifest of a savepoint, and what jobs that need the savepoint lock."""
CHECKPOINT_LOCK = "in-use"
"""In the folder of a job's checkpoints."""


class Use:
    """Holds the shared locks of one user of a savepoint or folder until it is closed, or the process ends."""

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = descriptor

    def close(self) -> None:
        """Give the lock back."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


def use_of_checkpoints(root: str) -> Use:
    """Mark the local folder of a job's checkpoints as being in use."""
    return _shared(Path(root, CHECKPOINT_LOCK), create=True)


def use_of_origin(directory: str) -> Use:
    """Mark what a job starts from as being in use; `directory` is the folder (or URL) of its state files."""
    local = storage.local_path(directory)
    if local is None:
        return Use()
    metadata = Path(local, METADATA)
    return _shared(metadata if metadata.exists() else Path(local).parent / CHECKPOINT_LOCK)


def _shared(path: Path, create: bool = False) -> Use:
    """Take the lock; a file that cannot be opened or locked marks nothing."""
    with contextlib.suppress(OSError):
        descriptor = owner_only(str(path), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW if create else os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise
        return Use(descriptor)
    return Use()


@contextlib.contextmanager
def alone_with(path: Path, what: str) -> Iterator[None]:
    """Make sure that no running job uses what the file stands for; raise if one does, or if nobody can tell."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:  # of a version that had no such file
        yield
        return
    except OSError as error:
        raise _refusal(what, f"it cannot be opened: {error}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _refusal(what, "a running job needs it") from None
        except OSError as error:
            raise _refusal(what, f"nobody can tell whether a running job needs it: {error}") from error
        yield
    finally:
        os.close(descriptor)


def _refusal(what: str, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"{what} is not removed: {why}",
        seen=what,
        remedy="wait until no job uses it: a restored job needs its savepoint until its first own checkpoint.",
    )
