"""The slot process: owns subtasks and their live state for the whole job, and serves couriers one at a time.

Started by the first courier that needs it (`python -m headrace.runtime.task.slot DIRECTORY INDEX WATCHED_PID`), ends when told
so, or when the process it watches (the executor's Python daemon) is gone: no orphans.

A request: 1. a pickled `Request`; 2. for RUN the slot says whether it needs the job spec, and gets it; 3. frames up to an empty
one. The answer: frames up to an empty one. Orders come from the courier of the same user over a socket in a private folder.
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
from pathlib import Path

from headrace.runtime.task.buffers import Send
from headrace.runtime.task.host import TaskHost
from headrace.runtime.task.job_spec import JobSpec
from headrace.runtime.task.messages import EpochOrder
from headrace.runtime.task.slot_protocol import HAS_SPEC, NEEDS_SPEC, Request, socket_path
from headrace.runtime.task.wire import END_OF_FRAMES, Wire

class Slot:
    """One slot process."""

    def __init__(self, directory: Path, index: int) -> None:
        self._directory = directory
        self._path = socket_path(directory, index)
        self._host: TaskHost | None = None
        self._memory = _Memory()

    def serve(self) -> None:
        """Handles couriers until one says end."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
            temporary = self._path.with_suffix(".new")
            temporary.unlink(missing_ok=True)
            server.bind(str(temporary))
            server.listen(64)
            temporary.rename(self._path)
            going = True
            while going:
                connection, _ = server.accept()
                wire = Wire(connection)
                try:
                    going = self._handle(wire)
                except (EOFError, OSError):
                    continue
                finally:
                    wire.close()

    def _handle(self, wire: Wire) -> bool:
        request = pickle.loads(wire.receive())  # noqa: S301 - from the courier of the same job
        if request.order is None:
            self.close()
            wire.send(END_OF_FRAMES)
            wire.flush()
            return False
        wire.send(HAS_SPEC if self._host is not None else NEEDS_SPEC)
        wire.flush()
        if self._host is None:
            self._host = self._start(pickle.loads(wire.receive()))  # noqa: S301 - the job's own code
        frames = wire.receive_all()
        order: EpochOrder = pickle.loads(request.order)  # noqa: S301 - from the job's own driver
        self._host.run(order, request.task_id, request.attempt, frames, _sender(wire))
        wire.send(END_OF_FRAMES)
        wire.flush()
        wire.close()
        del frames
        self._memory.between_epochs()
        return True

    def _start(self, spec: JobSpec) -> TaskHost:
        for entry in spec.python_path:
            if entry not in sys.path:
                sys.path.append(entry)
        if os.path.isdir(spec.working_directory):
            os.chdir(spec.working_directory)
        self._memory.start()
        return TaskHost(spec)

    def close(self) -> None:
        """Closes the functions and takes the socket away."""
        self._path.unlink(missing_ok=True)
        if self._host is not None:
            for error in self._host.close():
                sys.stderr.write(f"headrace: error while closing a function:\n{error}\n")
        with contextlib.suppress(OSError):
            self._path.with_suffix(".lock").unlink(missing_ok=True)
            self._directory.rmdir()


def _sender(wire: Wire) -> Send:
    def send(level: int, partition: int, frame: bytes) -> None:
        wire.send(frame)

    return send


class _Memory:
    """No cyclic garbage collection inside an epoch (it walks all state); a short one after it, on young objects only."""

    def __init__(self) -> None:
        self._after_full = 0

    def start(self) -> None:
        gc.disable()
        gc.collect()
        gc.freeze()
        self._after_full = _resident_bytes()

    def between_epochs(self) -> None:
        gc.collect(0)
        gc.freeze()
        if _resident_bytes() > 2 * self._after_full + (64 << 20):
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._after_full = _resident_bytes()


def _resident_bytes() -> int:
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _watch(pid: int, slot: Slot) -> None:
    """Ends this process when process `pid` is gone."""
    _wait_for_exit(pid)
    closer = threading.Thread(target=slot.close, daemon=True)
    closer.start()
    closer.join(timeout=3)
    os._exit(0)


def _wait_for_exit(pid: int) -> None:
    try:
        handle = os.pidfd_open(pid)
    except (AttributeError, OSError):
        while True:
            try:
                os.kill(pid, 0)
            except OSError:
                return
            time.sleep(0.5)
    select.select([handle], [], [])


def main(arguments: list[str]) -> None:
    """Runs a slot process."""
    directory, index, watched = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    slot = Slot(directory, index)
    threading.Thread(target=_watch, args=(watched, slot), daemon=True).start()
    slot.serve()


if __name__ == "__main__":
    main(sys.argv[1:])
