"""Run the tasks of a job one after the other in this process, with the same frames as on Spark.

Provides the files of the job to the tasks, and restores the process when the job ends. Tasks run in a thread, so that one
that takes too long can be abandoned.
"""

from __future__ import annotations

import ctypes
import itertools
import logging
import os
import queue
import shutil
import socket
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from headrace.config.worker_settings import TimeLimit
from headrace.driver.executor import EpochResult, ExecutorView, ThreadView, read_frames, threads_of_this_process
from headrace.errors import TaskTimeoutError
from headrace.functions.runtime_context import DistributedCache
from headrace.worker.exchange.frames import DATA, header_of
from headrace.worker.failures import failure_frame
from headrace.worker.job_files import JobFiles
from headrace.worker.job_spec import JobSpec
from headrace.worker.messages import EpochOrder, TaskId
from headrace.worker.slot.deadline import close_timeout, timeout_error, watched_close
from headrace.worker.slot.host import TaskHost
from headrace.worker.slot.launch import CLOSE_SECONDS
from headrace.worker.unpacking import unpack_files

_log = logging.getLogger("headrace")


def _close_and_tell(call: Callable[[], Any]) -> None:
    """Close a function in the thread that it ran in. This cannot be interrupted: log it if it takes too long."""
    with watched_close(CLOSE_SECONDS, lambda error: _log.error("headrace: %s", error)):
        call()


class LocalExecutor:
    """The executor for fast tests: no JVM, no other process.

    If the program limits the time of tasks, they run in a separate thread, which is abandoned when the time is over. Its
    functions are closed when it returns.
    """

    def __init__(self, in_thread: bool = False) -> None:
        self._in_thread = in_thread
        self._thread: TaskThread | None = None
        self._attempts = itertools.count(1)
        self._files = FilesInProcess()
        self._interrupted = False

    def start(self, spec: JobSpec) -> None:
        self._spec = spec
        self._files.use(spec.files)
        self._host = self._new_host()

    def run_epoch(self, order: EpochOrder) -> EpochResult:
        """Run level by level; a failure ends the epoch at once."""
        return read_frames(self._run_levels(order))

    def _run_levels(self, order: EpochOrder) -> list[bytes]:
        inbox: dict[TaskId, list[bytes]] = defaultdict(list)
        control: list[bytes] = []

        def send(level: int, partition: int, frame: bytes) -> None:
            if header_of(frame).kind == DATA:
                inbox[level, partition].append(frame)
            else:
                control.append(frame)

        for level in self._spec.plan.levels:
            for partition in range(level.partitions):
                task_id = (level.index, partition)
                if task_id not in order.tasks or self._interrupted:
                    continue
                frames = inbox.pop(task_id, [])
                run = partial(self._host.run, order, task_id, next(self._attempts), frames, send)
                try:
                    limit = order.time_limit if self._in_thread else None
                    done = run() if limit is None else self._run_in_time(run, limit)
                except TaskTimeoutError as error:
                    return [*control, failure_frame(task_id, next(self._attempts), error)]
                if not done:
                    return control
        return control

    def _run_in_time(self, run: Callable[[], bool], limit: TimeLimit) -> bool:
        if self._thread is None:
            self._thread = TaskThread()
        try:
            return self._thread.run(run, limit, abandoned=self._host.close)
        except TaskTimeoutError:
            self._thread, self._host = None, self._new_host()
            raise

    def _new_host(self) -> TaskHost:
        return TaskHost(self._spec, DistributedCache(self._files.cached), closer=_close_and_tell)

    def interrupt(self) -> None:
        """Let the current task end its epoch, and start no other one."""
        self._interrupted = True

    def close(self) -> None:
        """Close all functions, and raise the first failure."""
        try:
            if self._thread is not None:
                errors = self._thread.end(self._host.close, CLOSE_SECONDS)
            else:
                errors = self._host.close()
        finally:
            self._thread = None
            self._files.leave()
        if errors:
            raise errors[0]

    def executors(self) -> list[ExecutorView]:
        return [ExecutorView("local", socket.gethostname(), 0, 1)]

    def threads(self, executor_id: str) -> list[ThreadView]:
        return threads_of_this_process() if executor_id == "local" else []


class FilesInProcess:
    """The import paths and working directory of one job."""

    def __init__(self) -> None:
        self.cached: dict[str, str] = {}
        self._folder: str | None = None
        self._import_paths: tuple[str, ...] = ()
        self._came_from: str | None = None

    def use(self, files: JobFiles) -> None:
        """Unpack the files and make them available."""
        if not files:
            return
        self._folder = tempfile.mkdtemp(prefix="headrace-files-")
        try:
            unpacked = unpack_files(files, Path(self._folder))
        except BaseException:
            self.leave()
            raise
        self.cached, self._import_paths = unpacked.cached, unpacked.import_paths
        sys.path[:0] = unpacked.import_paths
        if unpacked.working_directory is not None:
            self._came_from = os.getcwd()
            os.chdir(unpacked.working_directory)

    def leave(self) -> None:
        """Undo `use`; imported modules stay."""
        if self._folder is None:
            return
        sys.path[:] = [path for path in sys.path if path not in self._import_paths]
        if self._came_from is not None:
            os.chdir(self._came_from)
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None


T = TypeVar("T")


class _AbandonedError(BaseException):
    """Raised in a thread whose time is over, wherever it is."""


class TaskThread:
    """Runs one call at a time in a separate thread.

    >>> thread = TaskThread()
    >>> thread.run(lambda: 3, TimeLimit(10.0, "headrace.task.timeout"), abandoned=print)
    3
    >>> thread.end(lambda: "closed")
    'closed'
    """

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self._abandoned: Callable[[], Any] | None = None
        self._thread = threading.Thread(target=self._work, name="headrace-tasks", daemon=True)
        self._thread.start()

    def run(self, call: Callable[[], T], limit: TimeLimit, abandoned: Callable[[], Any]) -> T:
        """Return the result of a call. Raise TaskTimeoutError if it takes too long; call `abandoned` when it returns."""
        try:
            return self._answer(call, limit.seconds)
        except queue.Empty:
            ident = self._thread.ident
            assert ident is not None, "it was started"
            error = timeout_error(ident, limit)
            self._abandoned = abandoned
            self._calls.put(None)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(_AbandonedError))
            raise error from None

    def end(self, call: Callable[[], T], seconds: float | None = None) -> T:
        """Return the result of the last call, and end the thread. Raise CloseTimeoutError if it takes too long."""
        try:
            return self._answer(call, seconds)
        except queue.Empty:
            assert self._thread.ident is not None, "it was started"
            raise close_timeout(self._thread.ident, seconds or 0.0) from None
        finally:
            self._calls.put(None)

    def _answer(self, call: Callable[[], T], seconds: float | None) -> T:
        self._calls.put(call)
        result, error = self._results.get(timeout=seconds)
        if error is not None:
            raise error
        return cast("T", result)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            try:
                result = call()
            except _AbandonedError:
                break
            except BaseException as error:
                self._results.put((None, error))
            else:
                self._results.put((result, None))
        if self._abandoned is not None:
            self._abandoned()
