"""The folder of a job's state files: made and removed by the driver, or removed by others if the driver is dead.

The driver holds a lock on the file `owner` in it, which names its host. A slot that ends because its executor is gone, or the
next job of the same user on that host, can distinguish a killed driver's folder from one in use by it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
from pathlib import Path

from headrace.foundation.private_folders import LifeMark, make_folders

STATE_PREFIX = "headrace-state-"


class StateFolder:
    """The driver's side."""

    def __init__(self, parent: str | None, job_id: str) -> None:
        """Make and claim a new folder; try another one if a clean-up removed it in between."""
        if parent is not None:
            make_folders(parent)
        while True:
            self.path = tempfile.mkdtemp(prefix=f"{STATE_PREFIX}{job_id[:8]}-", dir=parent)
            owner = Path(self.path) / _owner_name()
            with contextlib.suppress(FileNotFoundError):
                self._mark = LifeMark(owner)
                if self._mark.take() and owner.exists():
                    return
                self._mark.close()

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._mark.close()


def remove_if_abandoned(path: str) -> None:
    """Remove a state folder whose driver ran on this host and is dead, or died before it could claim it."""
    owner = Path(path) / _owner_name()
    with contextlib.suppress(OSError):
        if not owner.exists():
            os.rmdir(path)  # fails if another host's driver has it
            return
        mark = LifeMark(owner)
        dead = mark.living() is None
        if dead:
            shutil.rmtree(path, ignore_errors=True)
        mark.close()


def sweep_abandoned(parent: str | None) -> None:
    """Remove the state folders of this user's killed drivers of this host."""
    for folder in Path(parent or tempfile.gettempdir()).glob(f"{STATE_PREFIX}*"):
        with contextlib.suppress(OSError):
            if folder.lstat().st_uid == os.getuid():
                remove_if_abandoned(str(folder))


def _owner_name() -> str:
    return f"owner-{socket.gethostname()}"
