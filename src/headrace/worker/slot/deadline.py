"""Ends the process of a slot whose task takes longer than it may, and tells where it was.

1. When the time is over, a thread of the slot finds the operator and the user code that the task is in, reports that as the
task's failure, and kills the process with all that it has started. 2. Code that does not let go of the interpreter (a regular
expression that never comes to an end) keeps that thread from running: a little later the courier kills the process. Before
that it sends a signal at which Python's fault handler, which needs no interpreter, writes the stack into a file. 3. A process
that is stopped does not even that: it is killed, and the task is run again.
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
from headrace.worker.slot.protocol import STACK_SIGNAL

__all__ = ["TaskDeadline", "close_timeout", "timeout_error", "watched_close"]


def timeout_error(thread_id: int, limit: TimeLimit) -> TaskTimeoutError:
    """What to say of a task that runs in this thread and is not done in time."""
    innermost = sys._current_frames().get(thread_id)  # noqa: SLF001 - there is no public way
    operator, stack = _place(innermost)
    if operator is None:
        return TaskTimeoutError.after(*limit, stack=stack)
    context = operator.context
    return TaskTimeoutError.after(
        *limit, stack=stack, operator_name=context.name, uid=context.uid, subtask=context.task.subtask
    )


def close_timeout(thread_id: int, seconds: float) -> CloseTimeoutError:
    """What to say of a thread that closes functions and is not done in time."""
    operator, stack = _place(sys._current_frames().get(thread_id))  # noqa: SLF001 - there is no public way
    name, uid = (None, None) if operator is None else (operator.context.name, operator.context.uid)
    return CloseTimeoutError(
        f"A close() did not come back within {seconds:g} s",
        operator_name=name,
        uid=uid,
        seen=stack,
        remedy="give what close() waits for a timeout of its own",
    )


@contextmanager
def watched_close(seconds: float, report: Callable[[CloseTimeoutError], None]) -> Iterator[None]:
    """Report, from a thread of its own, that what is done inside takes longer than `seconds`, and where it is."""
    thread_id = threading.get_ident()
    timer = threading.Timer(seconds, lambda: report(close_timeout(thread_id, seconds)))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _place(innermost: FrameType | None) -> tuple[Operator | None, str]:
    """The operator that a stack is in, and the part of the stack that is user code; all of it where there is none."""
    inside = 0
    frame = innermost
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
    """A task that is running: until when it may, in which thread, and what to call if it is not done then."""

    until: float
    limit: TimeLimit
    thread_id: int
    fail: Callable[[HeadraceError], None]


class TaskDeadline:
    """Watches over the tasks of one slot process, one at a time.

    The thread that watches is woken only if it would sleep for too long: most tasks begin and end without it.
    """

    def __init__(self, stacks: Path) -> None:
        """`stacks` is the file for what the fault handler writes: `user_stack` reads it."""
        self.lock = threading.Lock()
        """Held by whoever sends: a failure goes out between two whole frames."""
        self._task: _Watched | None = None
        self._wakes = threading.Condition()
        self._wakes_at = math.inf
        # The first line is for the courier, whose own package may be elsewhere. The fault handler escapes in this way too.
        file = open(stacks, "w", encoding="ascii", errors="backslashreplace")
        file.write(f"{PACKAGE}\n")
        file.flush()
        faulthandler.register(STACK_SIGNAL, file=file, all_threads=False)
        threading.Thread(target=self._watch, name="headrace-deadline", daemon=True).start()

    def start(self, limit: TimeLimit, fail: Callable[[HeadraceError], None]) -> None:
        """The thread that calls has so much time; then `fail` is called with the lock held, and the process ends."""
        until = time.monotonic() + limit.seconds
        self._task = _Watched(until, limit, threading.get_ident(), fail)
        with self._wakes:
            if until < self._wakes_at:
                self._wakes.notify()

    def stop(self) -> None:
        """The task is done; called with the lock held."""
        self._task = None

    def _watch(self) -> None:
        while True:
            task = self._overdue()
            error = timeout_error(task.thread_id, task.limit)
            with self.lock:
                if self._task is not task:
                    continue  # it was done at the last moment
                try:
                    task.fail(error)
                finally:
                    # The whole group: the function may wait for a program that it has started.
                    os.killpg(os.getpgrp(), signal.SIGKILL)

    def _overdue(self) -> _Watched:
        """Waits for a task that is not done in time."""
        with self._wakes:
            while True:
                task, now = self._task, time.monotonic()
                if task is not None and task.until <= now:
                    return task
                self._wakes_at = math.inf if task is None else task.until
                self._wakes.wait(None if task is None else task.until - now)
