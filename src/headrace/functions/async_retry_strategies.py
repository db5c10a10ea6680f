"""Retry strategies of asynchronous calls: after which results and errors, how often and after which delay to retry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from headrace.errors import InvalidProgramError
from headrace.functions import AsyncRetryPredicate, AsyncRetryStrategy

__all__ = [
    "NO_RETRY_STRATEGY",
    "ExponentialBackoffDelayRetryStrategy",
    "FixedDelayRetryStrategy",
    "NoRetryStrategy",
    "RetryPredicate",
]

OUT = TypeVar("OUT")
ResultTest = Callable[[list[Any]], bool]
ErrorTest = Callable[[Exception], bool]


def _positive(value: float, name: str) -> None:
    if not value > 0:
        raise InvalidProgramError(f"{name} should be greater than zero.", seen=value)


class RetryPredicate(AsyncRetryPredicate[OUT]):
    """A pair of predicates, either of which may be None.

    >>> RetryPredicate(None, None).result_predicate() is None
    True
    """

    def __init__(self, result_predicate: ResultTest | None, exception_predicate: ErrorTest | None) -> None:
        """Store the predicates."""
        self._result_predicate = result_predicate
        self._exception_predicate = exception_predicate

    def result_predicate(self) -> ResultTest | None:
        """Return the predicate on results."""
        return self._result_predicate

    def exception_predicate(self) -> ErrorTest | None:
        """Return the predicate on errors."""
        return self._exception_predicate


class NoRetryStrategy(AsyncRetryStrategy[OUT]):
    """Never retries.

    >>> NoRetryStrategy().can_retry(1)
    False
    """

    def can_retry(self, current_attempts: int) -> bool:
        """Return False."""
        return False

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return -1: there is no next attempt."""
        return -1

    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return empty predicates."""
        return RetryPredicate(None, None)


class _LimitedRetryStrategy(AsyncRetryStrategy[OUT]):
    def __init__(
        self, max_attempts: int, result_predicate: ResultTest | None, exception_predicate: ErrorTest | None
    ) -> None:
        _positive(max_attempts, "max_attempts")
        self._max_attempts = max_attempts
        self._predicate: RetryPredicate[OUT] = RetryPredicate(result_predicate, exception_predicate)

    def can_retry(self, current_attempts: int) -> bool:
        """Return whether another attempt may follow."""
        return current_attempts <= self._max_attempts

    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return the predicates."""
        return self._predicate


class FixedDelayRetryStrategy(_LimitedRetryStrategy[OUT]):
    """Retries up to ``max_attempts`` times, always after the same delay.

    >>> FixedDelayRetryStrategy(2, 100, None, None).can_retry(2)
    True
    """

    def __init__(
        self,
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: ResultTest | None,
        exception_predicate: ErrorTest | None,
    ) -> None:
        """Check and store the numbers."""
        super().__init__(max_attempts, result_predicate, exception_predicate)
        _positive(backoff_time_millis, "backoff_time_millis")
        self._backoff_time_millis = backoff_time_millis

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the fixed delay."""
        return self._backoff_time_millis


class ExponentialBackoffDelayRetryStrategy(_LimitedRetryStrategy[OUT]):
    """Retries up to ``max_attempts`` times, after delays that grow by a factor up to a limit.

    >>> strategy = ExponentialBackoffDelayRetryStrategy(5, 100, 300, 2.0, None, None)
    >>> [strategy.get_backoff_time_millis(attempt) for attempt in (1, 2, 3, 4)]
    [100, 200, 300, 300]
    """

    def __init__(
        self,
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: ResultTest | None,
        exception_predicate: ErrorTest | None,
    ) -> None:
        """Check and store the numbers."""
        super().__init__(max_attempts, result_predicate, exception_predicate)
        _positive(initial_delay, "initial_delay")
        _positive(max_retry_delay, "max_retry_delay")
        _positive(multiplier, "multiplier")
        self._initial_delay = initial_delay
        self._max_retry_delay = max_retry_delay
        self._multiplier = multiplier

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the delay after attempt number ``current_attempts``, which starts at 1."""
        delay = self._initial_delay
        for _ in range(current_attempts - 1):
            delay = int(min(delay * self._multiplier, self._max_retry_delay))
        return delay


NO_RETRY_STRATEGY: AsyncRetryStrategy[Any] = NoRetryStrategy()


def empty_result_predicate(result: list[Any] | None) -> bool:
    """Return whether a call returned no result.

    >>> empty_result_predicate([]), empty_result_predicate([1])
    (True, False)
    """
    return not result


def has_exception_predicate(error: BaseException | None) -> bool:
    """Return whether a call raised.

    >>> has_exception_predicate(None)
    False
    """
    return error is not None


def exception_type_predicate(error: BaseException, expected_error_type: type[BaseException]) -> bool:
    """Return whether a call raised an error of this type.

    >>> exception_type_predicate(KeyError("a"), LookupError)
    True
    """
    return isinstance(error, expected_error_type)
