"""Keep the tasks of one job alive in one process, from epoch to epoch. Used by the slot process and the local executor.

A task whose version differs from the one that the driver asks for (it is new, was interrupted, or ran an epoch that did not
count) is closed and rebuilt from its state files. A task that now runs elsewhere is closed.
"""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.functions.runtime_context import DistributedCache
from headrace.worker.exchange.buffers import Send
from headrace.worker.exchange.frames import ACK, DRIVER_OUTPUT, control_frame
from headrace.worker.failures import as_headrace_error, failure_frame
from headrace.worker.job_spec import JobSpec
from headrace.worker.messages import DriverOutput, EpochOrder, TaskId
from headrace.worker.process_facts import watch_garbage_collector
from headrace.worker.slot.fork_guard import guard_fork
from headrace.worker.slot.user_output import UserOutput
from headrace.worker.task.keyed_backends import BackendMaker
from headrace.worker.task.task import Task
from headrace.worker.task.vertex_task import Closer, close_at_will

_LAST = 2**32 - 1  # the highest sequence number of a frame
_PATIENCE = 2  # epochs; one may have failed before it reached the level of the task
_log = logging.getLogger("headrace")


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
        """`folder` is a local folder that is removed with the process; None if there is none.

        `output` collects what user code prints; None if that is already the driver's standard output.
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
        """Run one task's part of an epoch and send its acknowledgement or failure as a frame. Return whether it succeeded.

        SystemExit and KeyboardInterrupt from user code are failures of user code: they must not end the process.
        """
        self._last_epoch[task_id] = order.epoch
        self._discard_moved(order.epoch)
        if self._output is not None:
            self._output.begin(task_id)
        try:
            ack = self._task(order, task_id).run_epoch(order, attempt, frames, send)
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            self._discard(task_id)
            self.send_said(task_id, attempt, True, send)
            send(*task_id, failure_frame(task_id, attempt, self._failure(error, task_id)))
            return False
        ended = all(v.ended for v in ack.vertices)
        if ended:
            self._tasks.pop(task_id)
        self.send_said(task_id, attempt, ended, send)
        send(*task_id, control_frame(ACK, task_id, attempt, ack))
        return True

    def send_said(self, task_id: TaskId, attempt: int, ended: bool, send: Send) -> None:
        """Send what user code printed in a task."""
        said = self._output.take(self._spec.task_name(*task_id).operators, ended) if self._output is not None else b""
        if said:
            send(*task_id, control_frame(DRIVER_OUTPUT, task_id, attempt, DriverOutput(said=said), _LAST))

    def close(self) -> list[HeadraceError]:
        """Close all tasks. Return the errors."""
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
        """Close tasks that moved away: a task that has not ended is part of every epoch."""
        for task_id in [t for t in self._tasks if self._last_epoch[t] < epoch - _PATIENCE]:
            self._discard(task_id)

    def _failure(self, error: BaseException, task_id: TaskId) -> HeadraceError:
        if isinstance(error, MemoryError):
            traceback.clear_frames(error.__traceback__)  # they may hold what filled the memory
        failure = as_headrace_error(error)
        if failure.operator_name is None:
            failure.operator_name = self._spec.task_name(*task_id).operators
        return failure

    def _discard(self, task_id: TaskId) -> None:
        task = self._tasks.pop(task_id, None)
        if task is not None:
            try:
                task.close()
            except Exception as error:
                _log.debug("headrace: task %s could not be closed after its failure: %s", task_id, error)
