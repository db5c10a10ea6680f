"""Timers of keyed process functions, event and processing time, in both modes."""

from __future__ import annotations

import pytest

from headrace.common import Types, WatermarkStrategy
from headrace.common.errors import InvalidProgramError
from headrace.datastream import KeyedProcessFunction, ProcessFunction, TimeDomain
from headrace.datastream.state import ValueStateDescriptor
from headrace.testing import AdvanceClock, Record, WatermarkTo, event_source

PAIR = Types.ROW([Types.STRING(), Types.INT()])


class Reminder(KeyedProcessFunction):
    """One timer ten after each element, registered twice; another one is taken back."""

    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        timers.register_event_time_timer(ctx.timestamp() + 10)
        timers.register_event_time_timer(ctx.timestamp() + 10)
        timers.register_event_time_timer(5)
        timers.delete_event_time_timer(5)
        timers.delete_event_time_timer(77)
        yield f"element {value[0]} {ctx.timestamp()}"

    def on_timer(self, timestamp, ctx):
        assert ctx.time_domain() is TimeDomain.EVENT_TIME and ctx.timestamp() == timestamp
        yield f"timer {ctx.get_current_key()} {timestamp}"


def stamped(env, strategy):
    elements = [("a", 1), ("b", 2), ("a", 30), ("b", 40)]
    return env.from_collection(elements, PAIR).assign_timestamps_and_watermarks(strategy)


def test_event_time_timers_fire_once_and_in_order(make_env, collected, by_second_field):
    keyed = stamped(make_env(1), by_second_field).key_by(lambda value: value[0])
    assert collected(keyed.process(Reminder())) == [
        "element a 1",
        "element b 2",
        "element a 30",
        "element b 40",
        "timer a 11",
        "timer b 12",
        "timer a 40",
        "timer b 50",
    ]


def test_in_batch_mode_timers_fire_at_the_end_of_each_key(batch, collected, by_second_field):
    keyed = stamped(batch.set_parallelism(1), by_second_field).key_by(lambda value: value[0])
    assert collected(keyed.process(Reminder())) == [
        "element a 1",
        "element a 30",
        "timer a 11",
        "timer a 40",
        "element b 2",
        "element b 40",
        "timer b 12",
        "timer b 50",
    ]


def test_a_timer_may_register_the_next(both, collected, by_second_field):
    class Chain(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + 1)

        def on_timer(self, timestamp, ctx):
            yield timestamp
            if timestamp < 5:
                ctx.timer_service().register_event_time_timer(timestamp + 1)

    elements = both.set_parallelism(1).from_collection([("a", 1)]).assign_timestamps_and_watermarks(by_second_field)
    assert collected(elements.key_by(lambda value: value[0]).process(Chain())) == [2, 3, 4, 5]


def test_timers_see_the_state_of_their_key(both, collected, by_second_field):
    class Sum(KeyedProcessFunction):
        def open(self, runtime_context):
            self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.INT()))

        def process_element(self, value, ctx):
            self.sum.update((self.sum.value() or 0) + value[1])
            ctx.timer_service().register_event_time_timer(1000)

        def on_timer(self, timestamp, ctx):
            yield ctx.get_current_key(), self.sum.value()
            self.sum.clear()

    keyed = stamped(both, by_second_field).key_by(lambda value: value[0])
    assert sorted(collected(keyed.process(Sum()))) == [("a", 31), ("b", 42)]


def events_of(env, events):
    return env.from_source(event_source(events), WatermarkStrategy.no_watermarks(), "events")


def test_watermarks_fire_timers_before_the_input_ends(make_env, collected):
    env = make_env(1)
    events = [Record("a", 1), WatermarkTo(20), Record("b", 30)]

    class Show(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + 10)
            yield value

        def on_timer(self, timestamp, ctx):
            yield timestamp, ctx.timer_service().current_watermark()

    stream = events_of(env, events).key_by(lambda value: value)
    assert collected(stream.process(Show())) == ["a", (11, 20), "b", (40, 2**63 - 1)]


def test_processing_time_timers(make_env, collected):
    env = make_env(1, headrace__testing__clock="1000")
    events = [Record("a"), AdvanceClock(1050), Record("b"), AdvanceClock(1200)]

    class Show(KeyedProcessFunction):
        def process_element(self, value, ctx):
            timers = ctx.timer_service()
            now = timers.current_processing_time()
            timers.register_processing_time_timer(now + 100)
            timers.register_processing_time_timer(now + 20)
            timers.delete_processing_time_timer(now + 20)
            yield value, now

        def on_timer(self, timestamp, ctx):
            yield ctx.get_current_key(), timestamp, ctx.time_domain().name

    keyed = events_of(env, events).key_by(lambda value: value)
    assert collected(keyed.process(Show())) == [
        ("a", 1000),
        ("b", 1050),
        ("a", 1100, "PROCESSING_TIME"),
        ("b", 1150, "PROCESSING_TIME"),
    ]


def test_results_of_timers_have_the_time_of_the_timer(make_env, collected):
    env = make_env(1, headrace__testing__clock="1000")

    class Show(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_processing_time_timer(1100)
            ctx.timer_service().register_event_time_timer(70)
            yield "element"

        def on_timer(self, timestamp, ctx):
            return [ctx.time_domain().name]

    class Stamped(ProcessFunction):
        def process_element(self, value, ctx):
            yield value, ctx.timestamp()

    keyed = events_of(env, [Record("a", 50), AdvanceClock(1200)]).key_by(lambda value: value)
    assert collected(keyed.process(Show()).process(Stamped())) == [
        ("element", 50),
        ("PROCESSING_TIME", 1100),
        ("EVENT_TIME", 70),
    ]


def test_timers_of_a_short_input_see_the_highest_watermark(both, collected, by_second_field):
    """No watermark is due before the end of a few elements; then event time is over at once."""

    class Show(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + 1)
            yield ctx.timestamp(), ctx.timer_service().current_watermark()

        def on_timer(self, timestamp, ctx):
            yield timestamp, ctx.timer_service().current_watermark()

    stream = (
        both.set_parallelism(1)
        .from_collection([("a", 10), ("a", 20)])
        .assign_timestamps_and_watermarks(by_second_field)
    )
    lowest, highest = -(2**63), 2**63 - 1
    assert collected(stream.key_by(lambda value: value[0]).process(Show())) == [
        (10, lowest), (20, lowest), (11, highest), (21, highest),
    ]  # fmt: skip


@pytest.mark.parametrize("call", ["register_event_time_timer", "register_processing_time_timer"])
def test_timers_need_a_keyed_stream(both, call):
    class Unkeyed(ProcessFunction):
        def process_element(self, value, ctx):
            getattr(ctx.timer_service(), call)(1)
            yield value

    both.from_collection([1]).process(Unkeyed()).print()
    with pytest.raises(InvalidProgramError, match="on a keyed stream"):
        both.execute()
