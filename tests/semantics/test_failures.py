"""When user code fails: the error has the user's traceback first, and names operator, uid, subtask and record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headrace.common import Configuration, Duration, WatermarkStrategy
from headrace.common.errors import HeadraceError, InvalidProgramError, TypeMismatchError, UserCodeError
from headrace.common.watermark_strategy import TimestampAssigner, Watermark, WatermarkGenerator
from headrace.datastream import DataStream, StreamExecutionEnvironment
from headrace.datastream.functions import (
    BroadcastProcessFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    SinkFunction,
)
from headrace.datastream.state import MapStateDescriptor, ValueStateDescriptor
from headrace.foundation.own_code import PACKAGE
from headrace.testing import AdvanceClock, Event, Fail, Record, WatermarkTo, event_source

RULES = MapStateDescriptor("rules", None, None)
EVENTS = (Record("fine", 1), Record("bad", 2), Record("never", 3), WatermarkTo(50), AdvanceClock(50))


def refuse(value: Any, *_: Any) -> Any:
    """The user's function: fails for one record."""
    if "bad" in (value, *_):
        raise ValueError(f"cannot take {value}")
    return value


def refuse_later(value: str) -> Any:
    yield value
    yield refuse(value)


class Mapping(MapFunction):
    def map(self, value):
        return refuse(value)


class Filtering(FilterFunction):
    def filter(self, value):
        return refuse(value)


class Processing(ProcessFunction):
    def process_element(self, value, ctx):
        yield refuse(value)


class KeyedProcessing(KeyedProcessFunction):
    def process_element(self, value, ctx):
        return [refuse(value)]


class EventTimer(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 10)
        yield value

    def on_timer(self, timestamp, ctx):
        yield refuse(ctx.get_current_key())


class ClockTimer(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_processing_time_timer(ctx.timestamp() + 10)
        yield value

    def on_timer(self, timestamp, ctx):
        yield refuse(ctx.get_current_key())


class Connected(CoMapFunction, CoProcessFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return refuse(value)

    def process_element1(self, value, ctx):
        yield value

    def process_element2(self, value, ctx):
        yield refuse(value)


class Broadcast(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value

    def process_broadcast_element(self, value, ctx):
        refuse(value)


class Sinking(SinkFunction):
    def invoke(self, value, context):
        refuse(value)


class Assigning(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        refuse(value)
        return record_timestamp


class Generating(WatermarkGenerator):
    def on_event(self, event, event_timestamp, output):
        refuse(event)

    def on_periodic_emit(self, output):
        pass


class GeneratingPeriodically(WatermarkGenerator):
    def on_event(self, event, event_timestamp, output):
        pass

    def on_periodic_emit(self, output):
        raise ValueError("cannot take what is asked periodically")


ASSIGNING = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Assigning())
GENERATING = WatermarkStrategy.for_generator(Generating)

Build = Callable[[DataStream], Any]
CASES: dict[str, tuple[Build, str]] = {
    "map, a callable": (lambda s: s.map(refuse).uid("x"), "'bad'"),
    "map, a MapFunction": (lambda s: s.map(Mapping()).uid("x"), "'bad'"),
    "map in a chain": (lambda s: s.map(str).map(refuse).uid("x").map(str), "'bad'"),
    "filter": (lambda s: s.filter(Filtering()).uid("x"), "'bad'"),
    "flat_map": (lambda s: s.flat_map(refuse).uid("x"), "'bad'"),
    "flat_map, in its generator": (lambda s: s.flat_map(refuse_later).uid("x"), "'bad'"),
    "reduce": (lambda s: s.key_by(lambda v: 0).reduce(refuse).uid("x"), "'bad'"),
    "process": (lambda s: s.process(Processing()).uid("x"), "'bad'"),
    "keyed process": (lambda s: s.key_by(lambda v: 0).process(KeyedProcessing()).uid("x"), "'bad'"),
    "keyed map": (lambda s: s.key_by(lambda v: 0).map(Mapping()).uid("x"), "'bad'"),
    "an event-time timer": (lambda s: s.key_by(lambda v: v).process(EventTimer()).uid("x"), "timer at 12 of key 'bad'"),
    "a processing-time timer": (
        lambda s: s.key_by(lambda v: v).process(ClockTimer()).uid("x"),
        "timer at 12 of key 'bad'",
    ),
    "a key selector": (lambda s: s.map(str).uid("x").key_by(refuse).map(str), "'bad'"),
    "a partitioner": (
        lambda s: s.map(str).uid("x").partition_custom(lambda key, n: refuse(key) and 0, lambda v: v).map(str),
        "'bad'",
    ),
    "co_map": (lambda s: s.connect(s).map(Connected()).uid("x"), "'bad'"),
    "co_process": (lambda s: s.connect(s).process(Connected()).uid("x"), "'bad'"),
    "a broadcast element": (lambda s: s.connect(s.broadcast(RULES)).process(Broadcast()).uid("x"), "'bad'"),
    "a timestamp assigner": (lambda s: s.assign_timestamps_and_watermarks(ASSIGNING).uid("x"), "'bad'"),
    "a watermark generator": (lambda s: s.assign_timestamps_and_watermarks(GENERATING).uid("x"), "'bad'"),
    "a sink": (lambda s: s.add_sink(Sinking()).uid("x"), "'bad'"),
}


def environment(executor: str = "local") -> StreamExecutionEnvironment:
    configuration = Configuration()
    settings = {"headrace.executor": executor, "headrace.testing.clock": "0", "headrace.epoch.idle-poll-ms": "1"}
    for key, value in settings.items():
        configuration.set_string(key, value)
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)


NO_WATERMARKS = WatermarkStrategy.no_watermarks()


def run(
    build: Build,
    events: tuple[Event, ...] = EVENTS,
    strategy: WatermarkStrategy = NO_WATERMARKS,
    executor: str = "local",
) -> HeadraceError:
    """What a job fails with."""
    env = environment(executor)
    source = env.from_source(event_source(events), strategy, "events").uid("source")
    result = build(source)
    if isinstance(result, DataStream):
        result.add_sink(_Ignoring())
    with pytest.raises(HeadraceError) as caught:
        env.execute("failing")
    return caught.value


class _Ignoring(SinkFunction):
    def invoke(self, value, context):
        pass


@pytest.mark.parametrize("case", CASES)
def test_failure_of_user_code_says_where(case: str):
    check_failure(case, "local")


@pytest.mark.spark
@pytest.mark.parametrize("case", ["map in a chain", "an event-time timer", "a key selector"])
def test_failure_of_user_code_says_where_on_spark(case: str):
    check_failure(case, "spark")


def check_failure(case: str, executor: str) -> None:
    build, record = CASES[case]
    error = run(build, executor=executor)
    assert isinstance(error, UserCodeError), error
    assert error.user_traceback.splitlines()[-1].startswith("ValueError: cannot take"), error
    assert "in refuse" in error.user_traceback
    assert PACKAGE not in error.user_traceback.split("in refuse")[0], error
    assert (error.uid, error.subtask, error.record) == ("x", 0, record)
    assert error.operator_name
    assert str(error).startswith("Traceback")


def test_failure_in_a_strategy_of_a_source():
    for strategy in (ASSIGNING, GENERATING):
        error = run(lambda s: s.map(str), strategy=strategy)
        assert isinstance(error, UserCodeError)
        assert (error.uid, error.subtask, error.record) == ("source", 0, "'bad'")


def test_failure_of_a_periodic_generator_has_no_record():
    strategy = WatermarkStrategy.for_generator(GeneratingPeriodically)
    error = run(lambda s: s.map(str), strategy=strategy)
    assert isinstance(error, UserCodeError)
    assert (error.operator_name, error.uid, error.record) == ("Source: events", "source", None)
    error = run(lambda s: s.assign_timestamps_and_watermarks(strategy).uid("x"))
    assert isinstance(error, UserCodeError)
    assert (error.operator_name, error.uid, error.record) == ("Timestamps/Watermarks", "x", None)


def test_supplier_of_generators_that_fails():
    def supplier() -> WatermarkGenerator:
        raise ValueError("no generator today")

    error = run(lambda s: s.assign_timestamps_and_watermarks(WatermarkStrategy.for_generator(supplier)).uid("x"))
    assert isinstance(error, UserCodeError)
    assert error.uid == "x"


def test_the_subtask_is_named():
    class Second(KeyedProcessFunction):
        def open(self, runtime_context):
            self.subtask = runtime_context.get_index_of_this_subtask()

        def process_element(self, value, ctx):
            raise ValueError(f"in {self.subtask}")

    error = run(lambda s: s.key_by(lambda v: v).process(Second()).uid("x").set_parallelism(3))
    assert isinstance(error, UserCodeError)
    assert error.user_traceback.endswith(f"in {error.subtask}")


@pytest.mark.parametrize("stamp", [1.5, "2024-01-01", None, 2**63, True])
@pytest.mark.parametrize("in_source", [True, False])
def test_timestamp_that_is_no_int_of_64_bits(stamp: Any, in_source: bool):
    class Bad(TimestampAssigner):
        def extract_timestamp(self, value, record_timestamp):
            return stamp if value == "bad" else 5

    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5)).with_timestamp_assigner(Bad())
    if stamp is True:  # a bool is an int
        env = environment()
        source = env.from_source(event_source(EVENTS), strategy, "events")
        assert len(list(source.execute_and_collect())) == 3
        return
    if in_source:
        error = run(lambda s: s.map(str), strategy=strategy)
    else:
        error = run(lambda s: s.assign_timestamps_and_watermarks(strategy).uid("x"))
    assert isinstance(error, TypeMismatchError)
    assert error.uid == ("source" if in_source else "x")
    assert error.operator_name
    text = str(error)
    assert "milliseconds" in text
    assert repr(stamp) in text
    assert "'bad'" in text
    assert "extract_timestamp" in text


def test_open_and_close_that_fail():
    class Opening(MapFunction):
        def open(self, runtime_context):
            raise ValueError("no connection")

        def map(self, value):
            return value

    class Closing(Mapping):
        def map(self, value):
            return value

        def close(self):
            raise ValueError("connection lost")

    for function in (Opening(), Closing()):
        error = run(lambda s, f=function: s.map(f).uid("x"))
        assert isinstance(error, UserCodeError)
        assert error.uid == "x"


def test_a_failing_function_is_closed_all_the_same():
    _closed.clear()
    run(lambda s: s.map(ClosingMap()).uid("x"))
    assert _closed == [True]


_closed: list[bool] = []


class ClosingMap(MapFunction):
    def map(self, value):
        return refuse(value)

    def close(self):
        _closed.append(True)


def test_timers_without_keys_are_refused():
    class Timing(ProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(5)
            yield value

    error = run(lambda s: s.process(Timing()).uid("x"))
    assert isinstance(error, InvalidProgramError)
    assert error.uid == "x"
    assert "keyed stream" in str(error)


def test_keyed_state_without_keys_is_refused():
    class Stateful(MapFunction):
        def open(self, runtime_context):
            self.state = runtime_context.get_state(ValueStateDescriptor("v", None))

        def map(self, value):
            return self.state.value()

    error = run(lambda s: s.map(Stateful()).uid("x"))
    assert error.uid == "x"
    assert "KeyedStream" in str(error)


def test_a_source_that_fails():
    error = run(lambda s: s.map(str), (Record("fine"), Fail("the tape is torn", attempts=99)))
    assert isinstance(error, UserCodeError)
    assert error.uid == "source"
    assert "the tape is torn" in error.user_traceback


def test_a_broadcast_state_that_was_not_declared():
    class Undeclared(BroadcastProcessFunction):
        def process_element(self, value, ctx):
            yield ctx.get_broadcast_state(MapStateDescriptor("other", None, None)).get(value)

        def process_broadcast_element(self, value, ctx):
            pass

    error = run(lambda s: s.connect(s.broadcast(RULES)).process(Undeclared()).uid("x"))
    assert isinstance(error, InvalidProgramError)
    assert "'other'" in str(error)
    assert "rules" in str(error)


def test_broadcast_state_cannot_be_changed_from_the_other_side():
    class Changing(BroadcastProcessFunction):
        def process_element(self, value, ctx):
            ctx.get_broadcast_state(RULES).put(value, 1)

        def process_broadcast_element(self, value, ctx):
            pass

    error = run(lambda s: s.connect(s.broadcast(RULES)).process(Changing()).uid("x"))
    assert error.uid == "x"


def test_a_watermark_generator_that_emits_something_else():
    class Wrong(WatermarkGenerator):
        def on_event(self, event, event_timestamp, output):
            output.emit_watermark(Watermark(1.5) if event == "bad" else Watermark(1))

        def on_periodic_emit(self, output):
            pass

    error = run(lambda s: s.assign_timestamps_and_watermarks(WatermarkStrategy.for_generator(Wrong)).uid("x"))
    assert error.uid == "x"
    assert "1.5" in str(error)
