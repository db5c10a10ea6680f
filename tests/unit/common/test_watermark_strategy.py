import pickle
from functools import partial

import pytest

from headrace.common import Duration, Time, WatermarkStrategy
from headrace.common.errors import HeadraceError, InvalidProgramError, NoJvmError, TypeMismatchError
from headrace.common.watermark_strategy import (
    MAX_WATERMARK,
    MIN_TIMESTAMP,
    AssignerWithPeriodicWatermarksWrapper,
    BoundedOutOfOrderness,
    CustomGenerator,
    MonotonousTimestamps,
    NoWatermarks,
    TimestampAssigner,
    Watermark,
    WatermarkAlignment,
    WatermarkGenerator,
)


class ByValue(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Never(WatermarkGenerator):
    def on_event(self, event, event_timestamp, output):
        pass

    def on_periodic_emit(self, output):
        pass


def test_every_call_keeps_what_was_set_before():
    assigner = ByValue()
    strategy = (
        WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
        .with_timestamp_assigner(assigner)
        .with_watermark_alignment("g", Duration.of_seconds(1), Duration.of_millis(10))
        .with_idleness(Time.minutes(1))
    )
    assert strategy.generator == BoundedOutOfOrderness(5000)
    assert strategy.timestamp_assigner is assigner
    assert strategy.idle_timeout_ms == 60_000
    assert strategy.alignment == WatermarkAlignment("g", 1000, 10)


def test_strategies_do_not_change():
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    strategy.with_idleness(Duration.of_seconds(1))
    assert strategy == WatermarkStrategy(MonotonousTimestamps())
    with pytest.raises(AttributeError):
        strategy.idle_timeout_ms = 5


def test_strategies_pickle():
    strategy = WatermarkStrategy.for_generator(Never).with_idleness(Duration.of_seconds(1))
    assert pickle.loads(pickle.dumps(strategy)) == strategy
    assert pickle.loads(pickle.dumps(WatermarkStrategy.no_watermarks())).generator == NoWatermarks()


def test_generators_are_made_anew():
    custom = WatermarkStrategy.for_generator(lambda: Never()).generator
    assert custom.create() is not custom.create()


def test_supplier_must_make_a_generator():
    with pytest.raises(TypeMismatchError, match="on_periodic_emit"):
        CustomGenerator(lambda: 5).create()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: WatermarkStrategy.for_generator(Never()),
        lambda: WatermarkStrategy.for_generator(None),
        lambda: WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(-1)),
        lambda: WatermarkStrategy.for_bounded_out_of_orderness(5),
        lambda: WatermarkStrategy.no_watermarks().with_idleness(Duration.of_millis(0)),
        lambda: WatermarkStrategy.no_watermarks().with_timestamp_assigner(lambda value: value),
        lambda: WatermarkStrategy.no_watermarks().with_timestamp_assigner(5),
        lambda: WatermarkStrategy.no_watermarks().with_timestamp_assigner(ByValue),
        lambda: WatermarkStrategy.no_watermarks().with_watermark_alignment("", Duration.of_seconds(1)),
        lambda: WatermarkStrategy.no_watermarks().with_watermark_alignment("g", Duration.of_seconds(-1)),
        lambda: WatermarkStrategy.no_watermarks().with_watermark_alignment("g", Duration.of_seconds(1), Time(0)),
    ],
)
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(HeadraceError) as caught:
        wrong()
    assert isinstance(caught.value, (TypeMismatchError, InvalidProgramError))


def by_value(value, record_timestamp):
    return value


@pytest.mark.parametrize("assigner", [by_value, lambda value, timestamp: value, partial(max, key=abs), ByValue()])
def test_a_timestamp_assigner_may_be_a_function(assigner):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(assigner)
    assert strategy.timestamp_assigner.extract_timestamp(17, 3) == 17


def test_java_assigners_are_refused():
    with pytest.raises(NoJvmError, match="for_generator"):
        AssignerWithPeriodicWatermarksWrapper(None)


def test_watermarks_order():
    assert Watermark(MIN_TIMESTAMP) < Watermark(0) < Watermark(MAX_WATERMARK)
    assert MAX_WATERMARK == 9223372036854775807
