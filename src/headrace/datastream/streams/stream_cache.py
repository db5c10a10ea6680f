"""StreamCache: the elements of a cached stream, from the end of the job that computes them until they are invalidated.

The elements are known after a job that succeeded. A separate thread collects them, because a job delivers its results
while it runs. Used by CachedDataStream and the environment.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread
from typing import Any, Protocol

from headrace.common.job_status import JobStatus
from headrace.errors import HeadraceError


class _Job(Protocol):
    def results(self, collect_id: str) -> Iterator[Any]: ...
    def wait(self) -> Any: ...
    def status(self) -> JobStatus: ...


class StreamCache:
    """The elements of one stream with their timestamps, or nothing yet.

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
        """Create an empty cache; jobs deliver the elements under the name `collect_id`."""
        self.collect_id = collect_id
        self._elements: list[Any] | None = None
        self._filling: Thread | None = None
        self._job: _Job | None = None

    def elements(self) -> list[Any] | None:
        """Return the elements with their timestamps, or None if they are not known yet."""
        if self._job is not None and self._job.status().is_globally_terminal_state():
            self.settle()  # the last of them are still being delivered
        return self._elements

    def fill_from(self, job: _Job) -> None:
        """Collect the elements that ``job`` computes, if it succeeds."""
        self._job = job
        self._filling = Thread(target=self._fill, args=(job,), name=f"headrace-cache-{self.collect_id}", daemon=True)
        self._filling.start()

    def settle(self) -> None:
        """Wait until the job that computes the elements has finished."""
        if self._filling is not None:
            self._filling.join()
            self._filling = self._job = None

    def forget(self) -> None:
        """Discard the elements; the next job computes them again."""
        self.settle()
        self._elements = None

    def _fill(self, job: _Job) -> None:
        try:
            elements = list(job.results(self.collect_id))
            job.wait()
        except HeadraceError:
            return  # the caller that waits for the job gets its error
        self._elements = elements
