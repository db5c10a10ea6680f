"""When checkpoints begin, complete and fail. Time is a number that the test hands in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.checkpoint.coordinator import AckResult, CheckpointCoordinator, Failed
from headrace.checkpoint.errors import CheckpointFailureReason as Reason
from headrace.common.errors import ConfigurationError
from headrace.config.checkpoint_settings import CheckpointSettings

TASK = ("map", 0)
OTHER = ("map", 1)


def coordinator(**values):
    return CheckpointCoordinator(CheckpointSettings(**{"interval": 1000, **values}), now=0)


def take(book, number, start, end):
    book.trigger(number, [TASK], start)
    book.acknowledge(number, TASK)
    book.completed(number, end)


def test_the_interval_runs_from_start_to_start():
    book = coordinator()
    assert book.due(999) is Reason.MINIMUM_TIME_BETWEEN_CHECKPOINTS
    assert book.due(1000) is None
    take(book, 1, 1000, 1300)
    assert book.due(1999) is not None
    assert book.due(2000) is None


def test_the_pause_runs_from_end_to_start():
    book = coordinator(interval=1000, min_pause=600)
    take(book, 1, 1000, 1900)
    assert book.due(2499) is Reason.MINIMUM_TIME_BETWEEN_CHECKPOINTS
    assert book.due(2500) is None


def test_a_pause_longer_than_the_interval_is_the_interval():
    book = coordinator(interval=100, min_pause=600)
    assert book.due(599) is not None
    assert book.due(600) is None


def test_as_many_at_once_as_are_allowed():
    book = coordinator(max_concurrent=2)
    book.trigger(1, [TASK], 1000)
    book.trigger(2, [TASK], 2000)
    assert book.due(3000) is Reason.TOO_MANY_CHECKPOINT_REQUESTS
    book.acknowledge(1, TASK)
    book.completed(1, 3000)
    assert book.due(3000) is None


def test_a_savepoint_heeds_neither_pause_nor_number():
    book = coordinator(min_pause=500)
    book.trigger(1, [TASK], 1000)
    book.trigger(2, [TASK], 1001, forced=True)
    assert [p.number for p in book.pending] == [1, 2]


def test_without_interval_none_is_due():
    book = CheckpointCoordinator(CheckpointSettings(), 0)
    assert book.due(10**9) is Reason.PERIODIC_SCHEDULER_SHUTDOWN


def test_acknowledgements():
    book = coordinator()
    book.trigger(1, [TASK, OTHER], 1000)
    assert book.acknowledge(1, TASK) is AckResult.SUCCESS
    assert book.acknowledge(1, TASK) is AckResult.DUPLICATE
    assert book.acknowledge(1, ("stranger", 0)) is AckResult.UNKNOWN
    assert book.acknowledge(9, TASK) is AckResult.UNKNOWN
    assert book.find(1).missing == {OTHER}
    assert book.acknowledge(1, OTHER) is AckResult.SUCCESS
    book.completed(1, 1100)
    assert book.find(1) is None
    assert book.acknowledge(1, TASK) is AckResult.DISCARD


def test_numbers_rise():
    book = coordinator()
    take(book, 5, 1000, 1001)
    with pytest.raises(AssertionError):
        book.trigger(5, [TASK], 2000)
    book.trigger(6, [TASK], 2000)
    with pytest.raises(AssertionError):
        book.trigger(6, [TASK], 3000)
    book.failed(6, Reason.IO_EXCEPTION)
    book.trigger(6, [TASK], 3000)  # a failed one is tried again under its number


def test_a_later_one_subsumes_earlier_ones_but_no_savepoint():
    book = coordinator(max_concurrent=5)
    for number in (1, 2, 3, 4):
        book.trigger(number, [TASK], number * 1000, forced=number == 2)
    book.acknowledge(3, TASK)
    book.completed(3, 5000)
    assert [p.number for p in book.pending] == [2, 4]
    assert book.acknowledge(1, TASK) is AckResult.DISCARD


def test_what_takes_too_long_expires():
    book = coordinator(timeout=500)
    book.trigger(1, [TASK], 1000)
    assert book.expire(1499) == ()
    assert book.expire(1500) == (Failed(1, Reason.CHECKPOINT_EXPIRED, True),)
    assert book.acknowledge(1, TASK) is AckResult.DISCARD
    assert book.expire(9999) == ()


def test_failures_in_a_row():
    book = coordinator(tolerable_failures=2)

    def fail(number, reason=Reason.CHECKPOINT_DECLINED):
        book.trigger(number, [TASK], number * 1000)
        return book.failed(number, reason).fails_job

    assert [fail(1), fail(2)] == [False, False]
    assert book.failed(2, Reason.CHECKPOINT_DECLINED).fails_job is False  # the same one counts once
    take(book, 3, 3000, 3001)  # a success
    assert [fail(4), fail(5), fail(6, Reason.TASK_FAILURE), fail(7)] == [False, False, False, True]


def test_suspend_and_resume():
    book = coordinator()
    book.trigger(1, [TASK], 1000)
    assert book.suspend() == (Failed(1, Reason.CHECKPOINT_COORDINATOR_SUSPEND, False),)
    assert book.due(5000) is Reason.PERIODIC_SCHEDULER_SHUTDOWN
    book.resume(5000)
    assert book.due(5999) is not None
    assert book.due(6000) is None


@pytest.mark.parametrize(
    "values",
    [{"interval": 0}, {"min_pause": -1}, {"max_concurrent": 0}, {"timeout": 0}, {"retained": 0}],
)
def test_settings_that_make_no_sense(values):
    with pytest.raises(ConfigurationError, match=next(iter(values))):
        CheckpointSettings(**values)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 50),
    st.integers(0, 50),
    st.integers(1, 4),
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from(["tick", "ack", "fail"])), max_size=60),
)
def test_no_rule_is_ever_broken(interval, pause, concurrent, moves):
    rules = CheckpointSettings(interval, pause, concurrent, timeout=40, tolerable_failures=10**9)
    book, now, number, last_start, last_end = CheckpointCoordinator(rules, 0), 0, 0, None, None
    for wait, move in moves:
        now += wait
        book.expire(now)
        if move == "tick" and book.due(now) is None:
            assert last_start is None or now - last_start >= max(interval, pause)
            assert last_end is None or now - last_end >= pause
            number, last_start = number + 1, now
            book.trigger(number, [TASK], now)
        elif move == "ack" and book.pending:
            book.acknowledge(book.pending[-1].number, TASK)
            book.completed(book.pending[-1].number, now)
            last_end = now
        elif move == "fail" and book.pending:
            book.failed(book.pending[0].number, Reason.CHECKPOINT_DECLINED)
        assert len(book.pending) <= (1 if pause else concurrent)
        assert all(now < p.deadline for p in book.pending)
