"""Which keyed backend the operators of a job get, and where on this machine a disk backend may write.

    <directory>/slot-state-<process id>/<number>

The directory is the slot's own folder, or one that the program names. Nothing stays: a backend removes its part when its
task is closed, and what a killed process has left goes when the next one starts there or when the slot's folder goes.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from headrace.state.disk import DEFAULT_MEMORY, DiskKeyedBackend
from headrace.state.heap import HeapKeyedBackend
from headrace.state.keyed_backend import KeyedBackend

__all__ = ["BackendMaker", "BackendSettings"]

_PREFIX = "slot-state-"
_numbers = itertools.count()


@dataclass(frozen=True)
class BackendSettings:
    """What the job says about its keyed state."""

    on_disk: bool = False
    memory: int = DEFAULT_MEMORY
    """Bytes of memory for the state of one task."""
    directories: tuple[str, ...] = ()
    """Local directories to choose from; empty: the slot's folder."""


class BackendMaker:
    """Makes the backends of all tasks in this process."""

    def __init__(self, settings: BackendSettings, folder: Path | None) -> None:
        """`folder` is the slot's folder; None where there is none."""
        self._settings = settings
        self._folder = folder
        self._own: Path | None = None
        if settings.on_disk:
            _remove_dead(self._parent())

    def make(self, max_parallelism: int, key_groups: range, sharers: int) -> KeyedBackend:
        """A backend for one operator; `sharers` is between how many the task's memory is divided."""
        if not self._settings.on_disk:
            return HeapKeyedBackend(max_parallelism, key_groups)
        if self._own is None:
            self._own = _own_directory(self._parent())
        memory = self._settings.memory // max(1, sharers)
        return DiskKeyedBackend(max_parallelism, key_groups, self._own / str(next(_numbers)), memory)

    def close(self) -> None:
        """Removes what is left."""
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)
            self._own = None

    def _parent(self) -> Path:
        directories = self._settings.directories
        if directories:
            return Path(directories[os.getpid() % len(directories)], f"headrace-{os.getuid()}-state")
        if self._folder is not None:
            return self._folder
        return Path(tempfile.gettempdir(), f"headrace-{os.getuid()}-state")


def _own_directory(parent: Path) -> Path:
    """This process's directory in `parent`."""
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    own = parent / f"{_PREFIX}{os.getpid()}"
    own.mkdir(mode=0o700, exist_ok=True)
    return own


def _remove_dead(parent: Path) -> None:
    """Removes the directories of dead processes, also where this one will need none of its own."""
    for other in parent.glob(_PREFIX + "*"):
        pid = other.name.removeprefix(_PREFIX)
        if pid.isdigit() and not _is_alive(int(pid)):
            shutil.rmtree(other, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    with contextlib.suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True
