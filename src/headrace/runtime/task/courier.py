"""The courier: what runs inside a Spark task. It brings frames to the slot process that owns the subtask, and its frames on.

Frames for later levels and control frames are passed on unopened. After a failure upstream nothing more is run in the
epoch, the failure itself is passed on to the driver.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from headrace.common.errors import JobExecutionError
from headrace.runtime.task.frames import DATA, FAILURE, Header, header_of
from headrace.runtime.task.slot_protocol import NEEDS_SPEC, Request, socket_path
from headrace.runtime.task.wire import END_OF_FRAMES, Wire

_START_SECONDS = 60


@dataclass(frozen=True)
class LevelRun:
    """One level of one epoch, as its couriers need it."""

    job_id: str
    level: int
    order: bytes
    tasks: frozenset[int]
    """The partitions that have something to do (the others have ended)."""
    next_partitions: int | None
    """Partitions of the next level; None at the last one."""
    slots: int
    spec: Callable[[], bytes]
    """Gives the pickled JobSpec; called only for a new slot."""

    def run(self, partition: int, attempt: int, incoming: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Runs the task of a partition: gives (partition of the next level, frame)."""
        own: list[bytes] = []
        failed = False
        for frame in incoming:
            header = header_of(frame)
            if header.kind == DATA and header.level == self.level:
                own.append(frame)
            else:
                failed = failed or header.kind == FAILURE
                yield from self._onward(partition, header, frame)
        if partition in self.tasks and not failed:
            for frame in self._through_slot(partition, attempt, own):
                yield from self._onward(partition, header_of(frame), frame)

    def _onward(self, partition: int, header: Header, frame: bytes) -> Iterator[tuple[int, bytes]]:
        n = self.next_partitions
        if n is None:
            if header.kind != FAILURE or partition == 0 or header.level == self.level:
                yield 0, frame
        elif header.kind == FAILURE:
            for target in range(n) if header.level == self.level else [partition % n]:
                yield target, frame
        elif header.kind == DATA:
            yield header.partition if header.level == self.level + 1 else header.partition % n, frame
        else:
            yield partition % n, frame

    def _through_slot(self, partition: int, attempt: int, frames: list[bytes]) -> Iterator[bytes]:
        task_id = (self.level, partition)
        wire = connect(self.job_id, partition % self.slots)
        try:
            wire.send(pickle.dumps(Request(self.order, task_id, attempt)))
            wire.flush()
            if wire.receive() == NEEDS_SPEC:
                wire.send(self.spec())
            for frame in frames:
                wire.send(frame)
            wire.send(END_OF_FRAMES)
            wire.flush()
            frames.clear()
            while frame := wire.receive():
                yield frame
        except EOFError as error:
            raise JobExecutionError(
                f"The slot process of task {task_id} of job {self.job_id} has died",
                remedy="if it was killed for its memory, lower the parallelism or the state per slot; Spark runs the task again.",
            ) from error
        finally:
            wire.close()


def slots_directory(job_id: str) -> Path:
    """The folder of the slots of one job on this machine; a folder per executor below it."""
    return Path(tempfile.gettempdir()) / f"headrace-{os.getuid()}-{job_id[:16]}"


def connect(job_id: str, index: int) -> Wire:
    """A connection to slot `index` of this executor, which is started if it is not there."""
    watched = os.getppid()
    directory = slots_directory(job_id) / str(watched)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = socket_path(directory, index)
    wire = _try_connect(path)
    if wire is not None:
        return wire
    with open(path.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wire = _try_connect(path)
        if wire is not None:
            return wire
        path.unlink(missing_ok=True)
        process = _start(directory, index, watched)
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            wire = _try_connect(path)
            if wire is not None:
                return wire
            time.sleep(0.005)
    raise JobExecutionError(
        f"A slot process did not start within {_START_SECONDS} seconds",
        seen=f"exit code {process.poll()}",
        remedy="see the executor's standard error for its traceback.",
    )


def end_slots(job_id: str, directory: Path | None = None) -> None:
    """Tells all slots of a job on this machine (or in one executor's folder) to close their functions and end."""
    folders = [directory] if directory is not None else list(slots_directory(job_id).glob("*"))
    for folder in folders:
        for path in sorted(folder.glob("slot-*.sock")):
            wire = _try_connect(path)
            if wire is None:
                path.unlink(missing_ok=True)
                continue
            with contextlib.suppress(EOFError, OSError):
                wire.send(pickle.dumps(Request()))
                wire.flush()
                wire.receive()
            wire.close()
    _remove_folders(job_id, folders)


def _remove_folders(job_id: str, folders: list[Path]) -> None:
    for folder in folders:
        for leftover in folder.glob("slot-*.lock"):
            leftover.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            folder.rmdir()
    with contextlib.suppress(OSError):
        slots_directory(job_id).rmdir()


def _try_connect(path: Path) -> Wire | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        return None
    return Wire(connection)


def _start(directory: Path, index: int, watched: int) -> subprocess.Popen[bytes]:
    environment = dict(os.environ, PYTHONHASHSEED="0", PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
    command = [sys.executable, "-m", "headrace.runtime.task.slot", str(directory), str(index), str(watched)]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=sys.stderr, start_new_session=True, close_fds=True, env=environment
    )
