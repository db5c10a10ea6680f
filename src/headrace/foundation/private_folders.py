"""Folders and files that only this user can enter, read or replace, whatever the umask.

Decides what "private" means: a real directory (no link to one), owned by this user, mode 0700. Used for everything that
headrace keeps below the temporary directory and for checkpoints and savepoints. Imports nothing of headrace, so that the
processes that must start fast can use it.

`tempfile.mkdtemp` is as good for a folder with a random name. A folder with a name that others can guess must come from
`private_folder`: somebody else may have made it first. A `LifeMark` shows whether the process that created it is alive.
"""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path


class NotPrivateError(PermissionError):
    """A folder that must be private belongs to another user, or is accessible to others."""


def private_folder(path: str | os.PathLike[str]) -> Path:
    """Make a private folder if it does not exist, check it, and return its path.

    Raise `NotPrivateError` if it exists and is not private: it is never repaired, because others may have put
    something into it.

    >>> import tempfile
    >>> folder = private_folder(f"{tempfile.mkdtemp()}/mine")
    >>> oct(folder.stat().st_mode & 0o777)
    '0o700'
    """
    if not os.path.lexists(path):
        make_folders(path)
    require_private(path)
    return Path(path)


def make_folders(path: str | os.PathLike[str]) -> None:
    """Make a folder and its missing parents, all of them with mode 0700. Leave folders that exist as they are."""
    folder = Path(path)
    if not folder.parent.is_dir():
        make_folders(folder.parent)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        if not folder.is_dir():
            raise


def require_private(path: str | os.PathLike[str]) -> None:
    """Raise `NotPrivateError` unless `path` is a directory of this user that nobody else can enter."""
    found = os.lstat(path)
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077:
        return
    kind = "directory" if stat.S_ISDIR(found.st_mode) else "link" if stat.S_ISLNK(found.st_mode) else "file"
    raise NotPrivateError(
        f"{os.fspath(path)} must be a directory of user {os.getuid()} with mode 0700, but is a {kind} with owner "
        f"{found.st_uid} and mode {stat.S_IMODE(found.st_mode):04o}; somebody else may have made it: remove it"
    )


def owner_only(path: str, flags: int) -> int:
    """Open a file so that a new one gets mode 0600. Pass it as `opener` to `open`.

    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/secret"
    >>> with open(path, "w", opener=owner_only) as file:
    ...     oct(os.fstat(file.fileno()).st_mode & 0o777)
    '0o600'
    """
    return os.open(path, flags, 0o600)


def make_durable(path: str | os.PathLike[str]) -> None:
    """Make a file, or the names in a folder, survive a crash of the machine."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
