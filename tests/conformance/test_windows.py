"""Windows as PyFlink programs write them: assigners, triggers, functions, late data, merging, windows over all.

The programs give the same in PyFlink 2.3 (in thread mode, where functions are called in Flink's own order), but for what PyFlink
lacks (count_window_all, the end-of-stream trigger, durations as sizes), the timestamps of results, which thread mode loses, and
refusals, which come earlier here.
"""

from __future__ import annotations

import pytest

from headrace.common import Duration, Row, Time, Types, WatermarkStrategy
from headrace.common.watermark_generator import Watermark, WatermarkGenerator
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import OutputTag
from headrace.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessFunction,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
)
from headrace.datastream.state import ReducingStateDescriptor, ValueStateDescriptor
from headrace.datastream.window import (
    ContinuousEventTimeTrigger,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    MergingWindowAssigner,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    TimeWindow,
    TimeWindowSerializer,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    WindowAssigner,
)
from headrace.testing import CollectingSink

PAIRS = [("ann", 1), ("ann", 2), ("bob", 4), ("ann", 8), ("bob", 9), ("ann", 15), ("bob", 16)]


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return int(value[1])


def pair_type():
    return Types.TUPLE([Types.STRING(), Types.INT()])


def timed(env, pairs=PAIRS):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    return env.from_collection(pairs, type_info=pair_type()).assign_timestamps_and_watermarks(strategy)


def keyed(env, pairs=PAIRS):
    return timed(env, pairs).key_by(lambda pair: pair[0], key_type=Types.STRING())


def plain(env, pairs=PAIRS):
    return env.from_collection(pairs, type_info=pair_type()).key_by(lambda pair: pair[0], key_type=Types.STRING())


# ---------------------------------------------------------------- functions


class Span(ProcessWindowFunction):
    """(key, start, end, number of elements)"""

    def process(self, key, context, elements):
        return [(key, context.window().start, context.window().end, len([e for e in elements]))]

    def clear(self, context):
        pass


def span_type():
    return Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG(), Types.INT()])


class HowMany(ProcessWindowFunction):
    """(key, number of elements), for windows without bounds."""

    def process(self, key, context, elements):
        yield key, len(list(elements))

    def clear(self, context):
        pass


class Sum(WindowFunction):
    def apply(self, key, window, inputs):
        return [(key, sum(pair[1] for pair in inputs))]


class AllSpan(ProcessAllWindowFunction):
    def process(self, context, elements):
        return [(context.window().start, context.window().end, sum(1 for _ in elements))]

    def clear(self, context):
        pass


class AllSum(AllWindowFunction):
    def apply(self, window, inputs):
        yield "all", sum(pair[1] for pair in inputs)


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] // accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


def mean_type():
    return Types.TUPLE([Types.INT(), Types.INT()])


class Later(ReduceFunction):
    def reduce(self, value1, value2):
        return value1[0], max(value1[1], value2[1])


class Named(ProcessWindowFunction):
    """(key, the one value that the window was brought to)"""

    def process(self, key, context, elements):
        (one,) = elements
        yield key, one if isinstance(one, int) else one[1]

    def clear(self, context):
        pass


class NamedByApply(WindowFunction):
    def apply(self, key, window, inputs):
        for one in inputs:
            yield key, one if isinstance(one, int) else one[1] * 10


# ---------------------------------------------------------------- count windows


def test_count_windows_one_after_the_other(make_env, collected):
    windows = plain(make_env(1), [("ann", 1), ("ann", 2), ("bob", 1), ("ann", 3), ("ann", 4), ("bob", 5)])
    assert sorted(collected(windows.count_window(2).apply(Sum(), pair_type()))) == [("ann", 3), ("ann", 7), ("bob", 6)]


def test_count_windows_that_are_not_full_do_not_fire(make_env, collected):
    windows = plain(make_env(1), [("ann", 1), ("ann", 2), ("ann", 3), ("bob", 5)])
    assert collected(windows.count_window(2).apply(Sum(), pair_type())) == [("ann", 3)]


def test_count_windows_that_slide(make_env, collected):
    windows = plain(make_env(1), [("ann", n) for n in range(1, 7)] + [("bob", n) for n in range(1, 5)])
    results = collected(windows.count_window(4, 2).apply(Sum(), pair_type()))
    assert sorted(results) == [("ann", 10), ("ann", 18), ("bob", 10)]


def test_count_windows_by_their_assigners(make_env, collected):
    tumbling = plain(make_env(1)).window(CountTumblingWindowAssigner.of(3)).apply(Sum(), pair_type())
    assert sorted(collected(tumbling)) == [("ann", 11), ("bob", 29)]
    sliding = plain(make_env(1)).window(CountSlidingWindowAssigner.of(3, 1)).apply(Sum(), pair_type())
    assert sorted(collected(sliding)) == [("ann", 11), ("ann", 25), ("bob", 29)]


def test_count_windows_reduce_and_aggregate(make_env, collected):
    assert sorted(collected(plain(make_env(1)).count_window(2).reduce(Later()))) == [
        ("ann", 2), ("ann", 15), ("bob", 9)
    ]  # fmt: skip
    means = plain(make_env(1)).count_window(2).aggregate(Mean(), accumulator_type=mean_type(), output_type=Types.INT())
    assert sorted(collected(means)) == [1, 6, 11]


def test_count_windows_over_all(make_env, collected):
    numbers = make_env(1).from_collection([("x", n) for n in range(1, 8)], type_info=pair_type())
    assert collected(numbers.count_window_all(3).apply(AllSum(), pair_type())) == [("all", 6), ("all", 15)]
    numbers = make_env(1).from_collection([("x", n) for n in range(1, 8)], type_info=pair_type())
    sliding = numbers.count_window_all(4, 3).reduce(lambda a, b: (a[0], a[1] + b[1]))
    assert collected(sliding) == [("x", 10), ("x", 22)]


# ---------------------------------------------------------------- tumbling and sliding


def test_tumbling_windows_process(make_env, collected):
    windows = keyed(make_env(1)).window(TumblingEventTimeWindows.of(Time.milliseconds(5)))
    assert sorted(collected(windows.process(Span(), span_type()))) == [
        ("ann", 0, 5, 2), ("ann", 5, 10, 1), ("ann", 15, 20, 1), ("bob", 0, 5, 1), ("bob", 5, 10, 1), ("bob", 15, 20, 1)
    ]  # fmt: skip


def test_tumbling_windows_with_an_offset(make_env, collected):
    windows = keyed(make_env(1)).window(TumblingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(3)))
    assert sorted(collected(windows.process(Span(), span_type()))) == [
        ("ann", -7, 3, 2), ("ann", 3, 13, 1), ("ann", 13, 23, 1), ("bob", 3, 13, 2), ("bob", 13, 23, 1)
    ]  # fmt: skip


def test_windows_take_durations(make_env, collected):
    windows = keyed(make_env(1)).window(TumblingEventTimeWindows.of(Duration.of_millis(10)))
    assert sorted(collected(windows.process(Span(), span_type()))) == [
        ("ann", 0, 10, 3), ("ann", 10, 20, 1), ("bob", 0, 10, 2), ("bob", 10, 20, 1)
    ]  # fmt: skip


def test_sliding_windows_process(make_env, collected):
    windows = keyed(make_env(1), [("ann", 1), ("ann", 2), ("ann", 6)])
    windows = windows.window(SlidingEventTimeWindows.of(Time.milliseconds(5), Time.milliseconds(2)))
    assert collected(windows.process(Span(), span_type())) == [
        ("ann", -2, 3, 2), ("ann", 0, 5, 2), ("ann", 2, 7, 2), ("ann", 4, 9, 1), ("ann", 6, 11, 1)
    ]  # fmt: skip


def test_sliding_windows_reduce(make_env, collected):
    windows = keyed(make_env(1)).window(SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5)))
    assert sorted(collected(windows.reduce(Later()))) == [
        ("ann", 2), ("ann", 8), ("ann", 8), ("ann", 15), ("ann", 15), ("bob", 4), ("bob", 9), ("bob", 9), ("bob", 16),
        ("bob", 16),
    ]  # fmt: skip


# ---------------------------------------------------------------- functions


def tens(env):
    return keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))


def test_reduce_alone(make_env, collected):
    assert sorted(collected(tens(make_env(1)).reduce(Later(), output_type=pair_type()))) == [
        ("ann", 8), ("ann", 15), ("bob", 9), ("bob", 16)
    ]  # fmt: skip


def test_reduce_with_a_lambda(make_env, collected):
    summed = tens(make_env(1)).reduce(lambda a, b: (a[0], a[1] + b[1]))
    assert sorted(collected(summed)) == [("ann", 11), ("ann", 15), ("bob", 13), ("bob", 16)]


def test_reduce_with_a_process_function(make_env, collected):
    named = tens(make_env(1)).reduce(Later(), window_function=Named(), output_type=pair_type())
    assert sorted(collected(named)) == [("ann", 8), ("ann", 15), ("bob", 9), ("bob", 16)]


def test_reduce_with_a_window_function(make_env, collected):
    named = tens(make_env(1)).reduce(Later(), window_function=NamedByApply(), output_type=pair_type())
    assert sorted(collected(named)) == [("ann", 80), ("ann", 150), ("bob", 90), ("bob", 160)]


def test_aggregate_alone(make_env, collected):
    means = tens(make_env(1)).aggregate(Mean(), accumulator_type=mean_type(), output_type=Types.INT())
    assert sorted(collected(means)) == [3, 6, 15, 16]


def test_aggregate_with_a_process_function(make_env, collected):
    means = tens(make_env(1)).aggregate(
        Mean(), window_function=Named(), accumulator_type=mean_type(), output_type=pair_type()
    )
    assert sorted(collected(means)) == [("ann", 3), ("ann", 15), ("bob", 6), ("bob", 16)]


def test_aggregate_with_a_window_function(make_env, collected):
    means = tens(make_env(1)).aggregate(
        Mean(), window_function=NamedByApply(), accumulator_type=mean_type(), output_type=pair_type()
    )
    assert sorted(collected(means)) == [("ann", 3), ("ann", 15), ("bob", 6), ("bob", 16)]


def test_apply(make_env, collected):
    assert sorted(collected(tens(make_env(1)).apply(Sum(), pair_type()))) == [
        ("ann", 11), ("ann", 15), ("bob", 13), ("bob", 16)
    ]  # fmt: skip


class Numbered(ProcessWindowFunction):
    """(key, number of this firing of the window, number of this window of the key)"""

    def open(self, runtime_context):
        self.of_window = ValueStateDescriptor("of_window", Types.INT())
        self.of_key = ValueStateDescriptor("of_key", Types.INT())

    def process(self, key, context, elements):
        firing = context.window_state().get_state(self.of_window)
        window = context.global_state().get_state(self.of_key)
        firing.update((firing.value() or 0) + 1)
        if firing.value() == 1:
            window.update((window.value() or 0) + 1)
        yield key, firing.value(), window.value()

    def clear(self, context):
        context.window_state().get_state(self.of_window).clear()


def test_state_of_the_window_and_of_the_key(make_env, collected):
    windows = tens(make_env(1)).trigger(CountTrigger.of(1))
    numbered = windows.process(Numbered(), Types.TUPLE([Types.STRING(), Types.INT(), Types.INT()]))
    assert sorted(collected(numbered)) == [
        ("ann", 1, 1), ("ann", 1, 2), ("ann", 2, 1), ("ann", 3, 1), ("bob", 1, 1), ("bob", 1, 2), ("bob", 2, 1)
    ]  # fmt: skip


class Watermarks(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().max_timestamp(), context.current_watermark() >= context.window().max_timestamp()

    def clear(self, context):
        pass


def test_the_watermark_in_a_process_function(make_env, collected):
    seen = tens(make_env(1)).process(Watermarks(), Types.TUPLE([Types.STRING(), Types.LONG(), Types.BOOLEAN()]))
    assert sorted(collected(seen)) == [("ann", 9, True), ("ann", 19, True), ("bob", 9, True), ("bob", 19, True)]


class Stamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield value[0], ctx.timestamp()


def test_results_have_the_last_timestamp_of_their_window(make_env, collected):
    stamped = tens(make_env(1)).reduce(Later()).process(Stamp(), Types.TUPLE([Types.STRING(), Types.LONG()]))
    assert sorted(collected(stamped)) == [("ann", 9), ("ann", 19), ("bob", 9), ("bob", 19)]


def test_windows_one_after_the_other_see_the_results_of_one_window_together(make_env, collected):
    latest = tens(make_env(1)).reduce(Later())
    together = latest.window_all(TumblingEventTimeWindows.of(Time.milliseconds(10))).apply(AllSum(), pair_type())
    assert collected(together) == [("all", 17), ("all", 31)]


# ---------------------------------------------------------------- sessions


def test_sessions_end_with_a_pause(make_env, collected):
    windows = keyed(make_env(1)).window(EventTimeSessionWindows.with_gap(Time.milliseconds(5)))
    assert sorted(collected(windows.process(Span(), span_type()))) == [
        ("ann", 1, 7, 2), ("ann", 8, 13, 1), ("ann", 15, 20, 1), ("bob", 4, 14, 2), ("bob", 16, 21, 1)
    ]  # fmt: skip


def test_an_element_between_two_sessions_makes_them_one(make_env, collected):
    windows = keyed(make_env(1), [("ann", 1), ("ann", 9), ("ann", 5), ("ann", 30)])
    windows = windows.window(EventTimeSessionWindows.with_gap(Time.milliseconds(5)))
    assert sorted(collected(windows.process(Span(), span_type()))) == [("ann", 1, 14, 3), ("ann", 30, 35, 1)]


class GapByKey(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return 3 if element[0] == "ann" else 8


def test_sessions_with_a_dynamic_gap(make_env, collected):
    windows = keyed(make_env(1)).window(EventTimeSessionWindows.with_dynamic_gap(GapByKey()))
    assert sorted(collected(windows.process(Span(), span_type()))) == [
        ("ann", 1, 5, 2), ("ann", 8, 11, 1), ("ann", 15, 18, 1), ("bob", 4, 24, 3)
    ]  # fmt: skip


def test_sessions_with_a_purging_trigger(make_env, collected):
    windows = keyed(make_env(1)).window(EventTimeSessionWindows.with_gap(Time.milliseconds(5)))
    windows = windows.trigger(PurgingTrigger.of(EventTimeTrigger.create()))
    assert sorted(collected(windows.process(Span(), span_type()))) == [
        ("ann", 1, 7, 2), ("ann", 8, 13, 1), ("ann", 15, 20, 1), ("bob", 4, 14, 2), ("bob", 16, 21, 1)
    ]  # fmt: skip


def test_sessions_apply(make_env, collected):
    windows = keyed(make_env(1)).window(EventTimeSessionWindows.with_gap(Time.milliseconds(5)))
    assert sorted(collected(windows.apply(Sum(), pair_type()))) == [
        ("ann", 3), ("ann", 8), ("ann", 15), ("bob", 13), ("bob", 16)
    ]  # fmt: skip


# ---------------------------------------------------------------- global windows and triggers


def test_global_windows_with_a_purging_count_trigger(make_env, collected):
    windows = plain(make_env(1)).window(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(2)))
    assert sorted(collected(windows.process(HowMany(), pair_type()))) == [("ann", 2), ("ann", 2), ("bob", 2)]


def test_global_windows_with_a_count_trigger_keep_their_elements(make_env, collected):
    windows = plain(make_env(1)).window(GlobalWindows.create()).trigger(CountTrigger.of(2))
    assert sorted(collected(windows.process(HowMany(), pair_type()))) == [("ann", 2), ("ann", 4), ("bob", 2)]


def test_global_windows_never_fire_by_themselves(make_env, collected):
    windows = plain(make_env(1)).window(GlobalWindows.create())
    assert collected(windows.process(HowMany(), pair_type())) == []


def test_global_windows_that_fire_at_the_end_of_the_stream(make_env, collected):
    windows = plain(make_env(1)).window(GlobalWindows.create_with_end_of_stream_trigger())
    assert sorted(collected(windows.process(HowMany(), pair_type()))) == [("ann", 4), ("bob", 3)]


def test_a_continuous_trigger_fires_early_and_at_the_end(make_env, collected):
    windows = keyed(make_env(1)).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    windows = windows.trigger(ContinuousEventTimeTrigger.of(Time.milliseconds(4)))
    # All elements come before the only watermark, the last one: one firing for every multiple of 4 and for the end.
    results = sorted(collected(windows.process(Span(), span_type())))
    assert ("ann", 0, 10, 3) in results and ("bob", 0, 10, 2) in results
    assert {span[:3] for span in results} == {("ann", 0, 10), ("ann", 10, 20), ("bob", 0, 10), ("bob", 10, 20)}


# ---------------------------------------------------------------- assigners and triggers of the program


class EverySum(Trigger):
    """Fires when the numbers of the window since the last firing reach a limit; its state is the trigger's own."""

    def __init__(self, limit):
        self._limit = limit
        self._sum = ReducingStateDescriptor("sum", lambda a, b: a + b, Types.LONG())

    def on_element(self, element, timestamp, window, ctx):
        total = ctx.get_partitioned_state(self._sum)
        total.add(element[1])
        if total.get() >= self._limit:
            total.clear()
            return TriggerResult.FIRE_AND_PURGE
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(self._sum)

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self._sum).clear()


def test_a_trigger_with_state(make_env, collected):
    windows = plain(make_env(1)).window(GlobalWindows.create()).trigger(EverySum(10))
    assert sorted(collected(windows.apply(Sum(), pair_type()))) == [("ann", 11), ("ann", 15), ("bob", 13), ("bob", 16)]


class AtEnd(Trigger):
    """The event-time trigger, written again."""

    def on_element(self, element, timestamp, window, ctx):
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        if window.max_timestamp() > ctx.get_current_watermark():
            ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window, ctx):
        ctx.delete_event_time_timer(window.max_timestamp())


class Weeks(WindowAssigner):
    """Windows of 7, written again."""

    def assign_windows(self, element, timestamp, context):
        assert context.get_current_processing_time() > 0
        start = timestamp - timestamp % 7
        return [TimeWindow(start, start + 7)]

    def get_default_trigger(self, env):
        return AtEnd()

    def get_window_serializer(self):
        return TimeWindowSerializer()

    def is_event_time(self):
        return True


def test_an_assigner_and_a_trigger_of_the_program(make_env, collected):
    assert sorted(collected(keyed(make_env(1)).window(Weeks()).process(Span(), span_type()))) == [
        ("ann", 0, 7, 2), ("ann", 7, 14, 1), ("ann", 14, 21, 1), ("bob", 0, 7, 1), ("bob", 7, 14, 1), ("bob", 14, 21, 1)
    ]  # fmt: skip


class Pauses(MergingWindowAssigner):
    """Sessions, written again: the gap is 4."""

    def assign_windows(self, element, timestamp, context):
        return [TimeWindow(timestamp, timestamp + 4)]

    def merge_windows(self, windows, callback):
        ordered = sorted(windows, key=lambda window: window.start)
        group = ordered[:1]
        for window in ordered[1:]:
            if window.start <= max(w.end for w in group):
                group.append(window)
            else:
                self._tell(group, callback)
                group = [window]
        self._tell(group, callback)

    def _tell(self, group, callback):
        if len(group) > 1:
            whole = TimeWindow(min(w.start for w in group), max(w.end for w in group))
            callback.merge(group, whole)

    def get_default_trigger(self, env):
        return AtEnd()

    def get_window_serializer(self):
        return TimeWindowSerializer()

    def is_event_time(self):
        return True


def test_a_merging_assigner_of_the_program(make_env, collected):
    pairs = [("ann", 1), ("ann", 8), ("ann", 3), ("ann", 5), ("ann", 20), ("bob", 7), ("bob", 12)]
    assert sorted(collected(keyed(make_env(1), pairs).window(Pauses()).process(Span(), span_type()))) == [
        ("ann", 1, 12, 4), ("ann", 20, 24, 1), ("bob", 7, 11, 1), ("bob", 12, 16, 1)
    ]  # fmt: skip


# ---------------------------------------------------------------- windows over all


def test_tumbling_windows_over_all(make_env, collected):
    windows = timed(make_env(1)).window_all(TumblingEventTimeWindows.of(Time.milliseconds(5)))
    spans = windows.process(AllSpan(), Types.TUPLE([Types.LONG(), Types.LONG(), Types.INT()]))
    assert collected(spans) == [(0, 5, 3), (5, 10, 2), (15, 20, 2)]


def test_sessions_over_all(make_env, collected):
    windows = timed(make_env(1)).window_all(EventTimeSessionWindows.with_gap(Time.milliseconds(5)))
    spans = windows.process(AllSpan(), Types.TUPLE([Types.LONG(), Types.LONG(), Types.INT()]))
    assert collected(spans) == [(1, 14, 5), (15, 21, 2)]


def test_reduce_and_aggregate_over_all(make_env, collected):
    size = Time.milliseconds(10)
    latest = timed(make_env(1)).window_all(TumblingEventTimeWindows.of(size)).reduce(Later())
    assert [pair[1] for pair in collected(latest)] == [9, 16]
    means = timed(make_env(1)).window_all(TumblingEventTimeWindows.of(size))
    means = means.aggregate(Mean(), accumulator_type=mean_type(), output_type=Types.INT())
    assert collected(means) == [4, 15]


# ---------------------------------------------------------------- what is refused


def test_a_trigger_that_cannot_merge_is_refused_for_sessions(make_env):
    windows = keyed(make_env(1)).window(EventTimeSessionWindows.with_gap(Time.milliseconds(5)))

    class Stubborn(AtEnd):
        def can_merge(self):
            return False

    with pytest.raises(TypeError, match="merging window assigner"):
        windows.trigger(Stubborn())


def test_what_is_no_window_function_is_refused(make_env):
    with pytest.raises(TypeError):
        tens(make_env(1)).aggregate(lambda a, b: a)
    with pytest.raises(TypeError):
        tens(make_env(1)).process(Sum())


# ---------------------------------------------------------------- late data


class EveryElement(WatermarkGenerator):
    """A watermark after each element."""

    def on_event(self, event, event_timestamp, output):
        output.emit_watermark(Watermark(event_timestamp))

    def on_periodic_emit(self, output):
        pass


def watermark_after_each_element():
    return WatermarkStrategy.for_generator(EveryElement)


def punctual(env, pairs):
    strategy = watermark_after_each_element().with_timestamp_assigner(SecondField())
    stream = env.from_collection(pairs, type_info=Types.ROW([Types.STRING(), Types.INT()]))
    return stream.assign_timestamps_and_watermarks(strategy).key_by(lambda pair: pair[0], key_type=Types.STRING())


def with_late_data(env, pairs, windows, finish):
    """The results and the late elements of a job with a watermark after each element."""
    tag = OutputTag("late", Types.ROW([Types.STRING(), Types.INT()]))
    main, late = CollectingSink(), CollectingSink()
    results = finish(windows(punctual(env, pairs)).side_output_late_data(tag))
    results.add_sink(main)
    results.get_side_output(tag).add_sink(late)
    env.execute()
    return main.get_results(), late.get_results()


LATE = [("a", 0), ("a", 8), ("a", 4), ("a", 6)]


def test_late_data_of_tumbling_windows(make_env):
    results, late = with_late_data(
        make_env(1),
        LATE,
        lambda keys: keys.window(TumblingEventTimeWindows.of(Time.milliseconds(5))),
        lambda windows: windows.process(Span(), span_type()),
    )
    assert results == ["(a,0,5,1)", "(a,5,10,2)"] and late == ["+I[a, 4]"]


def test_late_data_of_sessions(make_env):
    results, late = with_late_data(
        make_env(1),
        [("a", 0), ("a", 8), ("a", 3), ("a", 6), ("a", 2)],
        lambda keys: keys.window(EventTimeSessionWindows.with_gap(Time.milliseconds(3))),
        lambda windows: windows.process(Span(), span_type()),
    )
    assert results == ["(a,0,3,1)", "(a,6,11,2)"] and late == ["+I[a, 3]", "+I[a, 2]"]


def test_late_data_of_sliding_windows_is_late_in_all_of_them(make_env):
    results, late = with_late_data(
        make_env(1),
        LATE,
        lambda keys: keys.window(SlidingEventTimeWindows.of(Time.milliseconds(6), Time.milliseconds(3))),
        lambda windows: windows.process(Span(), span_type()),
    )
    assert results == ["(a,-3,3,1)", "(a,0,6,1)", "(a,3,9,1)", "(a,6,12,2)"] and late == ["+I[a, 4]"]


def test_allowed_lateness_fires_again(make_env):
    results, late = with_late_data(
        make_env(1),
        [("a", 1), ("a", 11), ("a", 3), ("a", 14), ("a", 4), ("a", 16), ("a", 5)],
        lambda keys: keys.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).allowed_lateness(6),
        lambda windows: windows.process(Span(), span_type()),
    )
    assert results == ["(a,0,10,1)", "(a,0,10,2)", "(a,0,10,3)", "(a,10,20,3)"] and late == ["+I[a, 5]"]


def test_allowed_lateness_of_reduce_and_aggregate(make_env):
    pairs = [("a", 1), ("a", 11), ("a", 3), ("a", 14), ("a", 4), ("a", 16), ("a", 5)]

    def windows(keys):
        return keys.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).allowed_lateness(6)

    summed = with_late_data(make_env(1), pairs, windows, lambda w: w.reduce(lambda x, y: Row(x[0], x[1] + y[1])))
    assert summed == (["+I[a, 1]", "+I[a, 4]", "+I[a, 8]", "+I[a, 41]"], ["+I[a, 5]"])
    means = with_late_data(make_env(1), pairs, windows, lambda w: w.aggregate(Mean(), None, mean_type(), Types.INT()))
    assert means == (["1", "2", "2", "13"], ["+I[a, 5]"])


def test_late_elements_are_dropped_without_a_side_output(make_env, collected):
    windows = punctual(make_env(1), LATE).window(TumblingEventTimeWindows.of(Time.milliseconds(5)))
    assert collected(windows.process(Span(), span_type())) == [("a", 0, 5, 1), ("a", 5, 10, 2)]


def test_a_late_element_joins_sessions_that_are_kept(make_env):
    results, late = with_late_data(
        make_env(1),
        [("a", 1), ("a", 6), ("a", 20), ("a", 4), ("a", 3)],
        lambda keys: keys.window(EventTimeSessionWindows.with_gap(Time.milliseconds(3))).allowed_lateness(13),
        lambda windows: windows.process(Span(), span_type()),
    )
    # [1, 4) is over when the watermark is 20; [6, 9) is not, and takes the element at 4 and with it the one at 3.
    assert results == ["(a,1,4,1)", "(a,6,9,1)", "(a,4,9,2)", "(a,3,9,3)", "(a,20,23,1)"] and late == []
