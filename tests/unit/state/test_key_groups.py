"""Key groups: Flink's formulas, stable targets, caches that stay bounded."""

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass

import pytest

from headrace.common.errors import StateError, TypeMismatchError
from headrace.state.key_groups import (
    GroupCache,
    TargetCache,
    default_max_parallelism,
    key_group,
    key_group_range,
    subtask_of,
)
from headrace.state.opaque_key import OpaqueKey, hashable_keys, unwrap_key


@dataclass
class Point:
    x: int
    tags: list[str]


class Unhashable:
    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("parallelism", "expected"),
    [(1, 128), (85, 128), (86, 256), (128, 256), (170, 256), (171, 256), (172, 512), (21845, 32768), (40000, 32768)],
)
def test_default_max_parallelism_is_flinks(parallelism, expected):
    wanted = parallelism + parallelism // 2
    power = 1
    while power < wanted:
        power *= 2
    assert default_max_parallelism(parallelism) == min(max(power, 128), 32768) == expected


@pytest.mark.parametrize("max_parallelism", [1, 7, 128, 1000])
@pytest.mark.parametrize("parallelism", [1, 2, 3, 5, 7, 64, 128])
def test_ranges_cover_all_groups_once_and_agree_with_subtask_of(max_parallelism, parallelism):
    if parallelism > max_parallelism:
        with pytest.raises(StateError, match="greater than the number of key groups"):
            key_group_range(0, max_parallelism, parallelism)
        return
    owners = {
        group: subtask
        for subtask in range(parallelism)
        for group in key_group_range(subtask, max_parallelism, parallelism)
    }
    assert owners == {group: subtask_of(group, max_parallelism, parallelism) for group in range(max_parallelism)}


def test_key_groups_are_the_same_in_another_process():
    keys = ["a", "key-17", 5, -1, 2.5, None, ("a", 1), b"x", True]
    code = f"from headrace.state.key_groups import key_group; print([key_group(k, 128) for k in {keys!r}])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "7"}
    command = [sys.executable, "-c", code]
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    assert out.strip() == str([key_group(k, 128) for k in keys])


def test_keys_spread_over_the_groups():
    used = {key_group(f"user-{n}", 128) for n in range(2000)}
    assert len(used) > 120


def test_target_cache_agrees_with_the_formulas():
    cache = TargetCache(128, 3)
    keys = [f"k{n}" for n in range(100)] * 2
    assert list(map(cache.__getitem__, keys)) == [subtask_of(key_group(key, 128), 128, 3) for key in keys]
    assert len(cache) == 100


@pytest.mark.parametrize("cache", [TargetCache(128, 2, limit=10), GroupCache(128, limit=10)])
def test_caches_stay_bounded(cache):
    for n in range(1000):
        cache[n]
        assert len(cache) <= 10


def test_unhashable_keys_raise_in_the_cache_and_work_wrapped():
    cache = TargetCache(128, 2)
    keys = [[1], "a", {"b": 2}]
    with pytest.raises(TypeError):
        list(map(cache.__getitem__, keys))
    wrapped = hashable_keys(keys)
    assert [unwrap_key(key) for key in wrapped] == keys
    assert list(map(cache.__getitem__, wrapped)) == [subtask_of(key_group(k, 128), 128, 2) for k in wrapped]


def test_hashable_keys_gives_the_same_list_back():
    keys = ["a", 1, (1, 2), None]
    assert hashable_keys(keys) is keys


@pytest.mark.parametrize(
    "make",
    [
        lambda: [1, 2],
        lambda: {"a": [1], "b": {2, 3}},
        lambda: {1, 2, 3},
        lambda: bytearray(b"xy"),
        lambda: (1, [2, {"c": 3}]),
        lambda: Point(1, ["a"]),
        list,
        dict,
    ],
)
def test_equal_values_give_equal_keys(make):
    one, two = OpaqueKey(make()), OpaqueKey(make())
    assert one == two
    assert hash(one) == hash(two)
    assert key_group(one, 128) == key_group(two, 128)
    assert {one: 1}[two] == 1
    again = pickle.loads(pickle.dumps(one))
    assert again == one
    assert again.value == make()


def test_dicts_and_sets_do_not_depend_on_order():
    one, two = OpaqueKey({"a": 1, "b": 2}), OpaqueKey({"b": 2, "a": 1})
    assert one == two
    assert key_group(one, 128) == key_group(two, 128)
    strings = [f"s{n}" for n in range(50)]
    one, two = OpaqueKey(set(strings)), OpaqueKey(set(reversed(strings)))
    assert one == two
    assert key_group(one, 128) == key_group(two, 128)


def test_different_values_give_different_keys():
    values = [[1], [2], [[1]], {"a": 1}, {1}, {2}, bytearray(b"a"), (1, [2]), [1, [2]], [], {}, set()]
    assert len({OpaqueKey(value) for value in values}) == len(values)
    assert OpaqueKey([1]) != [1]


def test_other_unhashable_objects_are_refused_by_name():
    with pytest.raises(TypeMismatchError, match="not hashable"):
        OpaqueKey(Unhashable())
