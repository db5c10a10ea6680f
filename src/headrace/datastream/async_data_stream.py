"""AsyncDataStream: asynchronous calls in a stream. Declared here, available with a later version."""

from __future__ import annotations

from typing import Any, NoReturn

from headrace.common.errors import InvalidProgramError

__all__ = ["AsyncDataStream"]


class AsyncDataStream:
    """Applies an AsyncFunction to a stream.

    >>> AsyncDataStream.unordered_wait(None, None, None)
    Traceback (most recent call last):
    ...
    headrace.common.errors.InvalidProgramError: unordered_wait() is not available in this version of headrace [INVALID_PROGRAM]
      remedy:   make the call in a map or flat_map function
    """

    @staticmethod
    def unordered_wait(
        data_stream: Any, async_function: Any, timeout: Any, capacity: int = 100, output_type: Any = None
    ) -> Any:
        """Refuse: comes with a later version."""
        _missing("unordered_wait()")

    @staticmethod
    def unordered_wait_with_retry(
        data_stream: Any,
        async_function: Any,
        timeout: Any,
        async_retry_strategy: Any,
        capacity: int = 100,
        output_type: Any = None,
    ) -> Any:
        """Refuse: comes with a later version."""
        _missing("unordered_wait_with_retry()")

    @staticmethod
    def ordered_wait(
        data_stream: Any, async_function: Any, timeout: Any, capacity: int = 100, output_type: Any = None
    ) -> Any:
        """Refuse: comes with a later version."""
        _missing("ordered_wait()")

    @staticmethod
    def ordered_wait_with_retry(
        data_stream: Any,
        async_function: Any,
        timeout: Any,
        async_retry_strategy: Any,
        capacity: int = 100,
        output_type: Any = None,
    ) -> Any:
        """Refuse: comes with a later version."""
        _missing("ordered_wait_with_retry()")


def _missing(call: str) -> NoReturn:
    raise InvalidProgramError(
        f"{call} is not available in this version of headrace", remedy="make the call in a map or flat_map function"
    )
