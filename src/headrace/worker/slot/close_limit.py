"""Limit how long a function's `close()` may take in a slot process, where functions run in the main thread.

1. At the limit, a signal raises an exception in the main thread. It interrupts most waiting calls, and the task continues
with its other functions. 2. A function may swallow that exception, or wait in a library that ignores signals. A little
later `give_up` reports the failure, and the process and all processes that it started are killed. Code that never releases
the interpreter blocks both steps: only `headrace.task.timeout`, which the courier enforces, ends it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from headrace.errors import CloseTimeoutError
from headrace.worker.slot.deadline import close_timeout
from headrace.worker.slot.wire import TIMEOUT_GRACE

_SIGNAL = signal.SIGVTALRM  # hardly any program uses it; SIGALRM ends a slot that does not end itself


class CloseLeft(BaseException):
    """Raised in a `close()` that takes too long. Not an Exception, which functions might catch."""


class CloseLimit:
    """Calls `close()` methods with a limit, one at a time, all from the main thread."""

    def __init__(self, seconds: float, give_up: Callable[[CloseTimeoutError], None]) -> None:
        """`give_up` is called from another thread while the main thread is in `close()`; then the process is killed."""
        self._seconds = seconds
        self._give_up = give_up
        self._lock = threading.Lock()
        self._closing: threading.Event | None = None
        self._overdue: threading.Event | None = None
        signal.signal(_SIGNAL, self._interrupted)

    def run(self, call: Callable[[], Any]) -> None:
        """Call it. Raise CloseTimeoutError, with the stack, if it takes too long."""
        closed = threading.Event()
        found: list[CloseTimeoutError] = []
        arguments = (threading.get_ident(), closed, found)
        threading.Thread(target=self._watch, args=arguments, name="headrace-close", daemon=True).start()
        try:
            try:
                self._closing = closed
                call()
            finally:
                self._closing = None
        except CloseLeft:
            raise found[0] from None
        finally:
            with self._lock:  # while the other thread gives up, this one must not do or send anything
                closed.set()

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if (
            self._closing is not None and self._closing is self._overdue
        ):  # it may be late, and meant for the last close()
            raise CloseLeft

    def _watch(self, thread_id: int, closed: threading.Event, found: list[CloseTimeoutError]) -> None:
        if closed.wait(self._seconds):
            return
        error = close_timeout(thread_id, self._seconds)
        found.append(error)
        self._overdue = closed
        signal.pthread_kill(thread_id, _SIGNAL)
        if closed.wait(TIMEOUT_GRACE):
            return
        with self._lock:
            if not closed.is_set():
                try:
                    self._give_up(error)
                finally:
                    os.killpg(os.getpgrp(), signal.SIGKILL)
