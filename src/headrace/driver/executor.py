"""The port to an executor, Spark or the local one: what the driver asks of it, and what others see of its processes."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from dataclasses import dataclass
from typing import Protocol

from headrace.driver.epoch_result import EpochResult
from headrace.monitoring.job_view import JobView
from headrace.operators.clock import Clock
from headrace.worker.job_spec import JobSpec
from headrace.worker.messages import EpochOrder

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
