"""Run the tasks of a job one after the other in this process, with the same frames as on Spark.

Provides the files of the job to the tasks, and restores the process when the job ends.
"""

from __future__ import annotations

import itertools
import logging
import os
import shutil
import socket
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from headrace.config.worker_settings import TimeLimit
from headrace.driver.executor import EpochResult, ExecutorView, ThreadView, read_frames, threads_of_this_process
from headrace.errors import TaskTimeoutError
from headrace.functions.runtime_context import DistributedCache
from headrace.local.task_thread import TaskThread
from headrace.worker.exchange.frames import DATA, header_of
from headrace.worker.failures import failure_frame
from headrace.worker.job_files import JobFiles
from headrace.worker.job_spec import JobSpec
from headrace.worker.messages import EpochOrder, TaskId
from headrace.worker.slot.deadline import watched_close
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
