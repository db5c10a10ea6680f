"""Keeps the tasks of one job alive in one process, from epoch to epoch. Used by the slot process and the local executor.

A task whose version is not the one that the driver asks for (it is new, was interrupted, or ran an epoch that did not
count) is closed and built anew from its state files. One that is no longer asked for, because Spark runs it elsewhere, is closed.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import traceback
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.functions.distributed_cache import DistributedCache
from headrace.worker.exchange.buffers import Send
from headrace.worker.exchange.frames import ACK, DRIVER_OUTPUT, FAILURE, Header, pack
from headrace.worker.internal_error import as_headrace_error
from headrace.worker.job_spec import JobSpec
from headrace.worker.messages import DriverOutput, EpochOrder, TaskFailure, TaskId
from headrace.worker.slot.close_limit import Closer, close_at_will
from headrace.worker.slot.fork_guard import guard_fork
from headrace.worker.slot.process_facts import watch_garbage_collector
from headrace.worker.slot.user_output import UserOutput
from headrace.worker.task.keyed_backends import BackendMaker
from headrace.worker.task.task import Task

_LAST = 2**32 - 1  # of the numbers that frames can have

_PATIENCE = 2
"""Epochs. One may have failed before it came to the level of the task."""


class TaskHost:
    """The tasks of one job in this process."""

    def __init__(
        self,
        spec: JobSpec,
        files: DistributedCache | None = None,
        folder: Path | None = None,
        output: UserOutput | None = None,
        closer: Closer = close_at_will,
    ) -> None:
        """`folder` is a folder of this machine that goes with the process; None where there is none.

        `output` has what user code prints; None where that is the driver's own standard output already.
        `closer` closes functions.
        """
        self._output = output
        self._closer = closer
        self._spec = spec
        self._files = files
        self._backends = BackendMaker(spec.backend, folder)
        self._tasks: dict[TaskId, Task] = {}
        self._last_epoch: dict[TaskId, int] = {}
        watch_garbage_collector()
        guard_fork()

    def run(self, order: EpochOrder, task_id: TaskId, attempt: int, frames: list[bytes], send: Send) -> bool:
        """Runs one task's part of an epoch; its acknowledgement or failure is sent as a frame too. True if it worked.

        An exit or an interrupt out of user code is a failure of user code: it must not end the process.
        """
        level, partition = task_id
        self._last_epoch[task_id] = order.epoch
        self._discard_moved(order.epoch)
        if self._output is not None:
            self._output.begin(task_id)
        try:
            ack = self._task(order, task_id).run_epoch(order, attempt, frames, send)
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            self._discard(task_id)
            self.send_said(task_id, attempt, True, send)
            send(level, partition, failure_frame(task_id, attempt, self._failure(error, task_id)))
            return False
        ended = all(v.ended for v in ack.vertices)
        if ended:
            self._tasks.pop(task_id)
        self.send_said(task_id, attempt, ended, send)
        send(level, partition, pack(Header(ACK, level, partition, level, partition, 0, attempt), ack))
        return True

    def send_said(self, task_id: TaskId, attempt: int, ended: bool, send: Send) -> None:
        """Send what user code has printed for a task."""
        said = self._output.take(self._spec.task_name(*task_id).operators, ended) if self._output is not None else b""
        if said:
            level, partition = task_id
            header = Header(DRIVER_OUTPUT, level, partition, level, partition, _LAST, attempt)
            send(level, partition, pack(header, DriverOutput(said=said)))

    def close(self) -> list[HeadraceError]:
        """Closes all tasks; gives what went wrong."""
        errors = []
        for task_id in list(self._tasks):
            try:
                self._tasks.pop(task_id).close()
            except Exception as error:
                errors.append(as_headrace_error(error))
        self._backends.close()
        return errors

    def _task(self, order: EpochOrder, task_id: TaskId) -> Task:
        task = self._tasks.get(task_id)
        wanted = order.tasks[task_id].version
        if task is None or task.version != wanted:
            self._discard(task_id)
            task = self._tasks[task_id] = Task(self._spec, task_id, order, self._files, self._backends, self._closer)
        return task

    def _discard_moved(self, epoch: int) -> None:
        """Each task that has not ended is part of every epoch: who was not here in the last ones lives elsewhere."""
        for task_id in [t for t in self._tasks if self._last_epoch[t] < epoch - _PATIENCE]:
            self._discard(task_id)

    def _failure(self, error: BaseException, task_id: TaskId) -> HeadraceError:
        if isinstance(error, MemoryError):
            traceback.clear_frames(error.__traceback__)  # they may hold what has filled the memory
        failure = as_headrace_error(error)
        if failure.operator_name is None:
            failure.operator_name = self._spec.task_name(*task_id).operators
        return failure

    def _discard(self, task_id: TaskId) -> None:
        task = self._tasks.pop(task_id, None)
        if task is not None:
            with contextlib.suppress(Exception):
                task.close()


def failure_frame(task_id: TaskId, attempt: int, error: HeadraceError) -> bytes:
    """What tells the driver that a task has failed."""
    level, partition = task_id
    header = Header(FAILURE, level, partition, level, partition, 0, attempt)
    error.location = f"{socket.gethostname()}:{os.getpid()}"
    try:
        return pack(header, TaskFailure(task_id, error))
    except (pickle.PicklingError, TypeError, AttributeError):  # an error class of the user's own, with more in it
        return pack(header, TaskFailure(task_id, HeadraceError(str(error))))
