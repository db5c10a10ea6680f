"""End a slot process on SIGTERM, or when the executor's Python daemon exits; limit how long `close()` may take.

Functions run in the main thread. At the limit of a `close()`:

1. A signal raises an exception in the main thread. It interrupts most waiting calls, and the task continues with its other
   functions.
2. A function may swallow that exception, or wait in a library that ignores signals. A little later `give_up` reports the
   failure, and the process and all processes that it started are killed.

Code that never releases the interpreter blocks both: only `headrace.task.timeout`, which the courier enforces, ends it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from headrace.errors import CloseTimeoutError
from headrace.worker.slot.deadline import close_timeout
from headrace.worker.slot.folder import is_alive
from headrace.worker.slot.launch import CLOSE_SECONDS
from headrace.worker.slot.wire import TIMEOUT_GRACE


class SlotEnding(BaseException):
    """Raised in the main thread when the slot must end: during a task, or while it waits for one."""


class Ending:
    """Ends a slot: the first SIGTERM starts the time limit for closing, and raises `SlotEnding` in a running task.

    Python drops exceptions that are raised inside destructors and garbage collector callbacks. So nothing is raised between
    tasks, and a task that swallowed the exception is the last one.
    """

    def __init__(self) -> None:
        self.orphaned = False
        """Whether the executor is gone."""
        self._told = self._working = False
        self._woken, self._wake = os.pipe()  # a signal just before a system call does not interrupt it

    def listen(self, daemon: int) -> None:
        """End this process on SIGTERM, and when the process `daemon` exits."""
        os.set_blocking(self._wake, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, self._terminated)
        threading.Thread(target=self._watch, args=(daemon,), name="headrace-watch", daemon=True).start()

    def _terminated(self, number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.alarm(int(CLOSE_SECONDS))
        self._told = True
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake, b"\0")  # an event loop of user code may have replaced the wakeup descriptor
        if self._working:
            raise SlotEnding

    def accept(self, server: socket.socket) -> socket.socket:
        """Wait for a connection. Raise SlotEnding if the slot must end."""
        while not self._told:
            ready, _, _ = select.select([server.fileno(), self._woken], [], [])
            if self._woken in ready:
                os.read(self._woken, 4096)
            elif not self._told:
                return server.accept()[0]
        raise SlotEnding

    @contextlib.contextmanager
    def interrupts(self) -> Iterator[None]:
        """Let SlotEnding interrupt the body."""
        self._working = True
        try:
            if self._told:
                raise SlotEnding
            yield
        finally:
            self._working = False

    def _watch(self, daemon: int) -> None:
        _wait_for_exit(daemon)
        self.orphaned = True
        signal.alarm(int(CLOSE_SECONDS))  # even if the main thread never handles the signal
        with open(os.devnull, "w") as nowhere:  # the reader of our output is gone: writing to it would fail
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        os.kill(os.getpid(), signal.SIGTERM)


def _wait_for_exit(pid: int) -> None:
    try:
        handle = os.pidfd_open(pid)
    except (AttributeError, OSError):
        while is_alive(pid):
            time.sleep(0.5)
        return
    select.select([handle], [], [])


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
