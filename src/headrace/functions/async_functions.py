"""Functions for asynchronous calls and their retries, for `AsyncDataStream`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from headrace.functions.function import Function

IN = TypeVar("IN")
OUT = TypeVar("OUT")


class AsyncRetryPredicate(ABC, Generic[OUT]):
    """Decides after which results and errors a call is retried.

    >>> sorted(AsyncRetryPredicate.__abstractmethods__)
    ['exception_predicate', 'result_predicate']
    """

    @abstractmethod
    def result_predicate(self) -> Callable[[list[OUT]], bool] | None:
        """Return the predicate on results, or None if no result is retried."""

    @abstractmethod
    def exception_predicate(self) -> Callable[[Exception], bool] | None:
        """Return the predicate on errors, or None if no error is retried."""


class AsyncRetryStrategy(ABC, Generic[OUT]):
    """Decides how often and after which delay a call is retried.

    >>> AsyncRetryStrategy.fixed_delay(3, 100, None, None).get_backoff_time_millis(1)
    100
    """

    @abstractmethod
    def can_retry(self, current_attempts: int) -> bool:
        """Return whether another attempt may follow attempt number ``current_attempts``."""

    @abstractmethod
    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the delay before the next attempt."""

    @abstractmethod
    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return the predicates on results and errors."""

    @staticmethod
    def no_restart() -> AsyncRetryStrategy[Any]:
        """Return the strategy without retries.

        >>> AsyncRetryStrategy.no_restart().can_retry(1)
        False
        """
        from headrace.functions.async_retry_strategies import NO_RETRY_STRATEGY

        return NO_RETRY_STRATEGY

    @staticmethod
    def fixed_delay(
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: Callable[[list[Any]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> AsyncRetryStrategy[Any]:
        """Return the strategy with the same delay before each attempt.

        >>> AsyncRetryStrategy.fixed_delay(2, 100, None, None).can_retry(3)
        False
        """
        from headrace.functions.async_retry_strategies import FixedDelayRetryStrategy

        return FixedDelayRetryStrategy(max_attempts, backoff_time_millis, result_predicate, exception_predicate)

    @staticmethod
    def exponential_backoff(
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: Callable[[list[Any]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> AsyncRetryStrategy[Any]:
        """Return the strategy whose delay grows by ``multiplier`` up to ``max_retry_delay``.

        >>> strategy = AsyncRetryStrategy.exponential_backoff(5, 100, 1000, 2.0, None, None)
        >>> strategy.can_retry(5)
        True
        """
        from headrace.functions.async_retry_strategies import ExponentialBackoffDelayRetryStrategy

        return ExponentialBackoffDelayRetryStrategy(
            max_attempts, initial_delay, max_retry_delay, multiplier, result_predicate, exception_predicate
        )


class AsyncFunction(Function, Generic[IN, OUT]):
    """Computes the results for an element by asynchronous calls.

    >>> class Lookup(AsyncFunction):
    ...     async def async_invoke(self, value):
    ...         return [value]
    >>> Lookup().timeout(5)
    Traceback (most recent call last):
    ...
    TimeoutError: Async function call has timed out for input: 5
    """

    @abstractmethod
    async def async_invoke(self, value: IN) -> list[OUT]:
        """Return the results for ``value``."""

    def timeout(self, value: IN) -> list[OUT]:
        """Return the results for an element whose call timed out. Raises an error by default."""
        raise TimeoutError(f"Async function call has timed out for input: {value}")


@dataclass(eq=False)
class AsyncFunctionDescriptor:
    """An asynchronous function and the settings of its calls.

    >>> AsyncFunctionDescriptor(None, 1, 100, None, AsyncFunctionDescriptor.OutputMode.ORDERED).capacity
    100
    """

    class OutputMode(Enum):
        """Whether results keep the order of the elements."""

        ORDERED = 0
        UNORDERED = 1

    async_function: Any
    timeout: Any
    capacity: int
    async_retry_strategy: Any
    output_mode: AsyncFunctionDescriptor.OutputMode
