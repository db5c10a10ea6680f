"""Keys with a NaN: one key, on every path that a key takes."""

import pickle
from dataclasses import dataclass
from decimal import Decimal
from itertools import cycle

import pytest

from headrace.common import Configuration, Row, Time, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.window import TumblingEventTimeWindows
from headrace.state.key_groups import TargetCache, key_group
from headrace.state.opaque_key import OpaqueKey, filed_keys, unwrap_key


@dataclass(frozen=True)
class Point:
    x: float
    y: int


def not_a_number():
    """Give a NaN that is no other object than itself."""
    return pickle.loads(pickle.dumps(float("nan")))


KEYS = {
    "float": not_a_number,
    "decimal": lambda: Decimal("NaN"),
    "tuple": lambda: ("a", (not_a_number(), 1)),
    "list": lambda: ["a", not_a_number()],
    "dict": lambda: {"a": not_a_number()},
    "row": lambda: Row("a", not_a_number()),
    "named row": lambda: next(NAMED_ROWS),
    "frozenset": lambda: frozenset((1, not_a_number())),
    "dataclass": lambda: Point(not_a_number(), 1),
    "complex": lambda: complex(not_a_number(), 2),
}


NAMED_ROWS = cycle([Row(b=not_a_number(), a=1), Row(a=1, b=not_a_number())])


class Zero(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return 0


def add(a, b):
    return a[0], a[1] + b[1]


def keyed(backend, parallelism, make):
    configuration = Configuration()
    for name, value in {
        "headrace.executor": "local",
        "state.backend.type": backend,
        "headrace.epoch.max-records": "2",
    }.items():
        configuration.set_string(name, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism)
    return env.from_collection([(0, 1)] * 6).map(lambda v: (make(), 1))


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_records_with_nan_share_one_key_across_epochs(backend, kind):
    counted = keyed(backend, 2, KEYS[kind]).key_by(lambda v: v[0]).reduce(add)
    assert sorted(count for _, count in counted.execute_and_collect()) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_windows_that_combine_early_put_nan_into_one_window(backend):
    stream = keyed(backend, 2, not_a_number).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Zero())
    )
    windows = stream.key_by(lambda v: v[0]).window(TumblingEventTimeWindows.of(Time.seconds(1))).reduce(add)
    assert [count for _, count in windows.execute_and_collect()] == [6]


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_with_nan_keeps_its_form_and_value_through_a_file(kind):
    (key,) = filed_keys([KEYS[kind]()])
    again = pickle.loads(pickle.dumps(key))
    (other,) = filed_keys([KEYS[kind]()])
    assert type(key) is OpaqueKey
    assert key == again == other
    assert hash(key) == hash(again) == hash(other)
    # NaN's hash is its address: the order of a set with one differs from copy to copy, so its characters are sorted.
    assert sorted(repr(unwrap_key(again))) == sorted(repr(unwrap_key(key)))


@pytest.mark.parametrize("kind", ["float", "decimal", "tuple", "row", "named row", "frozenset", "dataclass"])
def test_the_key_group_is_the_one_of_the_value_itself(kind):
    value = KEYS[kind]()
    assert key_group(OpaqueKey(value), 128) == key_group(value, 128)


def test_other_values_of_a_key_stay_apart():
    keys = filed_keys([(not_a_number(), 1), (not_a_number(), 2), ("nan", 1), not_a_number(), (1.5, 1), 0.0, -0.0])
    assert len(set(keys)) == 6  # 0.0 and -0.0 are equal in Python, so they are one key
    assert [type(key) is OpaqueKey for key in keys] == [True, True, False, True, False, False, False]


def test_a_cache_of_targets_never_remembers_a_nan():
    cache = TargetCache(128, 2)
    nan = not_a_number()
    for _ in range(2):
        with pytest.raises(TypeError, match="NaN"):
            cache[nan]
