"""What others ask of a running job between two epochs: checkpoints, savepoints, stops, another parallelism.

Anybody may ask, from any thread. The loop works on one request at a time, the oldest first. Every request gets exactly
one answer:

1. The loop answers it when the work is done, or says why it cannot be done.
2. If the job fails, the request in work fails with it, and so do checkpoints and savepoints that wait: what they were to
   hold is gone. A rescale that waits is served after the restart.
3. When the job ends, all that are left are refused.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from headrace.errors import HeadraceError, JobExecutionError

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

    @property
    def what(self) -> str:
        """The request in words.

        >>> Request(parallelism=3).what, Request(savepoint=True, stop=True).what
        ('rescale to parallelism 3', 'stop with a savepoint')
        """
        if self.parallelism is not None:
            return f"rescale to parallelism {self.parallelism}"
        if self.stop:
            return "stop with a savepoint"
        return "savepoint" if self.savepoint else "checkpoint"

    def succeed(self, answer: Any) -> None:
        """Answer that it was done."""
        assert not self.done.is_set(), "a request is answered once"
        self.answer = answer
        self.done.set()

    def fail(self, error: BaseException) -> None:
        """Answer that it could not be done."""
        assert not self.done.is_set(), "a request is answered once"
        self.error = error
        self.done.set()


class Requests:
    """The queue between those who ask and the loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_work: Request | None = None
        self._waiting: deque[Request] = deque()
        self._closed: str | None = None

    def post(self, request: Request) -> None:
        """Ask without waiting."""
        with self._lock:
            if self._closed is not None:
                raise JobExecutionError(self._closed)
            self._waiting.append(request)

    def ask(self, request: Request) -> Any:
        """Wait for the answer. Raise the reason if the request failed."""
        self.post(request)
        request.done.wait()
        if request.error is not None:
            raise request.error
        return request.answer

    def next(self) -> Request | None:
        """Give the request to work on: the same one until it is answered, then the oldest that waits."""
        with self._lock:
            if self._in_work is None or self._in_work.done.is_set():
                self._in_work = self._waiting.popleft() if self._waiting else None
            return self._in_work

    def job_failed(self, failure: HeadraceError) -> None:
        """The job has failed, and may be started again."""
        with self._lock:
            kept = [request for request in self._waiting if request.parallelism is not None]
            refused = [request for request in self._waiting if request.parallelism is None]
            self._waiting = deque(kept)
            for request in [*self._unanswered(), *refused]:
                request.fail(
                    JobExecutionError(
                        f"The {request.what} failed because the job failed: {failure.message}",
                        remedy="ask again when the job runs.",
                    )
                )

    def close(self, why: str) -> None:
        """The job has ended: nobody waits in vain."""
        with self._lock:
            self._closed = why
            for request in [*self._unanswered(), *self._waiting]:
                request.fail(JobExecutionError(why))
            self._waiting.clear()

    def _unanswered(self) -> list[Request]:
        request, self._in_work = self._in_work, None
        return [request] if request is not None and not request.done.is_set() else []
