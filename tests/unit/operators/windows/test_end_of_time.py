"""Records at the ends of the 64-bit time line: in a window or late, never neither."""

import pytest

from headrace.common import Configuration, Time, WatermarkStrategy
from headrace.common.watermark_strategy import MAX_WATERMARK, MIN_TIMESTAMP, TimestampAssigner
from headrace.datastream import OutputTag, ProcessWindowFunction, StreamExecutionEnvironment
from headrace.datastream.window import (
    ContinuousEventTimeTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from headrace.graph.specs import WindowOperation
from headrace.testing import OperatorHarness

LATE = OutputTag("late")
ASSIGNERS = {
    "tumbling": TumblingEventTimeWindows.of(Time.seconds(10)),
    "sliding": SlidingEventTimeWindows.of(Time.seconds(10), Time.seconds(4)),
    "session": EventTimeSessionWindows.with_gap(Time.seconds(3)),
}
STAMPS = [MIN_TIMESTAMP + 1, 5, MAX_WATERMARK - 10_000, MAX_WATERMARK - 1, MAX_WATERMARK, MAX_WATERMARK, 7]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Elements(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "window", [number for _, _, number in elements]


def run(assigner, *, backend="hashmap", interval="1", lateness=0, how="process"):
    settings = {
        "headrace.executor": "local",
        "state.backend.type": backend,
        "headrace.watermark.interval-records": interval,
    }
    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    records = [("a", stamp, number) for number, stamp in enumerate(STAMPS)]
    stream = env.from_collection(records).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    )
    windowed = stream.key_by(lambda v: v[0]).window(ASSIGNERS[assigner]).side_output_late_data(LATE)
    if lateness:
        windowed = windowed.allowed_lateness(lateness)
    if how == "process":
        result = windowed.process(Elements())
        found = result.union(result.get_side_output(LATE).map(lambda v: ("late", [v[2]])))
    else:
        result = windowed.reduce(lambda a, b: (a[0], a[1], (a[2], b[2])))
        found = result.map(lambda v: ("window", v[2])).union(result.get_side_output(LATE).map(lambda v: ("late", v[2])))
    return list(found.execute_and_collect())


def flat(value):
    return [value] if isinstance(value, int) else [number for item in value for number in flat(item)]


@pytest.mark.parametrize("how", ["process", "reduce"])
@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
@pytest.mark.parametrize("lateness", [0, 2_000])
@pytest.mark.parametrize("assigner", ASSIGNERS)
def test_every_record_is_in_a_window_or_late(assigner, lateness, backend, how):
    found = run(assigner, backend=backend, lateness=lateness, how=how)
    assert {number for _, numbers in found for number in flat(numbers)} == set(range(len(STAMPS)))
    late = {number for where, numbers in found if where == "late" for number in flat(numbers)}
    assert late == {len(STAMPS) - 1}


@pytest.mark.parametrize("trigger", [EventTimeTrigger(), ContinuousEventTimeTrigger(1_000)])
@pytest.mark.parametrize("lateness", [0, 5])
@pytest.mark.parametrize("assigner", ASSIGNERS)
def test_after_the_highest_watermark_every_record_is_late(assigner, lateness, trigger):
    spec = WindowOperation(ASSIGNERS[assigner], trigger, "list", late_tag="late", allowed_lateness=lateness)
    harness = OperatorHarness(spec, lambda v: v[0], None, ("late",))
    harness.process_element(("a", 1), MAX_WATERMARK)
    harness.process_watermark(MAX_WATERMARK - 1)
    assert harness.take_output() == [("watermark", MAX_WATERMARK - 1)]
    harness.process_watermark(MAX_WATERMARK)
    fired = harness.take_output()[:-1]
    assert fired, "the window fires when event time ends"
    assert set(fired) == {(("a", 1), MAX_WATERMARK)}
    harness.process_element(("a", 2), MAX_WATERMARK)
    assert harness.side_output("late") == [(("a", 2), MAX_WATERMARK)]
