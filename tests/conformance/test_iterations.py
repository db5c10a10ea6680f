"""Loops: what goes back comes again, once, until nothing can come any more."""

from __future__ import annotations

import time

import pytest

from headrace.common import Types
from headrace.common.errors import InvalidProgramError, TypeMismatchError
from headrace.datastream import KeyedProcessFunction, RuntimeExecutionMode, SourceFunction
from headrace.datastream.state import ValueStateDescriptor


def test_numbers_go_round_until_they_are_zero(env, collected):
    loop = env.from_collection([3, 1, 5], Types.INT()).iterate(5000)
    less = loop.map(lambda n: n - 1, Types.INT())
    loop.close_with(less.filter(lambda n: n > 0))
    assert sorted(collected(less)) == [0, 0, 0, 1, 1, 2, 2, 3, 4]


def test_many_epochs_and_subtasks(make_env, collected):
    env = make_env(3, **{"headrace.epoch.first-records": "2", "headrace.epoch.max-records": "2"})
    loop = env.from_collection(range(1, 21)).rebalance().map(lambda n: (n, 0)).iterate()
    step = loop.map(lambda pair: (pair[0], pair[1] + 1))
    loop.close_with(step.filter(lambda pair: pair[1] < pair[0]))
    done = step.filter(lambda pair: pair[1] == pair[0])
    assert sorted(collected(done)) == [(n, n) for n in range(1, 21)]


def test_keyed_state_in_a_loop(env, collected):
    class Count(KeyedProcessFunction):
        def open(self, runtime_context):
            self.rounds = runtime_context.get_state(ValueStateDescriptor("rounds", Types.INT()))

        def process_element(self, value, ctx):
            self.rounds.update((self.rounds.value() or 0) + 1)
            yield value[0], value[1] - 1, self.rounds.value()

    loop = env.from_collection([("a", 3), ("b", 5), ("c", 1)]).rebalance().map(lambda v: v).iterate()
    counted = loop.key_by(lambda v: v[0]).process(Count())
    loop.close_with(counted.filter(lambda v: v[1] > 0).map(lambda v: v[:2]))
    assert sorted(collected(counted.filter(lambda v: v[1] == 0))) == [("a", 0, 3), ("b", 0, 5), ("c", 0, 1)]


def test_event_time_in_a_loop_is_that_of_its_input(make_env, collected, by_second_field):
    env = make_env(1)

    class Late(KeyedProcessFunction):
        def process_element(self, value, ctx):
            yield value[0], ctx.timestamp(), value[2] + 1
            if value[2] == 0:
                ctx.timer_service().register_event_time_timer(15)

        def on_timer(self, timestamp, ctx):
            yield "timer", timestamp, 9

    stamped = env.from_collection([("a", 10, 0), ("b", 20, 0)]).assign_timestamps_and_watermarks(by_second_field)
    loop = stamped.iterate()
    seen = loop.key_by(lambda v: v[0]).process(Late())
    loop.close_with(seen.filter(lambda v: v[2] < 3))
    assert sorted(collected(seen)) == [
        ("a", 10, 1),
        ("a", 10, 2),
        ("a", 10, 3),
        ("b", 20, 1),
        ("b", 20, 2),
        ("b", 20, 3),
        ("timer", 15, 9),
        ("timer", 15, 9),
    ]


def test_two_loops(env, collected):
    first = env.from_collection([2]).iterate()
    once = first.map(lambda n: n - 1)
    first.close_with(once.filter(lambda n: n > 0))
    second = once.filter(lambda n: n == 0).map(lambda n: 10).iterate()
    twice = second.map(lambda n: n + 1)
    second.close_with(twice.filter(lambda n: n < 13))
    assert sorted(collected(twice)) == [11, 12, 13]


def test_loops_are_checked(env):
    loop = env.from_collection([1], Types.INT()).iterate()
    other = env.from_collection([1], Types.INT())
    with pytest.raises(InvalidProgramError, match="does not originate from said iteration"):
        loop.close_with(other)
    with pytest.raises(TypeMismatchError, match="has another type"):
        loop.close_with(loop.map(str, Types.STRING()))
    with pytest.raises(InvalidProgramError, match="must not be negative"):
        other.iterate(-1)
    loop.print()
    with pytest.raises(InvalidProgramError, match="does not have any feedback edges"):
        env.execute()
    body = loop.map(lambda n: n, Types.INT())
    assert loop.close_with(body) is body
    with pytest.raises(InvalidProgramError, match="already closed"):
        loop.close_with(body)


def test_no_loops_in_batch_mode(env, collected):
    def program():
        loop = env.from_collection([1]).iterate()
        less = loop.map(lambda n: n - 1)
        loop.close_with(less.filter(lambda n: n > 0))
        return less

    env.set_runtime_mode(RuntimeExecutionMode.AUTOMATIC)
    assert collected(program()) == [0]
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    with pytest.raises(InvalidProgramError, match="not supported in BATCH"):
        collected(program())


class Reminder(KeyedProcessFunction):
    """Sends an element back after `delay` milliseconds; gives (element, rounds)."""

    def __init__(self, delay):
        self.delay = delay

    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        timers.register_processing_time_timer(timers.current_processing_time() + self.delay)
        yield "seen", value

    def on_timer(self, timestamp, ctx):
        yield "again", ctx.get_current_key() + 1


@pytest.mark.parametrize("max_wait", [0, 30_000])
def test_a_loop_waits_for_timers_in_it(env, collected, max_wait):
    loop = env.from_collection([1]).iterate(max_wait)
    reminded = loop.key_by(lambda n: n).process(Reminder(150))
    loop.close_with(reminded.filter(lambda v: v[0] == "again" and v[1] < 4).map(lambda v: v[1]))
    assert collected(reminded) == [
        ("seen", 1), ("again", 2), ("seen", 2), ("again", 3), ("seen", 3), ("again", 4),
    ]  # fmt: skip


def test_a_loop_does_not_wait_longer_than_it_should(env, collected):
    loop = env.from_collection([1]).iterate(200)
    reminded = loop.key_by(lambda n: n).process(Reminder(600_000))
    loop.close_with(reminded.filter(lambda v: v[0] == "again").map(lambda v: v[1]))
    started = time.monotonic()
    assert collected(reminded) == [("seen", 1)]
    assert 0.2 <= time.monotonic() - started < 60


def test_the_wait_begins_when_the_input_has_ended(env, collected):
    class Slow(SourceFunction):
        def run(self, ctx):
            for number in range(4):
                time.sleep(0.2)
                ctx.collect(number)

        def cancel(self): ...

    loop = env.add_source(Slow()).iterate(50)
    step = loop.map(lambda n: n + 10)
    loop.close_with(step.filter(lambda n: n < 20))
    assert sorted(collected(step)) == [10, 11, 12, 13, 20, 21, 22, 23]
