"""What others ask of a running job between two epochs: savepoints, stops, another parallelism.

Anybody may ask, from any thread; the loop takes one request at a time and answers it.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from headrace.common.errors import JobExecutionError

__all__ = ["Request", "Requests"]


@dataclass
class Request:
    """One wish. `checkpoint`: make one now; `savepoint`: take one, below `directory`; `stop`: then end; `drain`: let event
    time end first.
    """

    checkpoint: bool = False
    savepoint: bool = False
    directory: str | None = None
    stop: bool = False
    drain: bool = False
    parallelism: int | None = None
    answer: Any = None
    error: BaseException | None = None
    done: threading.Event = field(default_factory=threading.Event)

    def succeed(self, answer: Any) -> None:
        """It was done."""
        self.answer = answer
        self.done.set()

    def fail(self, error: BaseException) -> None:
        """It could not be done."""
        self.error = error
        self.done.set()


class Requests:
    """The queue between those who ask and the loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Request] = deque()
        self._closed: str | None = None

    def post(self, request: Request) -> None:
        """Asks without waiting."""
        with self._lock:
            if self._closed is not None:
                raise JobExecutionError(self._closed)
            self._waiting.append(request)

    def ask(self, request: Request) -> Any:
        """Waits for the answer; raises what made it impossible."""
        self.post(request)
        request.done.wait()
        if request.error is not None:
            raise request.error
        return request.answer

    def next(self) -> Request | None:
        """The oldest request that is not answered yet."""
        with self._lock:
            while self._waiting and self._waiting[0].done.is_set():
                self._waiting.popleft()
            return self._waiting[0] if self._waiting else None

    def close(self, why: str) -> None:
        """The job has ended: nobody waits in vain."""
        with self._lock:
            self._closed = why
            for request in self._waiting:
                if not request.done.is_set():
                    request.fail(JobExecutionError(why))
