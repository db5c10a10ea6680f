"""The public test kit: the harness, the event source, looking at a stream."""

from __future__ import annotations

import pytest
from semantics_kit.functions import CoFacts, KeyedLookup, Remembering, TimerFacts, ToOutputs, first

from headrace.common import Configuration, WatermarkStrategy
from headrace.common.errors import ConfigurationError, InvalidProgramError, UserCodeError
from headrace.datastream import OutputTag, StreamExecutionEnvironment
from headrace.graph.specs import AssignTimestamps, BroadcastProcess, CoProcess, PrintSink, Process
from headrace.state.descriptors import MapStateDescriptor
from headrace.testing import EndEpoch, Fail, OperatorHarness, Record, WatermarkTo, event_source, observe


def environment(**settings: str) -> StreamExecutionEnvironment:
    configuration = Configuration().set_string("headrace.executor", "local")
    for key, value in settings.items():
        configuration.set_string(key.replace("__", "."), value)
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)


def test_output_of_the_harness_shows_everything_in_order():
    harness = OperatorHarness(Process(TimerFacts(), keyed=True), first)
    harness.process_element(("a", "event", 5), 1)
    harness.process_watermark(7)
    harness.process_idle(True)
    harness.process_idle(False)
    assert harness.output == [
        (("a", 1, -(2**63)), 1),
        (("a", "event", 5, 7), 5),
        ("watermark", 7),
        ("idle",),
        ("active",),
    ]
    assert len(harness.take_output()) == 5
    assert harness.output == []


def test_state_and_timers_go_from_one_harness_to_the_next():
    before = OperatorHarness(Process(Remembering(), keyed=True), first)
    before.process_element(("a", 1))
    after = OperatorHarness(Process(Remembering(), keyed=True), first, state=before.snapshot())
    after.process_element(("a", 2))
    assert after.output == [(("a", (1, 2)), None)]

    before = OperatorHarness(Process(TimerFacts(), keyed=True), first)
    before.process_element(("a", "event", 20), 1)
    before.process_watermark(10)
    after = OperatorHarness(Process(TimerFacts(), keyed=True), first, state=before.snapshot())
    after.process_watermark(5)
    after.process_element(("b",), 12)
    after.process_watermark(20)
    assert after.output == [(("b", 12, 10), 12), (("a", "event", 20, 20), 20), ("watermark", 20)]


def test_event_time_goes_from_one_harness_to_the_next():
    spec = AssignTimestamps(WatermarkStrategy.for_monotonous_timestamps())
    before = OperatorHarness(spec)
    before.process_element("x", 50)
    after = OperatorHarness(spec, state=before.snapshot())
    after.process_element("y", 40)
    after.end_epoch()
    after.process_element("z", 60)
    after.end_epoch()
    after.end_input()
    assert after.output == [("y", 40), ("z", 60), ("watermark", 59), ("watermark", 2**63 - 1)]


def test_two_inputs_of_the_harness_have_their_own_watermarks():
    harness = OperatorHarness(CoProcess(CoFacts(), keyed=False), inputs=2)
    harness.process_watermark(10, 0)
    harness.process_element2("b", 3)
    harness.process_watermark(5, 1)
    harness.process_element("a", 6)
    assert harness.output == [((2, "b", 3, -(2**63)), 3), ("watermark", 5), ((1, "a", 6, 5), 6)]


def test_broadcast_state_goes_from_one_harness_to_the_next():
    spec = BroadcastProcess(KeyedLookup(), True, (MapStateDescriptor("rules", None, None),))
    before = OperatorHarness(spec, first, inputs=2)
    before.process_element2(("put", "a", "x"), 1)
    after = OperatorHarness(spec, first, inputs=2, state=before.snapshot())
    after.process_element(("a",), 2)
    assert after.output == [(("a", 1, "x"), 2)]


def test_harness_of_a_sink_keeps_what_goes_to_the_driver():
    harness = OperatorHarness(PrintSink())
    harness.process_element("x")
    assert harness.driver.lines == ["x"]


def test_event_lists_are_splits_of_one_source():
    env = environment()
    source = env.from_source(
        event_source([Record("a", 1), WatermarkTo(5), EndEpoch()], [Record("b", 2), WatermarkTo(3)]),
        WatermarkStrategy.no_watermarks(),
        "events",
    )
    seen = list(observe(source).execute_and_collect())
    assert seen == [Record("a", 1), Record("b", 2), WatermarkTo(3), WatermarkTo(5), WatermarkTo(2**63 - 1)]


def test_an_event_list_takes_events_only():
    with pytest.raises(InvalidProgramError, match="must contain only events"):
        event_source([1, 2])


def test_a_failure_in_an_event_list():
    env = environment()
    events = event_source([Record("a"), Fail("torn", attempts=1)])
    with pytest.raises(UserCodeError, match="torn"):
        list(env.from_source(events, WatermarkStrategy.no_watermarks(), "events").execute_and_collect())


def test_the_clock_setting_is_checked():
    env = environment(headrace__testing__clock="noon")
    env.from_collection([1]).print()
    with pytest.raises(ConfigurationError, match=r"headrace\.testing\.clock"):
        env.execute()


def test_observing_a_union_of_streams():
    env = environment()
    stream = env.from_collection([1]).union(env.from_collection([2]))
    assert [e for e in observe(stream).execute_and_collect() if isinstance(e, Record)] == [Record(1), Record(2)]


def test_side_outputs_carry_the_watermarks():
    env = environment()
    events = event_source([Record(("left", ("a", "event", 5)), 1), WatermarkTo(7), Record(("main", 1), 8)])
    source = env.from_source(events, WatermarkStrategy.no_watermarks(), "events")
    side = source.process(ToOutputs()).get_side_output(OutputTag("left"))
    seen = list(observe(side.key_by(first).process(TimerFacts())).execute_and_collect())
    assert seen == [
        Record(("a", 1, -(2**63)), 1),
        Record(("a", "event", 5, 7), 5),
        WatermarkTo(7),
        WatermarkTo(2**63 - 1),
    ]
