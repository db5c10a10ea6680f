"""Asynchronous calls as PyFlink programs write them; the programs give the same in PyFlink 2.3."""

from __future__ import annotations

import asyncio
import random

import pytest

from headrace.common import Time, Types, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import AsyncDataStream, AsyncFunction, AsyncRetryStrategy, ProcessFunction
from headrace.datastream.async_retry_predicates import (
    empty_result_predicate,
    exception_type_predicate,
    has_exception_predicate,
)

WORDS = [("one", 1), ("two", 2), ("three", 3), ("four", 4), ("five", 5)]


def words(env):
    return env.from_collection(WORDS, type_info=Types.TUPLE([Types.STRING(), Types.INT()]))


class Doubled(AsyncFunction):
    """Answers after a while, the later elements sooner."""

    async def async_invoke(self, value):
        await asyncio.sleep((6 - value[1]) * 0.03)
        return [value[1], value[1] * 2]


class Opened(AsyncFunction):
    def open(self, runtime_context):
        self.index = runtime_context.get_index_of_this_subtask()

    async def async_invoke(self, value):
        await asyncio.sleep(random.random() * 0.02)
        return [] if value[1] % 2 else [value[1] + self.index]


class Flaky(AsyncFunction):
    """Fails or gives nothing at first; the second attempt for an element is right."""

    def __init__(self, kind):
        self.kind = kind
        self.seen = set()

    async def async_invoke(self, value):
        await asyncio.sleep(0.001)
        if value[1] in self.seen:
            return [value[1] * 100]
        self.seen.add(value[1])
        if self.kind == "empty":
            return []
        raise self.kind(f"not yet: {value}")


class Sleepy(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(30 if value[1] == 3 else 0.001)
        return [value[1]]

    def timeout(self, value):
        return [-value[1]]


class Forever(Sleepy):
    def timeout(self, value):
        raise RuntimeError("gave up")


class Patience(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(30)
        return [value[1]]


class NoList(AsyncFunction):
    async def async_invoke(self, value):
        return value[1]


class NoResult(AsyncFunction):
    async def async_invoke(self, value):
        return None


class Breaks(AsyncFunction):
    async def async_invoke(self, value):
        raise ValueError("broken on purpose")


def test_ordered(make_env, collected):
    results = AsyncDataStream.ordered_wait(words(make_env(1)), Doubled(), Time.seconds(5), 10, Types.INT())
    assert collected(results) == [1, 2, 2, 4, 3, 6, 4, 8, 5, 10]


def test_unordered(make_env, collected):
    results = AsyncDataStream.unordered_wait(words(make_env(1)), Doubled(), Time.seconds(5), 10, Types.INT())
    seen = collected(results)
    assert sorted(seen) == [1, 2, 2, 3, 4, 4, 5, 6, 8, 10]


def test_a_small_capacity_changes_no_result(make_env, collected):
    results = AsyncDataStream.ordered_wait(words(make_env(1)), Doubled(), Time.seconds(5), 1, Types.INT())
    assert collected(results) == [1, 2, 2, 4, 3, 6, 4, 8, 5, 10]


def test_open_and_empty_results(make_env, collected):
    results = AsyncDataStream.ordered_wait(words(make_env(1)), Opened(), Time.seconds(5), 2, Types.INT())
    assert collected(results) == [2, 4]


def test_a_timeout_that_is_answered(make_env, collected):
    results = AsyncDataStream.ordered_wait(words(make_env(1)), Sleepy(), Time.seconds(1), 10, Types.INT())
    assert collected(results) == [1, 2, -3, 4, 5]


def test_retry_of_empty_results(make_env, collected):
    retry = AsyncRetryStrategy.fixed_delay(3, 10, empty_result_predicate, None)
    results = AsyncDataStream.ordered_wait_with_retry(
        words(make_env(1)), Flaky("empty"), Time.seconds(5), retry, 10, Types.INT()
    )
    assert collected(results) == [100, 200, 300, 400, 500]


def test_retry_of_errors(make_env, collected):
    retry = AsyncRetryStrategy.exponential_backoff(3, 10, 40, 2.0, None, has_exception_predicate)
    results = AsyncDataStream.unordered_wait_with_retry(
        words(make_env(1)), Flaky(ConnectionError), Time.seconds(5), retry, 10, Types.INT()
    )
    assert sorted(collected(results)) == [100, 200, 300, 400, 500]


def test_retry_of_errors_of_one_kind(make_env, collected):
    retry = AsyncRetryStrategy.fixed_delay(3, 10, None, lambda error: exception_type_predicate(error, KeyError))
    results = AsyncDataStream.ordered_wait_with_retry(
        words(make_env(1)), Flaky(KeyError), Time.seconds(5), retry, 10, Types.INT()
    )
    assert collected(results) == [100, 200, 300, 400, 500]
    results = AsyncDataStream.ordered_wait_with_retry(
        words(make_env(1)), Flaky(ValueError), Time.seconds(5), retry, 10, Types.INT()
    )
    with pytest.raises(Exception, match="not yet"):
        collected(results)


def test_what_fails(make_env, collected):
    for function, timeout, message in (
        (Breaks(), Time.seconds(5), "broken on purpose"),
        (NoList(), Time.seconds(5), "should be of list type"),
        (NoResult(), Time.seconds(5), "cannot be none"),
        (Forever(), Time.milliseconds(300), "gave up"),
        (Patience(), Time.milliseconds(300), "timed out for input"),
    ):
        results = AsyncDataStream.ordered_wait(words(make_env(1)), function, timeout, 10, Types.INT())
        with pytest.raises(Exception, match=message):
            collected(results)


class Length(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1] * 10


class Stamped(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp()


def test_results_have_the_timestamps_of_their_elements(make_env, collected):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Length())
    stream = words(make_env(1)).assign_timestamps_and_watermarks(strategy)
    results = AsyncDataStream.unordered_wait(stream, Doubled(), Time.seconds(5), 10, Types.INT())
    stamped = results.process(Stamped(), Types.TUPLE([Types.INT(), Types.LONG()]))
    assert sorted(collected(stamped)) == [
        (1, 10), (2, 10), (2, 20), (3, 30), (4, 20), (4, 40), (5, 50), (6, 30), (8, 40), (10, 50)
    ]  # fmt: skip


def test_what_is_refused(make_env):
    class NotAsync(AsyncFunction):
        def async_invoke(self, value):
            return [value]

    with pytest.raises(Exception, match="should be declared as 'async def'"):
        AsyncDataStream.ordered_wait(words(make_env(1)), NotAsync(), Time.seconds(1))
    with pytest.raises(Exception, match="Timeout should be configured when do async with retry"):
        retry = AsyncRetryStrategy.fixed_delay(1, 1, None, None)
        AsyncDataStream.ordered_wait_with_retry(words(make_env(1)), Doubled(), Time.seconds(0), retry)
