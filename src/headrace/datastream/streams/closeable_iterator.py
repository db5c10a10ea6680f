"""CloseableIterator: the elements of a stream of a running job, from `DataStream.execute_and_collect`.

Closing it cancels the job if it is still running. After the last element it waits until the job finishes.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from typing_extensions import Self


class _Job(Protocol):
    def results(self, collect_id: str) -> Iterator[Any]: ...
    def cancel(self) -> Any: ...
    def interrupt(self) -> Any: ...
    def wait(self) -> Any: ...


class CloseableIterator:
    """Iterates over elements as the job produces them; a context manager.

    >>> class Job:
    ...     def results(self, collect_id):
    ...         return iter([1, 2, 3])
    ...
    ...     def wait(self):
    ...         print("finished")
    ...
    ...     def cancel(self):
    ...         print("cancelled")
    >>> with CloseableIterator(Job(), "c") as results:
    ...     print(next(results))
    1
    cancelled
    >>> list(CloseableIterator(Job(), "c"))
    finished
    [1, 2, 3]
    """

    def __init__(self, job: _Job, collect_id: str) -> None:
        """Programs call `DataStream.execute_and_collect`."""
        self._job = job
        self._results = job.results(collect_id)
        self._ended = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        """Return the next element; wait for it if necessary."""
        return self.next()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        self.close()

    def next(self) -> Any:
        """Return the next element. Raise the error of a failed job."""
        if self._ended:
            raise StopIteration("No more data.")
        try:
            return next(self._results)
        except StopIteration:
            self._ended = True
            self._job.wait()
            raise StopIteration("No more data.") from None
        except KeyboardInterrupt:
            self._ended = True
            self._job.interrupt()
            raise

    def take(self, limit: int) -> list[Any]:
        """Return at most ``limit`` elements and close the iterator."""
        elements: list[Any] = []
        try:
            for element in self:
                elements.append(element)
                if len(elements) == limit:
                    break
        finally:
            self.close()
        return elements

    def close(self) -> None:
        """Cancel the job if it is still running. Remaining elements are lost."""
        if not self._ended:
            self._ended = True
            self._job.cancel()
