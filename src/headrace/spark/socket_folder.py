"""The folder of the Unix sockets between Spark and its Python processes, which only this user can enter.

    <temporary directory>/headrace-py-<random>/.<uuid>.sock

PySpark requires no secret on a Unix socket, so only the permissions of the folder protect it. The driver creates a folder
and sets `spark.python.unix.domain.socket.dir` to it, which Spark passes to all executors. There, `headrace.spark.daemon`
creates the folder of the same name, as the executor's user.

A process that uses a folder holds a shared lock on it. A process that gets the exclusive lock knows that the folder is
unused, and may remove it: the last process that used it, or the next driver or daemon if all of those were killed.
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
"""Spark accepts 61 characters; with `/.<uuid>.sock` a path may have 107 bytes on Linux, 103 on macOS."""


class SocketFolder:
    """A private folder that this process uses from now on."""

    def __init__(self, path: Path) -> None:
        """Create the folder if needed. Raise `NotPrivateError` if another user owns it or can enter it."""
        self.path = path
        while True:
            with contextlib.suppress(FileNotFoundError):  # a process that found it unused has just removed it
                self._lock = _opened(private_folder(path))
                fcntl.flock(self._lock, fcntl.LOCK_SH)
                if _is_at(path, self._lock):
                    return
                os.close(self._lock)

    @property
    def is_ours(self) -> bool:
        """Return whether headrace has chosen the name, and may remove the folder."""
        return self.path.name.startswith(_PREFIX)

    def release(self) -> None:
        """Stop using the folder. The last process removes it, unless the user has chosen it."""
        fcntl.flock(self._lock, fcntl.LOCK_UN)  # first: if two end at the same time, one must see it unused
        if self.is_ours:
            _remove_if_unused(self.path, self._lock)
        os.close(self._lock)


def new_socket_folder() -> SocketFolder:
    """Return a new folder in the temporary directory, or in /tmp if that is too long or not safe.

    Also remove the folders of dead processes of this user.
    """
    parent = _parent()
    _sweep(parent)
    return SocketFolder(parent / f"{_PREFIX}{secrets.token_hex(4)}")


def socket_folder_of_daemon(named: str | None) -> SocketFolder:
    """Return the folder that the driver has chosen if this user can use it on this machine, otherwise a new one.

    The parent may not exist here, or the driver may run on this machine as another user.
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
    """Return whether no other user can rename what this user creates in a directory."""
    found = os.stat(parent)
    return bool(found.st_mode & stat.S_ISVTX or not found.st_mode & 0o022)


def _sweep(parent: Path) -> None:
    for path in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # it belongs to another user, or has just been removed
            require_private(path)
            lock = _opened(path)
            try:
                _remove_if_unused(path, lock)
            finally:
                os.close(lock)


def _remove_if_unused(path: Path, lock: int) -> None:
    with contextlib.suppress(OSError):  # it is in use
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(path, lock):
            shutil.rmtree(path, ignore_errors=True)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _is_at(path: Path, lock: int) -> bool:
    """Return whether the locked folder is still the one at this path, and not a new one."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(lock))
    except FileNotFoundError:
        return False
