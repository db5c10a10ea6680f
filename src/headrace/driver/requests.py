"""What others ask of a running job between two epochs: checkpoints, savepoints, stops, another parallelism.

Anybody may ask, from any thread. The job machine queues the requests and works on one at a time, the oldest first. It
gives every request exactly one answer:

1. When the work is done, or when it turns out that it cannot be done.
2. If the job fails, the request in work fails too, and so do checkpoints and savepoints that wait. A rescale that waits
   is served after the restart.
3. When the job ends, all that are left are refused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Request:
    """A request. `checkpoint`: make one now; `savepoint`: take one, below `directory`; `stop`: then end; `drain`: let
    event time end first.
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
        assert not self.done.is_set(), "a request is answered once"
        self.answer = answer
        self.done.set()

    def fail(self, error: BaseException) -> None:
        """Answer that it could not be done."""
        assert not self.done.is_set(), "a request is answered once"
        self.error = error
        self.done.set()


class Requests:
    """The way in for those who ask. `arrived` tells the job machine."""

    def __init__(self, arrived: Callable[[Request], None]) -> None:
        self._arrived = arrived

    def post(self, request: Request) -> None:
        """Ask without waiting. Raise if the job has ended."""
        self._arrived(request)
        if request.done.is_set() and request.error is not None:
            raise request.error

    def ask(self, request: Request) -> Any:
        """Wait for the answer and return it. Raise the reason if the request failed."""
        self.post(request)
        request.done.wait()
        if request.error is not None:
            raise request.error
        return request.answer
