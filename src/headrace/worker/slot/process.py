"""The slot process: owns subtasks and their live state for the whole job, and serves couriers one at a time.

The first courier that needs it starts it (`python -m headrace.worker.slot.process FOLDER INDEX DAEMON READY`). It listens
at once and loads the operators while the courier sends. It ends on SIGTERM, or when the process DAEMON (the executor's
Python daemon) exits, so there are no orphans: an exception interrupts user code, functions are closed, and the process is
killed if that takes too long.

Work for a courier that died in the meantime is discarded: the driver never asks for the version that it produced, so the
next request for the task rebuilds it from its state files.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.foundation.private_folders import LifeMark
from headrace.state.job_folder import remove_if_abandoned
from headrace.worker.process_facts import resident_bytes
from headrace.worker.slot.ending import Ending, SlotEnding
from headrace.worker.slot.folder import (
    files_folder,
    life_mark_path,
    living_slots,
    remove_folder,
    socket_path,
    stack_path,
)
from headrace.worker.slot.launch import CLOSE_SECONDS, READY
from headrace.worker.slot.wire import END_OF_FRAMES, HAS_SPEC, NEEDS_SPEC, Request, Wire

if TYPE_CHECKING:
    from headrace.config.worker_settings import TimeLimit
    from headrace.errors import CloseTimeoutError, HeadraceError
    from headrace.worker.messages import EpochOrder
    from headrace.worker.slot.deadline import TaskDeadline
    from headrace.worker.slot.host import TaskHost
    from headrace.worker.slot.user_output import UserOutput


class Slot:
    """One slot process."""

    def __init__(self, folder: Path, index: int) -> None:
        """`folder` belongs to the executor's slots; this is slot number `index`."""
        self.state_directory: str | None = None
        self._files = files_folder(folder)
        self._stacks = stack_path(folder, index)
        self._deadline: TaskDeadline | None = None
        self._host: TaskHost | None = None
        self._output: UserOutput | None = None
        self._memory = _Memory()
        self._current: tuple[Request, Wire] | None = None

    def serve(self, server: socket.socket, ending: Ending) -> None:
        """Serve couriers, one after another, until the slot must end."""
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
        """Do the same with a time limit: at the deadline, report the task as failed and kill the process."""
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
        """Report a failure before the process is killed."""
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
        from headrace.functions.runtime_context import DistributedCache
        from headrace.worker.job_spec import JobSpec
        from headrace.worker.slot.ending import CloseLimit
        from headrace.worker.slot.fork_guard import guard_fork
        from headrace.worker.slot.host import TaskHost
        from headrace.worker.slot.quick_json import use_quick_json
        from headrace.worker.slot.user_output import UserOutput
        from headrace.worker.unpacking import unpack_files

        self._output = output = UserOutput(sys.__stdout__)
        sys.stdout = output.as_text()  # before user code is loaded: modules may print too
        guard_fork(pickled_too=True)  # modules may import the name
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
        """Close the functions. They print to the log of the process, because nobody waits for frames any more."""
        if self._output is not None:
            self._output.pass_on()
        self._current = None
        if self._host is not None:
            from headrace.worker.slot.deadline import watched_close

            # One second before the process is killed, which leaves no time to report.
            with watched_close(CLOSE_SECONDS - 1, lambda e: print(f"headrace: {e}", file=sys.stderr, flush=True)):  # noqa: T201
                errors = self._host.close()
            for error in errors:
                sys.stderr.write(f"headrace: error while closing a function:\n{error}\n")


def _end(wire: Wire) -> None:
    wire.send(END_OF_FRAMES)
    wire.flush()


def _failure(request: Request, error: Exception) -> bytes:
    from headrace.worker.failures import as_headrace_error, failure_frame

    return failure_frame(request.task_id, request.attempt, as_headrace_error(error))


class _Memory:
    """No cyclic garbage collection during an epoch (it walks all state); a short one afterwards, on young objects only."""

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


def main(folder: Path, index: int, daemon: int, ready: int) -> None:
    """Run a slot process."""
    os.environ.pop("PYTHONSAFEPATH", None)
    mark = LifeMark(life_mark_path(folder, index))
    if not mark.take():
        raise SystemExit(f"headrace: slot {index} in {folder} is already running")
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
        # No other process is left to clean up. The last slot removes the folder.
        life_mark_path(folder, index).unlink(missing_ok=True)
        if not any(True for _ in living_slots(folder)):  # a killed slot leaves its mark behind
            remove_folder(folder)
        if slot.state_directory is not None:
            remove_if_abandoned(slot.state_directory)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
