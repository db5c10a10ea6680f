"""Runs the tasks of a job one after the other in this process, on the same frames as Spark would move."""

from __future__ import annotations

import itertools
import socket
from collections import defaultdict

from headrace.operators.distributed_cache import DistributedCache
from headrace.runtime.executor import ExecutorView, ThreadView, threads_of_this_process
from headrace.runtime.local.files import FilesInProcess
from headrace.runtime.task.frames import DATA, header_of
from headrace.runtime.task.host import TaskHost
from headrace.runtime.task.job_spec import JobSpec
from headrace.runtime.task.messages import EpochOrder, TaskId


class LocalExecutor:
    """The executor for fast tests: no JVM, no other process."""

    def __init__(self) -> None:
        self._attempts = itertools.count(1)
        self._files = FilesInProcess()
        self._interrupted = False

    def start(self, spec: JobSpec) -> None:
        """Makes the job known."""
        self._spec = spec
        self._files.use(spec.files)
        self._host = TaskHost(spec, DistributedCache(self._files.cached))

    def run_epoch(self, order: EpochOrder) -> list[bytes]:
        """Runs level by level; a failure ends the epoch at once."""
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
                if not self._host.run(order, task_id, next(self._attempts), frames, send):
                    return control
        return control

    def interrupt(self) -> None:
        """The current task ends its epoch, no other one starts."""
        self._interrupted = True

    def close(self) -> None:
        """Closes all functions; the first failure is raised."""
        try:
            errors = self._host.close()
        finally:
            self._files.leave()
        if errors:
            raise errors[0]

    def executors(self) -> list[ExecutorView]:
        """This process."""
        return [ExecutorView("local", socket.gethostname(), 0, 1)]

    def threads(self, executor_id: str) -> list[ThreadView]:
        """Those of this process."""
        return threads_of_this_process() if executor_id == "local" else []
