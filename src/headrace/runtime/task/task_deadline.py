"""Ends the process of a slot whose task takes longer than it may, and tells where it was.

1. When the time is over, a thread of the slot finds the operator and the user code that the task is in, reports that as the
task's failure, and kills the process with all that it has started. 2. Code that does not let go of the interpreter (a regular
expression that never comes to an end) keeps that thread from running: a little later Python's fault handler, which needs no
interpreter, writes the stack into a file and ends the process; the courier reads it. 3. A process that is stopped does neither:
the courier kills it.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import IO

from headrace.common.errors import HeadraceError, TaskTimeoutError
from headrace.operators.base import Operator
from headrace.runtime.task.slot_protocol import TIMEOUT_GRACE, TimeLimit

__all__ = ["TaskDeadline", "timeout_error"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


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


def _place(innermost: FrameType | None) -> tuple[Operator | None, str]:
    """The operator that a stack is in, and the part of the stack that is user code; all of it where there is none."""
    inside = 0
    frame = innermost
    while frame is not None:
        own = frame.f_code.co_filename.startswith(_PACKAGE) and "self" in frame.f_code.co_varnames
        if own and isinstance(operator := frame.f_locals.get("self"), Operator) and hasattr(operator, "context"):
            return operator, _text(innermost, inside)
        inside += 1
        frame = frame.f_back
    return None, _text(innermost, inside)


def _text(innermost: FrameType | None, depth: int) -> str:
    frames = traceback.extract_stack(innermost)[-depth:] if depth else []
    of_user = [frame for frame in frames if not frame.filename.startswith(_PACKAGE)]
    lines = traceback.format_list(of_user or frames)
    return "".join(["Where the task was (most recent call last):\n", *lines]).rstrip("\n")


class TaskDeadline:
    """Watches over the tasks of one slot process, one at a time."""

    def __init__(self, stacks: Path) -> None:
        """`stacks` is the file for the fault handler's last words."""
        self._path = stacks
        self._stacks: IO[str] | None = None
        self.lock = threading.Lock()
        """Held by whoever sends: a failure goes out between two whole frames."""
        self._over = threading.Event()

    def start(self, limit: TimeLimit, fail: Callable[[HeadraceError], None]) -> None:
        """The thread that calls has so much time; then `fail` is called with the lock held, and the process ends."""
        if self._stacks is None:
            self._stacks = open(self._path, "w")
        faulthandler.dump_traceback_later(limit.seconds + TIMEOUT_GRACE, exit=True, file=self._stacks)
        over = self._over = threading.Event()
        arguments = (threading.get_ident(), limit, over, fail)
        threading.Thread(target=self._watch, args=arguments, name="headrace-deadline", daemon=True).start()

    def stop(self) -> None:
        """The task is done; called with the lock held."""
        self._over.set()
        if self._stacks is not None:
            faulthandler.cancel_dump_traceback_later()

    def _watch(
        self, thread_id: int, limit: TimeLimit, over: threading.Event, fail: Callable[[HeadraceError], None]
    ) -> None:
        if over.wait(limit.seconds):
            return
        error = timeout_error(thread_id, limit)
        with self.lock:
            if over.is_set():
                return
            try:
                fail(error)
            finally:
                # The whole group: the function may wait for a program that it has started.
                os.killpg(os.getpgrp(), signal.SIGKILL)
