"""What the epoch loop asks of an executor, be it Spark or the local one."""

from __future__ import annotations

import sys
import threading
import traceback
from dataclasses import dataclass
from typing import Protocol

from headrace.driver.epoch_result import EpochResult
from headrace.worker.job_spec import JobSpec
from headrace.worker.messages import EpochOrder


@dataclass(frozen=True)
class ExecutorView:
    """A process that tasks run in, as others see it. Sizes are in bytes; 0 where they are not known."""

    id: str
    host: str
    port: int
    slots: int
    active_tasks: int = 0
    memory: int = 0
    used_memory: int = 0
    start_ms: int = -1
    folder: str = ""
    """What Spark calls its folder, below the work directory of a standalone worker: `APPLICATION/EXECUTOR`."""


@dataclass(frozen=True)
class ThreadView:
    """A thread of such a process, with its stack as text."""

    name: str
    text: str


def threads_of_this_process() -> list[ThreadView]:
    """What the threads of this process do now.

    >>> [thread.name for thread in threads_of_this_process() if thread.name == "MainThread"]
    ['MainThread']
    """
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    stacks = sys._current_frames()  # noqa: SLF001 - the only way to all stacks
    return [ThreadView(names.get(i, str(i)), "".join(traceback.format_stack(frame))) for i, frame in stacks.items()]


class Executor(Protocol):
    """Runs epochs of one job."""

    def start(self, spec: JobSpec) -> None:
        """Makes the job known."""
        ...

    def run_epoch(self, order: EpochOrder) -> EpochResult:
        """Runs one epoch through all levels; gives what its control frames say, read once."""
        ...

    def interrupt(self) -> None:
        """Called from another thread: lets a running `run_epoch` end soon."""
        ...

    def close(self) -> None:
        """Closes all functions and ends all processes of the job."""
        ...

    def executors(self) -> list[ExecutorView]:
        """The processes that tasks can run in now; from any thread."""
        ...

    def threads(self, executor_id: str) -> list[ThreadView]:
        """What the threads of one of these processes do now; nothing if there is no such process."""
        ...
