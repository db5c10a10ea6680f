"""Where the Unix sockets between Spark and its Python processes lie: a folder that only this user can enter.

    <temporary directory>/headrace-py-<random>/.<uuid>.sock

PySpark asks for no secret on a Unix socket: the permissions of the folder are the only guard. The driver makes one and names
it in `spark.python.unix.domain.socket.dir`, which Spark hands to all executors. There `headrace.spark.daemon` makes
the folder of the same name, as the user that the executor runs as.

A process that uses a folder holds a shared lock on it. Whoever gets the exclusive lock knows that nobody uses the folder, and
may remove it: the last user at its end, or the next driver or daemon on the machine if all users were killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import stat
import tempfile
from pathlib import Path

from headrace.foundation.private_folders import private_folder, require_private

_PREFIX = "headrace-py-"
_LONGEST = 60
"""Spark takes 61 characters; with `/.<uuid>.sock` a path may have 107 bytes on Linux, 103 on macOS."""


class SocketFolder:
    """A private folder that this process uses from now on."""

    def __init__(self, path: Path) -> None:
        """Make the folder if need be. Raise `NotPrivateError` if somebody else has made it, or can enter it."""
        self.path = path
        while True:
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile by a process that saw no user
                self._lock = _opened(private_folder(path))
                fcntl.flock(self._lock, fcntl.LOCK_SH)
                if _is_at(path, self._lock):
                    return
                os.close(self._lock)

    @property
    def is_ours(self) -> bool:
        """Whether headrace has chosen the name, and may remove the folder."""
        return self.path.name.startswith(_PREFIX)

    def release(self) -> None:
        """Stop using the folder. The last process that does so removes it, unless the user has named it."""
        fcntl.flock(self._lock, fcntl.LOCK_UN)  # first: of two that end at the same time one must see no other
        if self.is_ours:
            _remove_if_unused(self.path, self._lock)
        os.close(self._lock)


def new_socket_folder() -> SocketFolder:
    """Return a new folder in the temporary directory, or in /tmp where that one is too long or not safe.

    Also remove the folders of dead processes of this user.
    """
    parent = _parent()
    _sweep(parent)
    return SocketFolder(parent / f"{_PREFIX}{secrets.token_hex(4)}")


def socket_folder_of_daemon(named: str | None) -> SocketFolder:
    """Return the folder that the driver has named if this user can have it on this machine; otherwise one of its own.

    The parent may be missing here, or the driver may run on this machine as another user.
    """
    if named is not None and os.path.isdir(os.path.dirname(named)):
        with contextlib.suppress(OSError):
            _sweep(Path(named).parent)
            return SocketFolder(Path(named))
    return new_socket_folder()


def _parent() -> Path:
    name = len(_PREFIX) + 8
    for parent in (tempfile.gettempdir(), "/tmp"):  # noqa: S108 - the folder in it is private
        if len(os.fsencode(parent)) + 1 + name <= _LONGEST and _is_safe(parent):
            return Path(parent)
    return Path("/tmp")  # noqa: S108


def _is_safe(parent: str) -> bool:
    """Whether nobody else can rename what this user makes in a directory."""
    found = os.stat(parent)
    return bool(found.st_mode & stat.S_ISVTX or not found.st_mode & 0o022)


def _sweep(parent: Path) -> None:
    for path in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # another user's, or gone meanwhile
            require_private(path)
            lock = _opened(path)
            try:
                _remove_if_unused(path, lock)
            finally:
                os.close(lock)


def _remove_if_unused(path: Path, lock: int) -> None:
    with contextlib.suppress(OSError):  # somebody uses it
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(path, lock):
            shutil.rmtree(path, ignore_errors=True)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _is_at(path: Path, lock: int) -> bool:
    """Whether the folder that is locked is still the one at this path: another one may have been made there."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(lock))
    except FileNotFoundError:
        return False
