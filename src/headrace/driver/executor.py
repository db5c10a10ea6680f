"""The port to an executor, Spark or the local one: what the driver asks of it, and what others see of its processes.

An epoch returns control frames: acknowledgements, driver output in order, failures.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from dataclasses import dataclass, field
from typing import Protocol

from headrace.errors import JobExecutionError, UserCodeError
from headrace.foundation.faultpoints import reach
from headrace.monitoring.job_view import JobView
from headrace.operators.clock import Clock
from headrace.worker.exchange.frames import ACK, DRIVER_OUTPUT, FAILURE, unpack
from headrace.worker.job_spec import JobSpec
from headrace.worker.messages import DriverOutput, EpochOrder, TaskAck, TaskFailure, TaskId


class EpochLostError(JobExecutionError):
    """An epoch was lost because a process died. It may be retried.

    >>> EpochLostError("A slot died").code
    'EPOCH_LOST'
    """

    code = "EPOCH_LOST"


@dataclass
class EpochResult:
    """Everything that an epoch returned."""

    acks: list[TaskAck] = field(default_factory=list)
    outputs: list[DriverOutput] = field(default_factory=list)
    failures: list[TaskFailure] = field(default_factory=list)

    @property
    def cause(self) -> Exception | None:
        """The failure to report: an error of user code before any other."""
        errors = [f.error for f in self.failures]
        return next((e for e in errors if isinstance(e, UserCodeError)), errors[0] if errors else None)


def read_frames(frames: list[bytes]) -> EpochResult:
    """Sort control frames. The output of one task keeps its order."""
    result = EpochResult()
    outputs: list[tuple[tuple[int, int, int, int], DriverOutput]] = []
    failed: set[tuple[TaskId, int]] = set()
    for frame in frames:
        header, message = unpack(frame)
        if header.kind == ACK:
            result.acks.append(message)
            reach("acks.partial")
        elif header.kind == FAILURE:
            result.failures.append(message)
            failed.add((message.task, header.attempt))
        elif header.kind == DRIVER_OUTPUT:
            outputs.append(((header.level, header.partition, header.attempt, header.sequence), message))
    counted = failed | {(a.task, a.attempt) for a in result.acks}
    outputs.sort(key=lambda o: o[0])
    result.outputs = [o for (level, p, attempt, _), o in outputs if ((level, p), attempt) in counted]
    return result


_log = logging.getLogger("headrace")


@dataclass(frozen=True)
class ExecutorView:
    """A process that runs tasks. Sizes are in bytes; 0 if they are not known."""

    id: str
    host: str
    port: int
    slots: int
    active_tasks: int = 0
    memory: int = 0
    used_memory: int = 0
    start_ms: int = -1
    folder: str = ""
    """Its folder below the work directory of a standalone Spark worker: `APPLICATION/EXECUTOR`."""


@dataclass(frozen=True)
class ThreadView:
    """A thread of such a process, with its formatted stack."""

    name: str
    text: str


def threads_of_this_process() -> list[ThreadView]:
    """Return the stacks of all threads of this process.

    >>> [thread.name for thread in threads_of_this_process() if thread.name == "MainThread"]
    ['MainThread']
    """
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    stacks = sys._current_frames()  # noqa: SLF001 - the only way to all stacks
    return [ThreadView(names.get(i, str(i)), "".join(traceback.format_stack(frame))) for i, frame in stacks.items()]


class Executor(Protocol):
    """Runs epochs of one job."""

    def start(self, spec: JobSpec) -> None:
        """Prepare to run the job."""
        ...

    def run_epoch(self, order: EpochOrder) -> EpochResult:
        """Run one epoch through all levels and return what its control frames say."""
        ...

    def interrupt(self) -> None:
        """Make a running `run_epoch` end soon. Called from another thread."""
        ...

    def close(self) -> None:
        """Close all functions and end all processes of the job."""
        ...

    def executors(self) -> list[ExecutorView]:
        """Return the processes that can run tasks now. Called from any thread."""
        ...

    def threads(self, executor_id: str) -> list[ThreadView]:
        """Return the stacks of the threads of one of these processes; empty if there is no such process."""
        ...


class ExecutorWatch:
    """Notices since when a job that runs has no executor to run on."""

    def __init__(self, executor: Executor, clock: Clock) -> None:
        self._executor = executor
        self._clock = clock
        self._since = -1

    def waiting_since(self, view: JobView) -> int:
        """Return since when, in milliseconds; -1 if there is an executor, or the job does not run."""
        if view.status != "RUNNING" or self._has_one():
            self._since = -1
        elif self._since < 0:
            had_one = any(subtask.start_ms >= 0 for vertex in view.vertices for subtask in vertex.subtasks)
            self._since = self._clock.now() if had_one else view.state_timestamps["RUNNING"]
        return self._since

    def _has_one(self) -> bool:
        try:
            return bool(self._executor.executors())
        except Exception as error:
            _log.debug("headrace: the executors are not known, Spark may be starting or ending: %s", error)
            return True
