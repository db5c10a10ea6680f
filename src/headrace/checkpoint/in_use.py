"""Marks a savepoint or checkpoint folder as used by a running job: a lock that ends with the process.

A job holds a shared lock on a file; removing what the file belongs to needs an exclusive one. Works for local paths only
(and mounted ones whose file system has locks): object stores have no locks.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
from collections.abc import Iterator
from pathlib import Path

from headrace.errors import ConfigurationError
from headrace.foundation.private_folders import owner_only
from headrace.state import storage

METADATA = "_metadata"
"""The manifest of a savepoint, which jobs that need the savepoint lock."""
CHECKPOINT_LOCK = "in-use"
"""The lock file in the folder of a job's checkpoints."""
_log = logging.getLogger("headrace")


class Use:
    """Holds the shared lock of one user of a savepoint or folder until it is closed, or the process ends."""

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = descriptor

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


def use_of_checkpoints(root: str) -> Use:
    """Mark the local folder of a job's checkpoints as used."""
    return _shared(Path(root, CHECKPOINT_LOCK), create=True)


def use_of_origin(directory: str) -> Use:
    """Mark what a job starts from as used; `directory` is the folder (or URL) of its state files."""
    local = storage.local_path(directory)
    if local is None:
        return Use()
    metadata = Path(local, METADATA)
    return _shared(metadata if metadata.exists() else Path(local).parent / CHECKPOINT_LOCK)


def _shared(path: Path, create: bool = False) -> Use:
    """Take the lock. A file that cannot be opened or locked marks nothing: the job runs without protection."""
    try:
        descriptor = owner_only(str(path), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW if create else os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise
    except OSError as error:
        level = logging.DEBUG if isinstance(error, FileNotFoundError) else logging.WARNING  # older versions have none
        _log.log(level, "headrace: %s cannot be locked, so others could remove it while the job runs: %s", path, error)
        return Use()
    return Use(descriptor)


@contextlib.contextmanager
def alone_with(path: Path, what: str) -> Iterator[None]:
    """Make sure that no running job uses what the file belongs to. Raise if one does, or if nobody can tell."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:  # written by a version without this file
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
