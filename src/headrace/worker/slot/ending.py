"""End a slot process on SIGTERM, or when the executor's Python daemon exits."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Iterator
from types import FrameType

from headrace.worker.slot.folder import is_alive
from headrace.worker.slot.launch import CLOSE_SECONDS


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
