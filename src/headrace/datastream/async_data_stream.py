"""AsyncDataStream: asynchronous calls for the elements of a stream, such as concurrent database lookups.

Checks the arguments. The calls run in `headrace.operators.async_wait`.
"""

from __future__ import annotations

import inspect
from typing import Any

from headrace.compatibility.names import offer_pyflink_names
from headrace.datastream.streams.data_stream import DataStream
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.functions import AsyncFunction, AsyncRetryStrategy
from headrace.functions.async_retry_strategies import NO_RETRY_STRATEGY
from headrace.graph.specs import AsyncWait
from headrace.types.declared_types import declared_type
from headrace.types.time import millis_of
from headrace.types.typeinfo import TypeInformation

__all__ = ["AsyncDataStream"]
offer_pyflink_names(__name__)


class AsyncDataStream:
    """Applies an AsyncFunction to a stream.

    >>> from headrace.common import Time
    >>> from headrace.datastream import AsyncFunction, StreamExecutionEnvironment
    >>> class Lookup(AsyncFunction):
    ...     async def async_invoke(self, value):
    ...         return [value * 10]
    >>> numbers = StreamExecutionEnvironment.get_execution_environment().from_collection([1, 2, 3])
    >>> AsyncDataStream.ordered_wait(numbers, Lookup(), Time.seconds(5), capacity=2).get_name()
    'async wait operator'
    """

    @staticmethod
    def unordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Any,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Call the function for up to ``capacity`` elements at once; results arrive as calls finish, between two watermarks."""
        return _wait(data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type, False)

    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Any,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Like `unordered_wait`; calls are retried according to the strategy until the timeout."""
        return _wait(data_stream, async_function, timeout, async_retry_strategy, capacity, output_type, False)

    @staticmethod
    def ordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Any,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Call the function for up to ``capacity`` elements at once; results keep the order of the elements."""
        return _wait(data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type, True)

    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Any,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Like `ordered_wait`; calls are retried according to the strategy until the timeout."""
        return _wait(data_stream, async_function, timeout, async_retry_strategy, capacity, output_type, True)


def _wait(
    stream: Any, function: Any, timeout: Any, retry: Any, capacity: int, output_type: Any, ordered: bool
) -> DataStream:
    if not isinstance(stream, DataStream):
        raise TypeMismatchError("AsyncDataStream takes a stream", seen=stream, expected="a DataStream")
    invoke = getattr(function, "async_invoke", None)
    if not inspect.iscoroutinefunction(invoke):
        raise TypeMismatchError(
            f"Method 'async_invoke' of class '{type(function).__name__}' should be declared as 'async def'.",
            seen=function,
            expected="an AsyncFunction",
        )
    if not isinstance(retry, AsyncRetryStrategy):
        raise TypeMismatchError(
            "Async retry strategy should not be None.", seen=retry, expected="an AsyncRetryStrategy"
        )
    millis = millis_of(timeout, "timeout")
    if retry is not NO_RETRY_STRATEGY and millis <= 0:
        raise InvalidProgramError("Timeout should be configured when do async with retry.", seen=f"{millis} ms")
    if retry.get_retry_predicate() is None:
        raise InvalidProgramError(f"Retry predicate of the async retry strategy '{type(retry).__name__}' is None.")
    if isinstance(capacity, bool) or not isinstance(capacity, int) or capacity < 1:
        raise InvalidProgramError(
            "capacity must be a positive number of concurrent calls", seen=capacity, expected="at least 1"
        )
    spec = AsyncWait(function, ordered, millis, capacity, None if retry is NO_RETRY_STRATEGY else retry)
    return stream.one_input_operator(spec, AsyncWait.label, declared_type(output_type))
