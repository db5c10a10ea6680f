"""The slot process: owns subtasks and their live state for the whole job, and serves couriers one at a time.

Started by the first courier that needs it (`python -m headrace.worker.slot.process FOLDER INDEX DAEMON READY`): it listens
at once and loads the operators while the courier sends. It ends on SIGTERM, or when the process DAEMON (the executor's
Python daemon) is gone, so there are no orphans: user code is left by an exception, functions are closed, and what takes too
long is cut off.

What the slot does for a courier that has died meanwhile counts for nobody: the task's version is then one that the driver
never asks for, and the next request for the task builds it anew from its state files.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from headrace.config.worker_settings import TimeLimit
from headrace.foundation.life_mark import LifeMark
from headrace.state.job_folder import remove_if_abandoned
from headrace.worker.exchange.wire import END_OF_FRAMES, Wire
from headrace.worker.slot.folder import (
    files_folder,
    life_mark_path,
    living_slots,
    remove_folder,
    socket_path,
    stack_path,
)
from headrace.worker.slot.launch import CLOSE_SECONDS, READY
from headrace.worker.slot.process_facts import resident_bytes
from headrace.worker.slot.protocol import HAS_SPEC, NEEDS_SPEC, Request

if TYPE_CHECKING:
    from headrace.errors import CloseTimeoutError, HeadraceError
    from headrace.worker.messages import EpochOrder
    from headrace.worker.slot.deadline import TaskDeadline
    from headrace.worker.slot.host import TaskHost
    from headrace.worker.slot.user_output import UserOutput


class SlotEnding(BaseException):
    """Raised in the main thread when the slot is told to end: in the midst of a task, or while it waits for one."""


class Slot:
    """One slot process."""

    def __init__(self, folder: Path, index: int) -> None:
        """`folder` is that of the executor's slots, of which this is the one with the number `index`."""
        self.state_directory: str | None = None
        self._files = files_folder(folder)
        self._stacks = stack_path(folder, index)
        self._deadline: TaskDeadline | None = None
        self._host: TaskHost | None = None
        self._output: UserOutput | None = None
        self._memory = _Memory()
        self._current: tuple[Request, Wire] | None = None

    def serve(self, server: socket.socket, ending: Ending) -> None:
        """Handles couriers, one after the other, until the slot is told to end."""
        while True:
            with Wire(ending.accept(server)) as wire, contextlib.suppress(EOFError, OSError), ending.interrupts():
                self._handle(wire)
            self._memory.between_epochs()

    def _handle(self, wire: Wire) -> None:
        request: Request = pickle.loads(wire.receive())  # noqa: S301 - from a courier of the same job, in a private folder
        wire.send(HAS_SPEC if self._host is not None else NEEDS_SPEC)
        wire.flush()
        shipped = wire.receive() if self._host is None else b""
        frames = wire.receive_all()
        self._current = request, wire
        if request.limit is None:
            self._run(request, shipped, frames, wire.send)
            _end(wire)
        else:
            self._run_in_time(request, request.limit, shipped, frames, wire)

    def _run(self, request: Request, shipped: bytes, frames: list[bytes], send: Callable[[bytes], None]) -> None:
        try:
            host = self._host = self._host or self._start(shipped)
            order: EpochOrder = pickle.loads(request.order)  # noqa: S301 - from the job's own driver
        except Exception as error:
            send(_failure(request, error))
        else:
            self.state_directory = order.state_directory
            host.run(order, request.task_id, request.attempt, frames, lambda level, partition, frame: send(frame))

    def _run_in_time(self, request: Request, limit: TimeLimit, shipped: bytes, frames: list[bytes], wire: Wire) -> None:
        """The same, but the process ends with the task's failure when the time is over."""
        from headrace.worker.slot.deadline import TaskDeadline

        deadline = self._deadline = self._deadline or TaskDeadline(self._stacks)

        def send(frame: bytes) -> None:
            with deadline.lock:
                wire.send(frame)

        deadline.start(limit, lambda error: self._fail(request, wire, error))
        try:
            self._run(request, shipped, frames, send)
        finally:
            with deadline.lock:
                deadline.stop()
        _end(wire)

    def _fail(self, request: Request, wire: Wire, error: HeadraceError) -> None:
        """The last words of a process that is about to be killed."""
        if self._host is not None:
            self._host.send_said(
                request.task_id, request.attempt, True, lambda level, partition, frame: wire.send(frame)
            )
        wire.send(_failure(request, error))
        _end(wire)

    def _give_up_closing(self, error: CloseTimeoutError) -> None:
        if self._current is not None:
            with contextlib.nullcontext() if self._deadline is None else self._deadline.lock:
                self._fail(*self._current, error)

    def _start(self, shipped: bytes) -> TaskHost:
        from headrace.functions.distributed_cache import DistributedCache
        from headrace.worker.job_files import unpack_files
        from headrace.worker.job_spec import JobSpec
        from headrace.worker.slot.close_limit import CloseLimit
        from headrace.worker.slot.fork_guard import guard_fork
        from headrace.worker.slot.host import TaskHost
        from headrace.worker.slot.quick_json import use_quick_json
        from headrace.worker.slot.user_output import UserOutput

        self._output = output = UserOutput(sys.__stdout__)
        sys.stdout = output.as_text()  # before user code is loaded: modules may print too
        guard_fork(pickled_too=True)  # a module may import the name
        use_quick_json()
        spec: JobSpec = pickle.loads(shipped)  # noqa: S301 - the job's own code
        files = unpack_files(spec.files, self._files)
        sys.path[:0] = files.import_paths
        sys.path += [entry for entry in spec.python_path if entry not in sys.path]
        directory = files.working_directory or spec.working_directory
        if os.path.isdir(directory):
            os.chdir(directory)
        self._memory.start()
        closing = CloseLimit(spec.close_seconds, self._give_up_closing)
        return TaskHost(spec, DistributedCache(files.cached), self._files.parent, output, closing.run)

    def close(self) -> None:
        """Closes the functions. What they print goes to the log of the process: nobody waits for frames any more."""
        if self._output is not None:
            self._output.pass_on()
        self._current = None
        if self._host is not None:
            from headrace.worker.slot.deadline import watched_close

            # A second before the process is ended: it is killed without a word then.
            with watched_close(CLOSE_SECONDS - 1, lambda e: print(f"headrace: {e}", file=sys.stderr, flush=True)):  # noqa: T201
                errors = self._host.close()
            for error in errors:
                sys.stderr.write(f"headrace: error while closing a function:\n{error}\n")


def _end(wire: Wire) -> None:
    wire.send(END_OF_FRAMES)
    wire.flush()


def _failure(request: Request, error: Exception) -> bytes:
    from headrace.worker.internal_error import as_headrace_error
    from headrace.worker.slot.host import failure_frame

    return failure_frame(request.task_id, request.attempt, as_headrace_error(error))


class _Memory:
    """No cyclic garbage collection inside an epoch (it walks all state); a short one after it, on young objects only."""

    def __init__(self) -> None:
        self._after_full = 0

    def start(self) -> None:
        gc.disable()
        gc.collect()
        gc.freeze()
        self._after_full = resident_bytes()

    def between_epochs(self) -> None:
        gc.collect(0)
        gc.freeze()
        if resident_bytes() > 2 * self._after_full + (64 << 20):
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._after_full = resident_bytes()


class Ending:
    """How a slot comes to its end: the first call starts the time to close, and raises `SlotEnding` in a task that runs.

    Python drops what is raised inside of destructors and of callbacks of the garbage collector: so nothing is raised between
    tasks, and a task that swallowed it is the last one.
    """

    def __init__(self) -> None:
        self.orphaned = False
        """Whether the executor is gone."""
        self._told = self._working = False
        self._woken, self._wake = os.pipe()  # a signal that comes just before a system call does not interrupt it

    def listen(self, daemon: int) -> None:
        """Ends this process on SIGTERM, and when the process `daemon` is gone."""
        os.set_blocking(self._wake, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, self._terminated)
        threading.Thread(target=self._watch, args=(daemon,), name="headrace-watch", daemon=True).start()

    def _terminated(self, number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.alarm(int(CLOSE_SECONDS))
        self._told = True
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake, b"\0")  # an event loop of the user's may have taken the descriptor for signals
        if self._working:
            raise SlotEnding

    def accept(self, server: socket.socket) -> socket.socket:
        """Waits for a connection, or for the end."""
        while not self._told:
            ready, _, _ = select.select([server.fileno(), self._woken], [], [])
            if self._woken in ready:
                os.read(self._woken, 4096)
            elif not self._told:
                return server.accept()[0]
        raise SlotEnding

    @contextlib.contextmanager
    def interrupts(self) -> Iterator[None]:
        """What is done inside is ended wherever it is."""
        self._working = True
        try:
            if self._told:
                raise SlotEnding
            yield
        finally:
            self._working = False

    def _watch(self, daemon: int) -> None:
        _wait_for_exit(daemon)
        self.orphaned = True
        signal.alarm(int(CLOSE_SECONDS))  # even if the main thread never comes to handle the signal
        with open(os.devnull, "w") as nowhere:  # who read our output is gone: writing there would fail
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        os.kill(os.getpid(), signal.SIGTERM)


def _wait_for_exit(pid: int) -> None:
    try:
        handle = os.pidfd_open(pid)
    except (AttributeError, OSError):
        while _exists(pid):
            time.sleep(0.5)
        return
    select.select([handle], [], [])


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def main(folder: Path, index: int, daemon: int, ready: int) -> None:
    """Runs a slot process."""
    os.environ.pop("PYTHONSAFEPATH", None)
    mark = LifeMark(life_mark_path(folder, index))
    if not mark.take():
        raise SystemExit(f"headrace: slot {index} in {folder} is there already")
    mark.keep()
    slot, ending = Slot(folder, index), Ending()
    try:
        ending.listen(daemon)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
            server.bind(str(socket_path(folder, index)))
            server.listen(64)
            os.write(ready, READY)
            os.close(ready)
            import headrace.worker.slot.host  # noqa: F401 - loads the operators while the courier sends

            slot.serve(server, ending)
    except SlotEnding:
        socket_path(folder, index).unlink(missing_ok=True)
        slot.close()
    if ending.orphaned:
        # Nobody else is left to clear up. The last slot to end removes the folder.
        life_mark_path(folder, index).unlink(missing_ok=True)
        if not any(True for _ in living_slots(folder)):  # one that was killed has left its mark
            remove_folder(folder)
        if slot.state_directory is not None:
            remove_if_abandoned(slot.state_directory)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
