"""The annotations that PyFlink programs write on their window functions, triggers and assigners mean something here too."""

from collections.abc import Iterable

import pytest

from headrace.common import Time, Types, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream.functions import (
    AllWindowFunction,
    AsyncFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from headrace.datastream.window import (
    GlobalWindow,
    MergingWindowAssigner,
    TimeWindow,
    Trigger,
    TumblingEventTimeWindows,
    WindowAssigner,
)


class Total(WindowFunction[tuple, tuple, str, TimeWindow]):
    def apply(self, key: str, window: TimeWindow, inputs: Iterable[tuple]):
        return [(key, sum(pair[1] for pair in inputs))]


class Count(ProcessWindowFunction[tuple, tuple, str, TimeWindow]):
    def process(self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[tuple]):
        return [(key, len(list(elements)))]

    def clear(self, context: ProcessWindowFunction.Context[TimeWindow]) -> None:
        pass


class CountAll(ProcessAllWindowFunction[tuple, tuple, TimeWindow]):
    def process(self, context: ProcessAllWindowFunction.Context[TimeWindow], elements: Iterable[tuple]):
        return [("all", len(list(elements)))]

    def clear(self, context: ProcessAllWindowFunction.Context[TimeWindow]) -> None:
        pass


class TotalOfAll(AllWindowFunction[tuple, tuple, TimeWindow]):
    def apply(self, window: TimeWindow, inputs: Iterable[tuple]):
        return [("all", sum(pair[1] for pair in inputs))]


class Seconds(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


@pytest.mark.parametrize(
    "call,expected",
    [
        (lambda s: windows(s).apply(Total()), [("a", 3), ("a", 12), ("b", 4)]),
        (lambda s: windows(s).process(Count()), [("a", 1), ("a", 2), ("b", 1)]),
        (lambda s: s.window_all(size()).process(CountAll()), [("all", 1), ("all", 3)]),
        (lambda s: s.window_all(size()).apply(TotalOfAll()), [("all", 7), ("all", 12)]),
    ],
)
def test_subscripted_base_classes_run(env, collected, call, expected):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Seconds())
    pairs = env.from_collection([("a", 1), ("a", 2), ("b", 4), ("a", 12)], Types.TUPLE([Types.STRING(), Types.INT()]))
    assert sorted(collected(call(pairs.assign_timestamps_and_watermarks(strategy)))) == expected


def size():
    return TumblingEventTimeWindows.of(Time.milliseconds(10))


def windows(stream):
    return stream.key_by(lambda pair: pair[0], key_type=Types.STRING()).window(size())


def test_other_classes_take_type_arguments():
    for one in (
        Trigger[tuple, TimeWindow],
        WindowAssigner[tuple, GlobalWindow],
        MergingWindowAssigner[tuple, TimeWindow],
        MergingWindowAssigner.MergeCallback[TimeWindow],
        AsyncFunction[tuple, str],
    ):
        assert one.__origin__ is not None
    assert issubclass(Trigger.OnMergeContext, Trigger.TriggerContext)
