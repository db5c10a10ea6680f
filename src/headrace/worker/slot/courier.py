"""The courier runs inside a Spark task: it carries frames to the slot process that owns the subtask, and its frames onward.

Frames for later levels and control frames are forwarded unopened. After a failure upstream, nothing more runs in the
epoch; the failure itself is forwarded to the driver. If the slot dies, the courier fails and Spark retries the task: the
new slot starts from the task's state files. Imports as little as possible, because every Python worker of Spark pays for it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from headrace.worker.exchange.frames import DATA, FAILURE, Header, header_of
from headrace.worker.slot.folder import (
    executor_folder,
    files_folder,
    is_ending,
    job_folder,
    living_slot,
    socket_path,
    stack_path,
    start_lock,
)
from headrace.worker.slot.placement import Place, place_of
from headrace.worker.slot.wire import END_OF_FRAMES, NEEDS_SPEC, STACK_SIGNAL, TIMEOUT_GRACE, Request, Wire
from headrace.worker.task_name import TaskName

if TYPE_CHECKING:
    from headrace.config.worker_settings import TimeLimit

_CONNECT_ATTEMPTS = 3
_DAEMONS = ("pyspark.daemon", "headrace.spark.daemon")
"""The programs that fork Python workers. PySpark's own is used if the user created the SparkContext."""


class SlotLostError(Exception):
    """The slot process died while it worked for this courier."""


class LevelRun(NamedTuple):
    """One level of one epoch, as its couriers see it."""

    run_id: str
    """Identifies this driver's run of the job; part of the name of its slots' folder."""
    level: int
    order: bytes
    tasks: frozenset[int]
    """The partitions that still run (the others have ended)."""
    next_partitions: int | None
    """Number of partitions of the next level; None at the last one."""
    slots: int
    """Slot processes per executor: one for each task that it runs at a time."""
    spec: Callable[[], bytes]
    """Returns the pickled JobSpec; called only for a new slot."""
    names: tuple[TaskName, ...]
    """Names of the level's tasks, by partition."""
    epoch: int = 0
    folder: str | None = None
    """The folder of the job's slots, if the driver knows it (it runs on the same machine)."""
    python: str | None = None
    """The interpreter that the program asked for; None: the courier's own."""
    python_in_archive: bool = False
    """Whether the interpreter is inside an archive of the job."""
    limit: TimeLimit | None = None
    """How long a task of the level may take; None: no limit."""

    def run(self, partition: int, attempt: int, incoming: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Run the task of a partition. Yield (partition of the next level, frame)."""
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
        request = Request(self.order, (self.level, partition), attempt, self.limit)
        folder = job_folder(self.run_id) if self.folder is None else Path(self.folder)
        executor = executor_folder(folder, _daemon())
        place = place_of(executor, self.slots, self.level, partition, self.epoch)
        name = self.names[partition]
        accepted = False
        try:
            with self._accepted(folder, place, request) as wire:
                accepted = True
                for frame in frames:
                    wire.send(frame)
                wire.send(END_OF_FRAMES)
                wire.flush()
                frames.clear()
                while frame := wire.receive():
                    yield frame
        except TimeoutError:
            stack = kill_slot(folder, place.slot)
            if not stack or not accepted:
                raise _lost(f"the slot process of {name} did not answer and was killed") from None
            yield self._timed_out(request, name, stack)
        except (EOFError, ConnectionError):
            if is_ending(folder / str(_daemon())):  # the job was cancelled: nothing is lost, and nothing is retried
                raise SlotLostError(f"the slot process of {name} was ended with its job") from None
            raise _lost(f"the slot process of {name} died") from None

    def _timed_out(self, request: Request, name: TaskName, stack: str) -> bytes:
        """Return the failure frame of a task whose slot could not send it."""
        from headrace.errors import TaskTimeoutError
        from headrace.worker.failures import failure_frame

        assert self.limit is not None, "without a limit, a courier waits forever"
        error = TaskTimeoutError.after(*self.limit, stack=stack, operator_name=name.operators, subtask=name.subtask)
        return failure_frame(request.task_id, request.attempt, error)

    def _python_in(self, folder: Path) -> str | None:
        """Return the interpreter for a new slot in an executor's folder. Unpack its archive first if needed."""
        if self.python is None or not self.python_in_archive:
            return self.python
        from headrace.worker.unpacking import unpack_files

        spec = pickle.loads(self.spec())  # noqa: S301 - the job's own code
        unpacked = unpack_files(spec.files, files_folder(folder))
        return str(Path(unpacked.working_directory or "") / self.python)

    def _accepted(self, folder: Path, place: Place, request: Request) -> Wire:
        """Return a connection to a slot that accepted the request and has the job's spec."""
        for attempts_left in reversed(range(_CONNECT_ATTEMPTS)):
            wire = connect(folder, place.slot, self._python_in)
            try:
                if self.limit is not None:  # the slot may run its other tasks of the level first
                    wire.wait_at_most(place.tasks * self.limit.seconds + TIMEOUT_GRACE)
                wire.send(pickle.dumps(request))
                wire.flush()
                answer = wire.receive()
                if self.limit is not None:
                    wire.wait_at_most(self.limit.seconds + TIMEOUT_GRACE)
                if answer == NEEDS_SPEC:
                    wire.send(self.spec())
                return wire
            except (EOFError, ConnectionError):
                # The slot was about to exit. It has not done anything for this request yet.
                wire.close()
                if not attempts_left:
                    raise
                time.sleep(0.05)
        raise AssertionError("unreachable")


def _same_python(folder: Path) -> None:
    """Choose the courier's own interpreter."""


def connect(job: Path, index: int, python: Callable[[Path], str | None] = _same_python) -> Wire:
    """Return a connection to slot `index` of this executor, starting the slot if needed. `job` is the job's folder.

    `python` returns the interpreter for a new slot in the executor's folder, None for the courier's own.
    """
    daemon = _daemon()
    folder = executor_folder(job, daemon)
    path = socket_path(folder, index)
    wire = _try_connect(path)
    if wire is not None:
        return wire
    from headrace.worker.slot.launch import START_SECONDS, start_slot  # only the first courier of a slot needs it

    deadline = time.monotonic() + START_SECONDS
    with open(start_lock(folder, index), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        while (wire := _try_connect(path)) is None:
            pid = living_slot(folder, index)
            if pid is None:
                path.unlink(missing_ok=True)
                start_slot(folder, index, daemon, python(folder))
            elif time.monotonic() > deadline:
                raise SlotLostError(f"slot {index} (process {pid}) does not listen; kill it if it hangs")
            else:  # started by a courier that died while it waited
                time.sleep(0.01)
    return wire


def kill_slot(job: Path, index: int) -> str:
    """Kill slot `index` of this executor and all processes that it started. Return its stack, if it could write one."""
    folder = executor_folder(job, _daemon())
    pid = living_slot(folder, index)
    if not pid:
        return ""
    stack = ""
    with contextlib.suppress(OSError):
        path = stack_path(folder, index)
        os.kill(pid, STACK_SIGNAL)
        deadline = time.monotonic() + TIMEOUT_GRACE
        while not stack and time.monotonic() < deadline:
            time.sleep(0.05)
            stack = user_stack(path.read_text(encoding="ascii", errors="replace"))
        path.unlink()  # the next slot opens its own file
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # a slot is the leader of its process group
    return stack


def user_stack(written: str) -> str:
    r"""Return the frames inside the operator from a fault handler's output; all frames if there is no operator.

    The first line is the folder of the slot's package, with a trailing separator. Frames follow, innermost first.

    >>> user_stack(
    ...     '/lib/headrace/\n  File "/home/ann/headrace/operators/x.py"\n  File "/lib/headrace/operators/map.py"'
    ... )
    '  File "/home/ann/headrace/operators/x.py"'
    """
    package, _, stack = written.partition("\n")
    return stack.partition(f'"{os.path.join(package, "operators", "")}')[0].rpartition("\n")[0] or stack


def _lost(text: str) -> SlotLostError:
    sys.stderr.write(f"headrace: {text} (was it killed for using too much memory?); retrying the task\n")
    return SlotLostError(text)


def _daemon() -> int:
    """Return the process that forked this one. A slot lives only as long as that process.

    Spark's daemon is the leader of its workers' process group. If it was killed, its workers have another parent, which
    never exits: a slot tied to that one would stay forever.
    """
    parent = os.getppid()
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    if spec is not None and spec.name in _DAEMONS and parent != os.getpgrp():
        raise SlotLostError("the executor's Python daemon died; another worker retries the task")
    return parent


def _try_connect(path: Path) -> Wire | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        return None
    return Wire(connection)
