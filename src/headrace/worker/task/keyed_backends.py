"""Which keyed backend the operators of a job get, and where on this machine a disk backend may write.

    <directory>/slot-state-<letters>/<number>

The directory is the slot's own folder, or `headrace-<user id>-state` in one that the program names or in the temporary
directory; it is refused unless it is private. Nothing stays: a backend removes its part when its
task is closed, and what a killed process has left goes when the next one starts there or when the slot's folder goes. A
process holds a lock on its folder for as long as it lives; that tells the folders of the dead.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from headrace.config.checkpoint_keys import ROCKSDB_DIRECTORIES
from headrace.config.worker_settings import BackendSettings
from headrace.errors import ConfigurationError
from headrace.foundation.private_folders import NotPrivateError, private_folder
from headrace.state.disk import DiskKeyedBackend
from headrace.state.heap import HeapKeyedBackend
from headrace.state.keyed_backend import KeyedBackend
from headrace.worker.slot.folder import entries

__all__ = ["BackendMaker"]

_PREFIX = "slot-state-"
_numbers = itertools.count()


class BackendMaker:
    """Makes the backends of all tasks in this process."""

    def __init__(self, settings: BackendSettings, folder: Path | None) -> None:
        """`folder` is the slot's folder; None where there is none."""
        self._settings = settings
        self._folder = folder
        self._own: Path | None = None
        self._lock = -1
        if settings.on_disk:
            for parent in self._parents():
                if os.path.lexists(parent):
                    _remove_dead(parent)

    def make(self, max_parallelism: int, key_groups: range, sharers: int) -> KeyedBackend:
        """A backend for one operator; `sharers` is between how many the task's memory is divided."""
        if not self._settings.on_disk:
            return HeapKeyedBackend(max_parallelism, key_groups)
        if self._own is None:
            parents = self._parents()
            self._own, self._lock = _own_directory(parents[os.getpid() % len(parents)])
        memory = self._settings.memory // max(1, sharers)
        return DiskKeyedBackend(max_parallelism, key_groups, self._own / str(next(_numbers)), memory)

    def close(self) -> None:
        """Removes what is left."""
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)
            os.close(self._lock)
            self._own = None

    def _parents(self) -> list[Path]:
        shared = f"headrace-{os.getuid()}-state"
        if self._settings.directories:
            return [Path(directory, shared) for directory in self._settings.directories]
        return [self._folder or Path(tempfile.gettempdir(), shared)]


def _own_directory(parent: Path) -> tuple[Path, int]:
    """A directory in `parent` for this process, and the open file that locks it."""
    with _locked(_checked(parent)):
        own = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        lock = os.open(own, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
    return own, lock


def _remove_dead(parent: Path) -> None:
    """Removes the directories of dead processes, also where this one will need none of its own."""
    with _locked(_checked(parent)):
        for other in entries(parent, _PREFIX):
            with contextlib.suppress(OSError), _locked(other, fcntl.LOCK_NB):
                shutil.rmtree(other, ignore_errors=True)


def _checked(parent: Path) -> Path:
    """Make the directory if need be. Its name is no secret, so another user may have made it first."""
    try:
        return private_folder(parent)
    except NotPrivateError as error:
        raise ConfigurationError(
            f"The disk backend cannot keep its state in {parent}: {error}",
            seen=str(parent),
            expected="a directory that only this user can enter",
            remedy=f"remove it, or name other directories with {ROCKSDB_DIRECTORIES.key}",
        ) from error


@contextlib.contextmanager
def _locked(directory: Path, or_fail: int = 0) -> Iterator[None]:
    """Holds the lock of a directory, which ends with the process if not before."""
    lock = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | or_fail)
        yield
    finally:
        os.close(lock)
