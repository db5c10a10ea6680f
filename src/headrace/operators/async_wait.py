"""Asynchronous calls: run an AsyncFunction's `async_invoke` for many records at once, on the subtask's own event loop.

All calls of a run of records complete before the run is emitted; at most `capacity` calls are in flight. So nothing is in
flight at a watermark or at the end of an epoch, and checkpoints need not include calls. Ordered results come in the order of
the records, unordered ones in the order in which the calls complete, between the same watermarks.

The timeout counts from the first attempt and includes retries and their delays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from headrace.errors import TypeMismatchError
from headrace.graph.specs import AsyncWait
from headrace.operators.base import FunctionOperator
from headrace.operators.output import Timestamps, Values

_Ended = tuple[int, list[Any]]
"""(index of the record, its results)."""


class AsyncWaitOperator(FunctionOperator):
    """The operator behind `AsyncDataStream`."""

    def __init__(self, spec: AsyncWait) -> None:
        super().__init__(spec.function)
        self._spec = spec

    def open(self) -> None:
        """Create the event loop, make it the current one, and open the function."""
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        super().open()

    def close(self) -> None:
        loop = getattr(self, "_loop", None)
        try:
            super().close()
        finally:
            if loop is not None and not loop.is_closed():
                loop.run_until_complete(loop.shutdown_asyncgens())
                loop.close()

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Call the function for a run of records and wait for all calls."""
        asyncio.set_event_loop(self._loop)
        ended = self._loop.run_until_complete(self._run(values))
        if self._spec.ordered:
            ended.sort(key=lambda entry: entry[0])
        results: Values = []
        times: list[int | None] | None = None if timestamps is None else []
        for index, produced in ended:
            results += produced
            if times is not None and timestamps is not None:
                times += [timestamps[index]] * len(produced)
        self.output.emit(results, times)

    async def _run(self, values: Values) -> list[_Ended]:
        ended: list[_Ended] = []
        flying: set[asyncio.Task[None]] = set()

        async def one(index: int, value: Any) -> None:
            try:
                ended.append((index, await self._results(value)))
            except Exception as error:
                raise self.failure_for(error, value) from error

        try:
            for index, value in enumerate(values):
                flying.add(asyncio.ensure_future(one(index, value)))
                if len(flying) >= self._spec.capacity:
                    flying = await _until_one_ends(flying)
            while flying:
                flying = await _until_one_ends(flying)
        finally:
            for task in flying:
                task.cancel()
            await asyncio.gather(*flying, return_exceptions=True)
        return ended

    async def _results(self, value: Any) -> list[Any]:
        """Return the results of one record: those of its call, or of the function's `timeout` if the call takes too long."""
        limit = self._spec.timeout / 1000
        if limit <= 0:
            return self._checked(await self._attempts(value), value)
        started = self._loop.time()
        call = asyncio.ensure_future(self._attempts(value))
        try:
            await asyncio.wait({call}, timeout=limit)
        except asyncio.CancelledError:
            call.cancel()
            raise
        # A call may complete too late, but before the loop could check the clock, because another call blocked the loop.
        if call.done() and self._loop.time() - started <= limit:
            return self._checked(call.result(), value)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        answer = self.func.timeout(value)
        if asyncio.iscoroutine(answer):
            answer = await answer
        return self._checked(answer, value)

    async def _attempts(self, value: Any) -> Any:
        """Call the function; retry as the retry strategy says."""
        retry = self._spec.retry
        if retry is None:
            return await self.func.async_invoke(value)
        predicate = retry.get_retry_predicate()
        on_result, on_error = predicate.result_predicate(), predicate.exception_predicate()
        attempt = 1
        while True:
            try:
                results = await self.func.async_invoke(value)
            except Exception as error:
                if on_error is None or not on_error(error) or not retry.can_retry(attempt):
                    raise
            else:
                wanted = results is not None and on_result is not None and on_result(results)
                if not wanted or not retry.can_retry(attempt):
                    return results
            await asyncio.sleep(retry.get_backoff_time_millis(attempt) / 1000)
            attempt += 1

    def _checked(self, results: Any, value: Any) -> list[Any]:
        """Return the results as a list. Raise an error if they are not iterable."""
        if isinstance(results, list):
            return results
        if isinstance(results, Iterable) and not isinstance(results, (str, bytes)):
            return list(results)
        must = "cannot be none" if results is None else "should be of list type"
        raise TypeMismatchError(
            f"The result of AsyncFunction {must}, please check the methods 'async_invoke' and 'timeout' of class "
            f"'{type(self.func).__name__}'",
            seen=f"{results!r:.200} for {value!r:.200}",
            expected="a list, [] for no result",
        )


async def _until_one_ends(flying: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
    """Wait until a call ends, and return the others. The first failure cancels all."""
    done, flying = await asyncio.wait(flying, return_when=asyncio.FIRST_COMPLETED)
    failures = [error for task in done if (error := task.exception()) is not None]
    if failures:
        for task in flying:
            task.cancel()
        await asyncio.gather(*flying, return_exceptions=True)
        raise failures[0]
    return flying
