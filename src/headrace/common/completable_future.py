"""CompletableFuture: a future result, with PyFlink's methods, around a ``concurrent.futures.Future``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headrace.compatibility.names import offer_pyflink_names

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["CompletableFuture"]
offer_pyflink_names(__name__)


class CompletableFuture:
    """A future result, as returned by ``JobClient``.

    >>> future = CompletableFuture.supply(lambda: "5", int)
    >>> future.result(), future.done(), future.exception() is None
    (5, True, True)
    """

    def __init__(self, future: Future[Any], py_class: Callable[[Any], Any] | None = None) -> None:
        """Wrap a future; ``py_class`` is called on its result."""
        self._future = future
        self._py_class = py_class

    @staticmethod
    def supply(function: Callable[[], Any], py_class: Callable[[Any], Any] | None = None) -> CompletableFuture:
        """Call a function in a new thread; the future gets its result or error.

        >>> CompletableFuture.supply(lambda: 1 + 1).result()
        2
        """
        import threading
        from concurrent.futures import Future

        future: Future[Any] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(function())
            except BaseException as error:  # noqa: BLE001,RUF100 - the caller of result() gets it
                future.set_exception(error)

        # A daemon thread, so that a program need not wait for the result.
        threading.Thread(target=run, name="headrace-future", daemon=True).start()
        return CompletableFuture(future, py_class)

    def cancel(self) -> bool:
        """Cancel the call if it has not started. Return whether that worked.

        >>> CompletableFuture.completed(1).cancel()
        False
        """
        return self._future.cancel()

    def cancelled(self) -> bool:
        """Return whether the future was cancelled.

        >>> CompletableFuture.completed(1).cancelled()
        False
        """
        return self._future.cancelled()

    def done(self) -> bool:
        """Return whether the future has a result or an error, or was cancelled.

        >>> CompletableFuture.completed(1).done()
        True
        """
        return self._future.done()

    def result(self) -> Any:
        """Wait for the result and return it, or raise the error.

        >>> CompletableFuture.completed(1).result()
        1
        """
        return self.get()

    def get(self, timeout: float | None = None) -> Any:
        """Wait at most ``timeout`` seconds for the result.

        >>> CompletableFuture.completed(1).get(timeout=5)
        1
        """
        from concurrent.futures import TimeoutError as FutureTimeoutError

        try:
            value = self._future.result(timeout)
        except FutureTimeoutError:  # not yet the built-in one in Python 3.10
            if self._future.done():
                raise
            raise TimeoutError(f"No result after {timeout} seconds") from None
        return value if self._py_class is None else self._py_class(value)

    def exception(self) -> BaseException | None:
        """Return the error, or ``None`` if there is none yet; does not wait.

        >>> CompletableFuture.supply(lambda: 1).exception() is None
        True
        """
        if not self._future.done():
            return None
        if self._future.cancelled():
            from concurrent.futures import CancelledError

            return CancelledError()
        return self._future.exception()

    @staticmethod
    def completed(value: Any) -> CompletableFuture:
        """Return a completed future.

        >>> CompletableFuture.completed("x").result()
        'x'
        """
        from concurrent.futures import Future

        future: Future[Any] = Future()
        future.set_result(value)
        return CompletableFuture(future)

    def __str__(self) -> str:
        if not self.done():
            return "CompletableFuture[not completed]"
        state = "cancelled" if self.cancelled() else "failed" if self.exception() else "completed"
        return f"CompletableFuture[{state}]"
