"""Kill a slot process whose task exceeds its time limit, and report where the task was.

1. At the deadline, a thread of the slot finds the operator and the user code that the task is in, reports them as the
task's failure, and kills the process and all processes that it started. 2. Code that does not release the interpreter (such
as an endless regular expression match) blocks that thread. A little later the courier kills the process. Before that, it
sends a signal that makes Python's fault handler, which needs no interpreter, write the stack to a file. 3. A stopped
process cannot do even that: it is killed, and the task is retried.
"""

from __future__ import annotations

import faulthandler
import math
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from headrace.config.worker_settings import TimeLimit
from headrace.errors import CloseTimeoutError, HeadraceError, TaskTimeoutError
from headrace.foundation.own_code import PACKAGE, is_own
from headrace.operators.base import Operator
from headrace.worker.slot.wire import STACK_SIGNAL


def timeout_error(thread_id: int, limit: TimeLimit) -> TaskTimeoutError:
    """Return the error for the task in this thread, which exceeded its limit."""
    operator, stack = _place(thread_id)
    if operator is None:
        return TaskTimeoutError.after(*limit, stack=stack)
    context = operator.context
    return TaskTimeoutError.after(
        *limit, stack=stack, operator_name=context.name, uid=context.uid, subtask=context.task.subtask
    )


def close_timeout(thread_id: int, seconds: float) -> CloseTimeoutError:
    """Return the error for a thread whose `close()` exceeded its limit."""
    operator, stack = _place(thread_id)
    name, uid = (None, None) if operator is None else (operator.context.name, operator.context.uid)
    return CloseTimeoutError(
        f"A close() did not return within {seconds:g} s",
        operator_name=name,
        uid=uid,
        seen=stack,
        remedy="set a timeout on whatever close() waits for",
    )


@contextmanager
def watched_close(seconds: float, report: Callable[[CloseTimeoutError], None]) -> Iterator[None]:
    """Report from another thread, with the current stack, if the body takes longer than `seconds`."""
    thread_id = threading.get_ident()
    timer = threading.Timer(seconds, lambda: report(close_timeout(thread_id, seconds)))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _place(thread_id: int) -> tuple[Operator | None, str]:
    """Return the operator that a thread is in, and the user code on its stack; the whole stack if there is none."""
    inside = 0
    frame = innermost = sys._current_frames().get(thread_id)  # noqa: SLF001 - there is no public way
    while frame is not None:
        own = is_own(frame.f_code.co_filename) and "self" in frame.f_code.co_varnames
        if own and isinstance(operator := frame.f_locals.get("self"), Operator) and hasattr(operator, "context"):
            return operator, _text(innermost, inside)
        inside += 1
        frame = frame.f_back
    return None, _text(innermost, inside)


def _text(innermost: FrameType | None, depth: int) -> str:
    frames = traceback.extract_stack(innermost)[-depth:] if depth else []
    of_user = [frame for frame in frames if not is_own(frame.filename)]
    lines = traceback.format_list(of_user or frames)
    return "".join(["Where the task was (most recent call last):\n", *lines]).rstrip("\n")


class _Watched(NamedTuple):
    """A running task: its deadline, its thread, and what to call if it misses the deadline."""

    until: float
    limit: TimeLimit
    thread_id: int
    fail: Callable[[HeadraceError], None]


class TaskDeadline:
    """Watches the tasks of one slot process, one at a time.

    The watching thread is woken only if it would oversleep, so most tasks begin and end without it.
    """

    def __init__(self, stacks: Path) -> None:
        """`stacks` is the file that the fault handler writes and `user_stack` reads."""
        self.lock = threading.Lock()
        """Held while sending, so that a failure is sent between two complete frames."""
        self._task: _Watched | None = None
        self._wakes = threading.Condition()
        self._wakes_at = math.inf
        # The first line is for the courier, whose package may be in another folder. The fault handler escapes the same way.
        file = open(stacks, "w", encoding="ascii", errors="backslashreplace")
        file.write(f"{PACKAGE}\n")
        file.flush()
        faulthandler.register(STACK_SIGNAL, file=file, all_threads=False)
        threading.Thread(target=self._watch, name="headrace-deadline", daemon=True).start()

    def start(self, limit: TimeLimit, fail: Callable[[HeadraceError], None]) -> None:
        """Start the time limit of the calling thread. At the deadline, call `fail` with the lock held and kill the process."""
        until = time.monotonic() + limit.seconds
        self._task = _Watched(until, limit, threading.get_ident(), fail)
        with self._wakes:
            if until < self._wakes_at:
                self._wakes.notify()

    def stop(self) -> None:
        """End the time limit. The caller holds the lock."""
        self._task = None

    def _watch(self) -> None:
        while True:
            task = self._overdue()
            error = timeout_error(task.thread_id, task.limit)
            with self.lock:
                if self._task is not task:
                    continue  # it finished at the last moment
                try:
                    task.fail(error)
                finally:
                    # The whole group: the function may be waiting for a program that it started.
                    os.killpg(os.getpgrp(), signal.SIGKILL)

    def _overdue(self) -> _Watched:
        """Wait for a task that misses its deadline."""
        with self._wakes:
            while True:
                task, now = self._task, time.monotonic()
                if task is not None and task.until <= now:
                    return task
                self._wakes_at = math.inf if task is None else task.until
                self._wakes.wait(None if task is None else task.until - now)
