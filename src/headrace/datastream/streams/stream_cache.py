"""StreamCache: the elements of a cached stream, from the end of the job that computes them until they are given up.

Decides when the elements are known: after the end of a job that ran well. Filled in a thread of its own, because a job
hands its results over while it runs. Used by CachedDataStream and the environment.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread
from typing import Any, Protocol

from headrace.common.job_status import JobStatus
from headrace.errors import HeadraceError

__all__ = ["StreamCache"]


class _Job(Protocol):
    def results(self, collect_id: str) -> Iterator[Any]: ...
    def wait(self) -> Any: ...
    def status(self) -> JobStatus: ...


class StreamCache:
    """What is known of the elements of one stream: nothing yet, or all of them with their timestamps.

    >>> class Job:
    ...     def results(self, collect_id):
    ...         return iter([("a", 1), ("b", None)])
    ...
    ...     def wait(self): ...
    ...
    ...     def status(self):
    ...         return JobStatus.FINISHED
    >>> cache = StreamCache("words")
    >>> cache.elements() is None
    True
    >>> cache.fill_from(Job())
    >>> cache.elements()
    [('a', 1), ('b', None)]
    >>> cache.forget()
    >>> cache.elements() is None
    True
    """

    def __init__(self, collect_id: str) -> None:
        """`collect_id` is under what name jobs hand the elements over."""
        self.collect_id = collect_id
        self._elements: list[Any] | None = None
        self._filling: Thread | None = None
        self._job: _Job | None = None

    def elements(self) -> list[Any] | None:
        """Return the elements with their timestamps, None while they are not known."""
        if self._job is not None and self._job.status().is_globally_terminal_state():
            self.settle()  # the last of them are on their way
        return self._elements

    def fill_from(self, job: _Job) -> None:
        """Take the elements that ``job`` computes, if it ends well."""
        self._job = job
        self._filling = Thread(target=self._fill, args=(job,), name=f"headrace-cache-{self.collect_id}", daemon=True)
        self._filling.start()

    def settle(self) -> None:
        """Wait until the job that computes the elements has ended."""
        if self._filling is not None:
            self._filling.join()
            self._filling = self._job = None

    def forget(self) -> None:
        """Return the elements up; the next job computes them again."""
        self.settle()
        self._elements = None

    def _fill(self, job: _Job) -> None:
        try:
            elements = list(job.results(self.collect_id))
            job.wait()
        except HeadraceError:
            return  # whoever waits for the job is told
        self._elements = elements
