"""Asynchronous calls: order, time-outs, capacity, retries, failures."""

from __future__ import annotations

import asyncio
import time

import pytest

from headrace.common import Configuration, Time
from headrace.common.errors import InvalidProgramError, TypeMismatchError, UserCodeError
from headrace.datastream import AsyncDataStream, AsyncFunction, AsyncRetryStrategy, StreamExecutionEnvironment
from headrace.datastream.async_retry_predicates import empty_result_predicate, has_exception_predicate
from headrace.graph.specs import AsyncWait
from headrace.testing import OperatorHarness


class Sleeper(AsyncFunction):
    """Sleeps for so many hundredths of a second as the element says; notes how many calls are in flight."""

    def __init__(self):
        self.flying = self.most = 0

    async def async_invoke(self, value):
        self.flying += 1
        self.most = max(self.most, self.flying)
        await asyncio.sleep(value / 100)
        self.flying -= 1
        return [value, -value]


class Attempts(AsyncFunction):
    """Succeeds with the attempt whose number the element is; before that it fails or gives nothing."""

    def __init__(self, fails: bool):
        self.fails = fails
        self.calls: dict[int, int] = {}

    async def async_invoke(self, value):
        self.calls[value] = self.calls.get(value, 0) + 1
        if self.calls[value] >= value:
            return [f"{value} after {self.calls[value]}"]
        if self.fails:
            raise ConnectionError(f"attempt {self.calls[value]}")
        return []


class Patient(Sleeper):
    def timeout(self, value):
        return [f"no answer for {value}"]


def harness(function, ordered=True, timeout=0, capacity=100, retry=None) -> OperatorHarness:
    return OperatorHarness(AsyncWait(function, ordered, timeout, capacity, retry))


def run(h: OperatorHarness, values, timestamps=None):
    h.operator.process_batch(values, timestamps, None)
    return h.take_output()


def test_ordered_keeps_the_order_of_the_elements():
    assert run(harness(Sleeper()), [3, 1, 2], [10, 20, 30]) == [(3, 10), (-3, 10), (1, 20), (-1, 20), (2, 30), (-2, 30)]


def test_unordered_gives_results_as_calls_end():
    seen = run(harness(Sleeper(), ordered=False), [6, 1, 3], [10, 20, 30])
    assert seen == [(1, 20), (-1, 20), (3, 30), (-3, 30), (6, 10), (-6, 10)]


def test_results_never_pass_a_watermark():
    h = harness(Sleeper(), ordered=False)
    h.operator.process_batch([4], [1], None)
    h.process_watermark(5)
    h.operator.process_batch([1], [6], None)
    assert [event[0] for event in h.output] == [4, -4, "watermark", 1, -1]


@pytest.mark.parametrize("capacity", [1, 2, 5])
def test_no_more_calls_at_once_than_the_capacity(capacity):
    h = harness(Sleeper(), capacity=capacity)
    assert len(run(h, [1] * 8)) == 16
    assert h.operator.func.most == capacity


def test_a_call_that_takes_too_long_fails_by_default():
    with pytest.raises(UserCodeError, match="timed out for input: 50"):
        run(harness(Sleeper(), timeout=250), [0, 50])


def test_a_function_may_answer_for_a_call_that_takes_too_long():
    assert run(harness(Patient(), timeout=250), [0, 50, 1]) == [
        (0, None), (0, None), ("no answer for 50", None), (1, None), (-1, None)
    ]  # fmt: skip


@pytest.mark.parametrize("fails", [True, False])
def test_retries(fails):
    retry = AsyncRetryStrategy.fixed_delay(3, 1, empty_result_predicate, has_exception_predicate)
    h = harness(Attempts(fails), timeout=5000, retry=retry)
    assert run(h, [1, 3, 4]) == [("1 after 1", None), ("3 after 3", None), ("4 after 4", None)]


def test_retries_end():
    retry = AsyncRetryStrategy.fixed_delay(2, 1, empty_result_predicate, has_exception_predicate)
    assert run(harness(Attempts(False), timeout=5000, retry=retry), [9]) == []
    with pytest.raises(UserCodeError, match="attempt 3"):
        run(harness(Attempts(True), timeout=5000, retry=retry), [9])


def test_the_timeout_includes_retries():
    retry = AsyncRetryStrategy.fixed_delay(1000, 5, empty_result_predicate, None)
    with pytest.raises(UserCodeError, match="timed out for input: 900"):
        run(harness(Attempts(False), timeout=40, retry=retry), [900])


def test_an_error_without_a_predicate_is_not_tried_again():
    retry = AsyncRetryStrategy.exponential_backoff(5, 1, 10, 2.0, empty_result_predicate, None)
    with pytest.raises(UserCodeError, match="attempt 1"):
        run(harness(Attempts(True), timeout=5000, retry=retry), [3])


def test_a_failure_names_the_record_and_ends_the_other_calls():
    class Bad(Sleeper):
        async def async_invoke(self, value):
            if value == 7:
                raise ValueError("no")
            return await super().async_invoke(value)

    h = harness(Bad())
    with pytest.raises(UserCodeError, match="7"):
        run(h, [500, 7, 500])
    h.close()


def test_a_result_that_is_no_list():
    class One(AsyncFunction):
        async def async_invoke(self, value):
            return value

    with pytest.raises(TypeMismatchError, match="should be of list type.*'async_invoke' and 'timeout' of class 'One'"):
        run(harness(One()), [1])


def test_no_result_at_all_is_not_tried_again():
    class Nothing(AsyncFunction):
        calls = 0

        async def async_invoke(self, value):
            self.calls += 1

    retry = AsyncRetryStrategy.fixed_delay(3, 1, lambda results: True, has_exception_predicate)
    h = harness(Nothing(), timeout=5000, retry=retry)
    with pytest.raises(TypeMismatchError, match="The result of AsyncFunction cannot be none"):
        run(h, [1])
    assert h.operator.func.calls == 1


def test_a_call_that_keeps_the_loop_to_itself_times_out_too():
    class Blocks(Patient):
        async def async_invoke(self, value):
            time.sleep(value / 100)
            return [value]

    assert run(harness(Blocks(), timeout=40), [0]) == [(0, None)]
    assert run(harness(Blocks(), timeout=40), [8]) == [("no answer for 8", None)]


def test_as_a_job():
    configuration = Configuration().set_string("headrace.executor", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)
    stream = AsyncDataStream.ordered_wait(env.from_collection([2, 0, 1]), Sleeper(), Time.seconds(5), capacity=2)
    assert sorted(stream.execute_and_collect()) == [-2, -1, 0, 0, 1, 2]


def test_what_is_refused():
    stream = StreamExecutionEnvironment.get_execution_environment().from_collection([1])

    class NotAsync(AsyncFunction):
        def async_invoke(self, value):
            return [value]

    with pytest.raises(TypeMismatchError, match="'async_invoke' of class 'NotAsync' should be declared as 'async def'"):
        AsyncDataStream.ordered_wait(stream, NotAsync(), Time.seconds(1))
    with pytest.raises(TypeMismatchError, match="takes a stream"):
        AsyncDataStream.ordered_wait([1], Sleeper(), Time.seconds(1))
    with pytest.raises(TypeMismatchError, match="takes a duration"):
        AsyncDataStream.unordered_wait(stream, Sleeper(), 5)
    with pytest.raises(InvalidProgramError, match="number of concurrent calls"):
        AsyncDataStream.unordered_wait(stream, Sleeper(), Time.seconds(5), 0)
    with pytest.raises(TypeMismatchError, match="Async retry strategy should not be None"):
        AsyncDataStream.unordered_wait_with_retry(stream, Sleeper(), Time.seconds(5), None)
    retry = AsyncRetryStrategy.fixed_delay(1, 1, None, None)
    with pytest.raises(InvalidProgramError, match="Timeout should be configured"):
        AsyncDataStream.ordered_wait_with_retry(stream, Sleeper(), Time.seconds(0), retry)
