"""The folder where couriers and slot processes of a job meet on one machine, and its clean-up.

    <temporary directory>/headrace-<user id>-<run>/<pid of the executor's Python daemon>/slot-<n>.sock, .pid, .lock

Orders and state travel as pickles, so nobody else may listen or answer here: both folders must belong to this user and be
closed to all others, which is checked before a socket in them is used. Light: couriers import this module.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from headrace.foundation.private_folders import LifeMark, private_folder, require_private

_LONGEST_SOCKET_PATH = 100
"""Unix socket paths are limited to 108 bytes on Linux, 104 on macOS."""
_checked: set[str] = set()


def job_folder(run_id: str) -> Path:
    """Return the folder of all slots of a job's run on this machine; it may not exist. Each driver of a job is one run."""
    name = f"headrace-{os.getuid()}-{run_id[:16]}"
    longest = len(f"/{name}/4194304/slot-9999.sock.new")
    for parent in (tempfile.gettempdir(), "/tmp"):  # noqa: S108 - the folder in it is private
        if len(os.fsencode(parent)) + longest <= _LONGEST_SOCKET_PATH:
            return Path(parent) / name
    return Path("/tmp") / name  # noqa: S108


def executor_folder(job: Path, daemon: int) -> Path:
    """Return the folder of one executor's slots, creating it if needed. Raise an error if it is not private."""
    folder = job / str(daemon)
    if str(folder) not in _checked or not folder.is_dir():
        for part in (folder.parent, folder):
            private_folder(part)
        _checked.add(str(folder))
    return folder


def socket_path(folder: Path, index: int) -> Path:
    """Return where slot `index` listens."""
    return folder / f"slot-{index}.sock"


def stack_path(folder: Path, index: int) -> Path:
    """Return the file where slot `index` writes its stack if it must be killed during a task."""
    return folder / f"slot-{index}.stack"


def start_lock(folder: Path, index: int) -> Path:
    """Return the lock to hold while starting slot `index`."""
    return folder / f"slot-{index}.lock"


def files_folder(folder: Path) -> Path:
    """Return where the slots of an executor unpack the job's files."""
    return folder / "slot-files"


def mark_ending(folder: Path) -> None:
    """Record that the slots in an executor's folder are being ended on purpose. The mark is removed with the folder."""
    with contextlib.suppress(OSError):  # the folder may just have been removed
        (folder / "slot-ending").touch()


def is_ending(folder: Path) -> bool:
    """Return whether the slots in an executor's folder are being ended on purpose, or have been."""
    return not folder.exists() or (folder / "slot-ending").exists()


def life_mark_path(folder: Path, index: int) -> Path:
    """Return the life mark of slot `index`."""
    return folder / f"slot-{index}.pid"


def living_slot(folder: Path, index: int) -> int | None:
    """Return the process id of slot `index` if it is alive; 0 if it has not written its id yet."""
    return _living(life_mark_path(folder, index))


def living_slots(folder: Path) -> Iterator[int]:
    """Yield the process ids of the living slots in an executor's folder."""
    for path in entries(folder, "slot-"):
        pid = _living(path) if path.suffix == ".pid" else None
        if pid is not None:
            yield pid


def _living(path: Path) -> int | None:
    try:
        mark = LifeMark(path, create=False)
    except OSError:
        return None
    try:
        return mark.living()
    finally:
        mark.close()


def entries(folder: Path, prefix: str = "") -> list[Path]:
    """Return the contents of a folder, sorted; empty if it does not exist. Other processes may remove it at any time."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [folder / name for name in sorted(names) if name.startswith(prefix)]


def remove_folder(folder: Path) -> None:
    """Remove an executor's folder, and the job's if it is empty then. All slots in it must be dead."""
    with contextlib.suppress(OSError):
        for leftover in entries(folder, "slot-"):
            if leftover.is_dir():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                leftover.unlink(missing_ok=True)
        folder.rmdir()
    with contextlib.suppress(OSError):
        folder.parent.rmdir()


def sweep_dead_jobs(job: Path) -> None:
    """Remove folders that killed jobs of this user left beside `job`: those whose daemon and slots are all dead."""
    folders = [folder for other in entries(job.parent, f"headrace-{os.getuid()}-") for folder in entries(other)]
    for folder in folders:
        with contextlib.suppress(OSError):
            require_private(folder.parent)
            if folder.name.isdigit() and not is_alive(int(folder.name)) and not any(True for _ in living_slots(folder)):
                remove_folder(folder)


def is_alive(pid: int) -> bool:
    """Return whether a process exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
