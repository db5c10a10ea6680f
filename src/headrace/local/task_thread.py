"""A thread that runs the tasks of a job in this process, so that a task that takes too long can be abandoned.

A thread cannot be killed. An abandoned thread gets an exception at its next step in Python, which no `except Exception` of
user code catches: a loop ends there, a blocking call ends when it returns. Its results are ignored.
"""

from __future__ import annotations

import ctypes
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from headrace.config.worker_settings import TimeLimit
from headrace.worker.slot.deadline import close_timeout, timeout_error

T = TypeVar("T")


class _AbandonedError(BaseException):
    """Raised in a thread whose time is over, wherever it is."""


class TaskThread:
    """Runs one call at a time in a separate thread.

    >>> thread = TaskThread()
    >>> thread.run(lambda: 3, TimeLimit(10.0, "headrace.task.timeout"), abandoned=print)
    3
    >>> thread.end(lambda: "closed")
    'closed'
    """

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self._abandoned: Callable[[], Any] | None = None
        self._thread = threading.Thread(target=self._work, name="headrace-tasks", daemon=True)
        self._thread.start()

    def run(self, call: Callable[[], T], limit: TimeLimit, abandoned: Callable[[], Any]) -> T:
        """Return the result of a call. Raise TaskTimeoutError if it takes too long; call `abandoned` when it returns."""
        try:
            return self._answer(call, limit.seconds)
        except queue.Empty:
            ident = self._thread.ident
            assert ident is not None, "it was started"
            error = timeout_error(ident, limit)
            self._abandoned = abandoned
            self._calls.put(None)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(_AbandonedError))
            raise error from None

    def end(self, call: Callable[[], T], seconds: float | None = None) -> T:
        """Return the result of the last call, and end the thread. Raise CloseTimeoutError if it takes too long."""
        try:
            return self._answer(call, seconds)
        except queue.Empty:
            assert self._thread.ident is not None, "it was started"
            raise close_timeout(self._thread.ident, seconds or 0.0) from None
        finally:
            self._calls.put(None)

    def _answer(self, call: Callable[[], T], seconds: float | None) -> T:
        self._calls.put(call)
        result, error = self._results.get(timeout=seconds)
        if error is not None:
            raise error
        return cast("T", result)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            try:
                result = call()
            except _AbandonedError:
                break
            except BaseException as error:
                self._results.put((None, error))
            else:
                self._results.put((result, None))
        if self._abandoned is not None:
            self._abandoned()
