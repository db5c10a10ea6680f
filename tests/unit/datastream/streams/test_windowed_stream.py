"""Windows and joins: names, types and refusals, looked at in the graph that the calls build."""

from __future__ import annotations

import pytest

from headrace.common import Duration, Time, Types
from headrace.common.errors import InvalidProgramError, TypeMismatchError
from headrace.datastream import (
    AggregateFunction,
    CoGroupFunction,
    OutputTag,
    ProcessFunction,
    ProcessJoinFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
    WindowFunction,
)
from headrace.datastream.functions import AllWindowFunction, ProcessAllWindowFunction
from headrace.datastream.window import (
    ContinuousEventTimeTrigger,
    CountEvictor,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    DeltaTrigger,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    NeverTrigger,
    ProcessingTimeoutTrigger,
    ProcessingTimeSessionWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TimeEvictor,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)

TUMBLING = TumblingEventTimeWindows.of(Time.seconds(10))
SESSIONS = EventTimeSessionWindows.with_gap(Time.seconds(10))


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class Process(ProcessWindowFunction):
    def process(self, key, context, elements):
        return []


class Apply(WindowFunction):
    def apply(self, key, window, inputs):
        return []


class ProcessAll(ProcessAllWindowFunction):
    def process(self, context, elements):
        return []


class ApplyAll(AllWindowFunction):
    def apply(self, window, inputs):
        return []


@pytest.fixture
def stream():
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    return StreamExecutionEnvironment.get_execution_environment().from_collection([("a", 1)], pair)


@pytest.fixture
def keyed(stream):
    return stream.key_by(lambda pair: pair[0])


def test_names_types_and_descriptions(stream, keyed):
    reduced = keyed.window(TUMBLING).reduce(lambda a, b: a)
    assert reduced.get_name() == "TumblingEventTimeWindows" and reduced.get_type() == stream.get_type()
    counted = keyed.window(TUMBLING).aggregate(Count(), Process(), output_type=Types.INT())
    assert counted.get_type() == Types.INT()
    assert counted.transformation.description == (
        "Window(TumblingEventTimeWindows(10000, 0), EventTimeTrigger, Count, Process)"
    )
    everything = stream.window_all(SESSIONS).process(ProcessAll())
    assert everything.transformation.description == (
        "AllWindow(EventTimeSessionWindows(10000), EventTimeTrigger, ProcessAll)"
    )
    assert keyed.window(TUMBLING).get_input_type() == stream.get_type()
    assert keyed.window(TUMBLING).get_execution_environment() is stream.get_execution_environment()


def test_count_windows(stream, keyed):
    assert repr(keyed.count_window(5).reduce(max).transformation.spec.assigner) == "CountTumblingWindowAssigner(5)"
    assert repr(keyed.count_window(5, 2).reduce(max).transformation.spec.assigner) == "CountSlidingWindowAssigner(5, 2)"
    assert stream.count_window_all(3).apply(ApplyAll()).get_name() == "CountTumblingWindowAssigner"
    assert stream.count_window_all(3, 1).apply(ApplyAll()).get_name() == "CountSlidingWindowAssigner"


def test_settings_reach_the_operator(keyed):
    windows = keyed.window(TUMBLING).trigger(CountTrigger.of(3)).evictor(CountEvictor.of(2)).allowed_lateness(500)
    spec = windows.side_output_late_data(OutputTag("late")).apply(Apply()).transformation.spec
    assert repr(spec.trigger) == "CountTrigger(3)" and isinstance(spec.evictor, CountEvictor)
    assert (spec.allowed_lateness, spec.late_tag, spec.kind, spec.calls) == (500, "late", "list", "apply")
    for lateness in (Time.seconds(2), Duration.of_seconds(2)):
        spec = keyed.window(TUMBLING).allowed_lateness(lateness).process(Process()).transformation.spec
        assert spec.allowed_lateness == 2000


def test_default_triggers(keyed):
    def trigger(assigner):
        return keyed.window(assigner).process(Process()).transformation.spec.trigger

    assert isinstance(trigger(TUMBLING), EventTimeTrigger) and isinstance(trigger(SESSIONS), EventTimeTrigger)
    assert isinstance(trigger(GlobalWindows.create()), NeverTrigger)
    assert isinstance(trigger(CountTumblingWindowAssigner.of(2)), PurgingTrigger)
    assert type(trigger(ProcessingTimeSessionWindows.with_gap(Time.seconds(1)))).__name__ == "ProcessingTimeTrigger"


@pytest.mark.parametrize(
    "make,message",
    [
        (lambda: TumblingEventTimeWindows.of(Time.seconds(0)), r"abs\(offset\) < size"),
        (lambda: TumblingEventTimeWindows.of(Time.seconds(-1)), r"abs\(offset\) < size"),
        (lambda: TumblingEventTimeWindows.of(Time.seconds(5), Time.seconds(5)), r"abs\(offset\) < size"),
        (lambda: TumblingProcessingTimeWindows.of(Time.seconds(0)), r"TumblingProcessingTimeWindows parameters"),
        (lambda: SlidingEventTimeWindows.of(Time.seconds(0), Time.seconds(1)), r"abs\(offset\) < slide and size > 0"),
        (lambda: SlidingEventTimeWindows.of(Time.seconds(5), Time.seconds(0)), r"abs\(offset\) < slide"),
        (lambda: SlidingProcessingTimeWindows.of(Time.seconds(5), Time.seconds(1), Time.seconds(1)), r"abs\(offset\)"),
        (lambda: EventTimeSessionWindows.with_gap(Time.seconds(0)), "0 < size"),
        (lambda: ProcessingTimeSessionWindows.with_gap(Time.seconds(-3)), "0 < size"),
        (lambda: CountTumblingWindowAssigner.of(0), "size > 0"),
        (lambda: CountSlidingWindowAssigner.of(3, 0), "slide > 0"),
        (lambda: CountTrigger.of(0), "size > 0"),
        (lambda: ContinuousEventTimeTrigger.of(Time.seconds(0)), "interval > 0"),
        (lambda: ProcessingTimeoutTrigger.of(NeverTrigger(), Time.seconds(0)), "timeout > 0"),
        (lambda: CountEvictor.of(-1), "max_count >= 0"),
        (lambda: TimeEvictor.of(Time.seconds(-1)), "window_size >= 0"),
    ],
)
def test_sizes_that_mean_nothing(make, message):
    with pytest.raises(InvalidProgramError, match=message):
        make()


def test_what_is_no_window(stream, keyed):
    with pytest.raises(TypeMismatchError, match="takes a window assigner"):
        keyed.window(Time.seconds(10))
    with pytest.raises(TypeMismatchError, match=r"TumblingEventTimeWindows\.of"):
        keyed.window(TumblingEventTimeWindows)
    with pytest.raises(TypeMismatchError, match="takes a window assigner"):
        stream.window_all(None)
    with pytest.raises(TypeMismatchError, match="number of elements"):
        keyed.count_window("three")
    with pytest.raises(TypeMismatchError, match="Time or a Duration"):
        TumblingEventTimeWindows.of("10 s")


def test_a_window_before_key_by(stream):
    with pytest.raises(InvalidProgramError, match=r"(?s)window\(\) needs a keyed stream.*key_by.*window_all"):
        stream.window(TUMBLING)
    with pytest.raises(InvalidProgramError, match="count_window_all"):
        stream.count_window(3)
    with pytest.raises(InvalidProgramError, match="key_by"):
        stream.interval_join(stream.key_by(lambda pair: pair[0]))


def test_triggers_and_evictors_that_do_not_fit(keyed):
    for trigger in (DeltaTrigger.of(1, lambda a, b: 0), NeverTrigger(), PurgingTrigger.of(NeverTrigger())):
        with pytest.raises(TypeError, match="does not support merging"):
            keyed.window(SESSIONS).trigger(trigger)
    with pytest.raises(TypeError, match="does not support merging"):
        keyed.window(DynamicEventTimeSessionWindows.with_dynamic_gap(len)).trigger(NeverTrigger())
    with pytest.raises(TypeMismatchError, match="takes a trigger"):
        keyed.window(TUMBLING).trigger(CountTrigger)
    with pytest.raises(TypeMismatchError, match="takes an evictor"):
        keyed.window(TUMBLING).evictor(CountTrigger.of(1))
    with pytest.raises(TypeMismatchError, match="takes a trigger"):
        PurgingTrigger.of(3)
    with pytest.raises(InvalidProgramError, match="cannot be negative"):
        keyed.window(TUMBLING).allowed_lateness(-1)
    with pytest.raises(TypeMismatchError, match="OutputTag"):
        keyed.window(TUMBLING).side_output_late_data("late")


def test_functions_that_do_not_fit(stream, keyed):
    class Half:
        def add(self, value, accumulator):
            return accumulator

    with pytest.raises(TypeMismatchError, match="AggregateFunction"):
        keyed.window(TUMBLING).aggregate(Half())
    with pytest.raises(TypeMismatchError, match="ReduceFunction or a callable"):
        keyed.window(TUMBLING).reduce(3)
    with pytest.raises(TypeMismatchError, match="ProcessWindowFunction"):
        keyed.window(TUMBLING).process(ProcessFunction)
    with pytest.raises(TypeMismatchError, match="another kind of function"):
        keyed.window(TUMBLING).process(ProcessAll())
    with pytest.raises(TypeMismatchError, match="window_function should be a WindowFunction or ProcessWindowFunction"):
        keyed.window(TUMBLING).aggregate(Count(), ProcessAll())
    with pytest.raises(TypeMismatchError, match="window_function should be a AllWindowFunction"):
        stream.window_all(TUMBLING).reduce(max, Process())
    with pytest.raises(TypeMismatchError, match="accumulator_type"):
        keyed.window(TUMBLING).aggregate(Count(), accumulator_type=int)


# ---------------------------------------------------------------- joins


class Pair(ProcessJoinFunction):
    def process_element(self, left, right, ctx):
        yield left, right


class Groups(CoGroupFunction):
    def co_group(self, first, second):
        return []


def test_window_joins(stream, keyed):
    joined = stream.join(keyed).where(lambda v: v[0]).equal_to(lambda v: v[0]).window(TUMBLING)
    spec = joined.allowed_lateness(5).evictor(CountEvictor.of(1)).apply(lambda a, b: a).transformation.spec
    assert (spec.calls, spec.allowed_lateness) == ("join", 5)
    grouped = stream.co_group(stream).where(lambda v: v[0]).equal_to(lambda v: v[0]).window(SESSIONS)
    assert grouped.apply(Groups(), Types.STRING()).get_type() == Types.STRING()
    with pytest.raises(TypeMismatchError, match="join takes a JoinFunction"):
        joined.apply(Groups())
    with pytest.raises(TypeMismatchError, match="takes a window assigner"):
        stream.join(stream).where(lambda v: v[0]).equal_to(lambda v: v[0]).window(5)
    with pytest.raises(TypeMismatchError, match="join takes a stream"):
        stream.join([1])


def test_interval_join_bounds(stream, keyed):
    join = keyed.interval_join(keyed).between(Time.seconds(-1), Duration.of_seconds(1))
    spec = join.lower_bound_exclusive().upper_bound_exclusive().process(Pair()).transformation.spec
    assert (spec.lower, spec.upper) == (-999, 999)
    with pytest.raises(InvalidProgramError, match="lower bound of an interval join is above"):
        keyed.interval_join(keyed).between(Time.seconds(1), Time.seconds(0))
    with pytest.raises(InvalidProgramError, match="is empty"):
        keyed.interval_join(keyed).between(0, 1).lower_bound_exclusive().upper_bound_exclusive().process(Pair())
    with pytest.raises(TypeMismatchError, match="key_by"):
        keyed.interval_join(stream)
    with pytest.raises(InvalidProgramError, match="only supported in event time"):
        keyed.interval_join(keyed).in_processing_time()
    with pytest.raises(TypeMismatchError, match="ProcessJoinFunction"):
        keyed.interval_join(keyed).between(0, 1).process(lambda a, b: a)
    with pytest.raises(TypeMismatchError, match="OutputTag"):
        keyed.interval_join(keyed).between(0, 1).side_output_left_late_data("late")
