"""Choose the keyed backend of a job's operators, and where on this machine a disk backend may write.

    <directory>/slot-state-<letters>/<number>

The directory is the slot's own folder, or `headrace-<user id>-state` in a directory that the program names or in the
temporary directory. It must be private. Nothing is left behind: a backend removes its part when its task is closed, and the
leftovers of a killed process are removed when the next one starts there, or with the slot's folder. A process locks its
folder as long as it lives, so folders of dead processes can be recognized.
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

_PREFIX = "slot-state-"
_numbers = itertools.count()


class BackendMaker:
    """Makes the backends of all tasks in this process."""

    def __init__(self, settings: BackendSettings, folder: Path | None) -> None:
        """`folder` is the slot's folder; None if there is none."""
        self._settings = settings
        self._folder = folder
        self._own: Path | None = None
        self._lock = -1
        if settings.on_disk:
            for parent in self._parents():
                if os.path.lexists(parent):
                    _remove_dead(parent)

    def make(self, max_parallelism: int, key_groups: range, sharers: int) -> KeyedBackend:
        """Return a backend for one operator. `sharers` is the number of operators that share the task's memory."""
        if not self._settings.on_disk:
            return HeapKeyedBackend(max_parallelism, key_groups)
        if self._own is None:
            parents = self._parents()
            self._own, self._lock = _own_directory(parents[os.getpid() % len(parents)])
        memory = self._settings.memory // max(1, sharers)
        return DiskKeyedBackend(max_parallelism, key_groups, self._own / str(next(_numbers)), memory)

    def close(self) -> None:
        """Remove what is left."""
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
    """Create a directory in `parent` for this process. Return it and the descriptor that locks it."""
    with _locked(_checked(parent)):
        own = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        lock = os.open(own, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
    return own, lock


def _remove_dead(parent: Path) -> None:
    """Remove the directories of dead processes, even if this process needs no directory."""
    with _locked(_checked(parent)):
        for other in sorted(parent.glob(f"{_PREFIX}*")):
            with contextlib.suppress(OSError), _locked(other, fcntl.LOCK_NB):
                shutil.rmtree(other, ignore_errors=True)


def _checked(parent: Path) -> Path:
    """Create the directory if needed. Its name is not secret, so another user may have created it first."""
    try:
        return private_folder(parent)
    except NotPrivateError as error:
        raise ConfigurationError(
            f"The disk backend cannot keep its state in {parent}: {error}",
            seen=str(parent),
            expected="a directory that only this user can access",
            remedy=f"remove it, or name other directories with {ROCKSDB_DIRECTORIES.key}",
        ) from error


@contextlib.contextmanager
def _locked(directory: Path, or_fail: int = 0) -> Iterator[None]:
    """Hold the lock of a directory. The lock ends with the process at the latest."""
    lock = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | or_fail)
        yield
    finally:
        os.close(lock)
