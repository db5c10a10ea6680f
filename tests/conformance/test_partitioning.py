"""How elements are spread over subtasks, and what keyed streams refuse."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from headrace.common import Types
from headrace.common.errors import InvalidProgramError, TypeMismatchError
from headrace.datastream import KeySelector, MapFunction, Partitioner


class Where(MapFunction):
    """Gives each element with the subtask that sees it."""

    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()

    def map(self, value):
        return self.subtask, value


def by_subtask(pairs):
    found = defaultdict(list)
    for subtask, value in pairs:
        found[subtask].append(value)
    return dict(found)


def test_rebalance_is_round_robin(make_env, collected):
    env = make_env(3)
    spread = by_subtask(collected(env.from_collection(range(30)).rebalance().map(Where())))
    assert {len(values) for values in spread.values()} == {10} and len(spread) == 3
    assert all(values == sorted(values) for values in spread.values())
    assert {values[1] - values[0] for values in spread.values()} == {3}


def test_broadcast_gives_everything_to_everyone(make_env, collected):
    spread = by_subtask(collected(make_env(3).from_collection([1, 2, 3]).broadcast().map(Where())))
    assert spread == {0: [1, 2, 3], 1: [1, 2, 3], 2: [1, 2, 3]}


def test_global_gives_everything_to_the_first(make_env, collected):
    env = make_env(2)
    numbers = env.from_collection(range(10)).rebalance().map(lambda n: n)
    assert set(by_subtask(collected(numbers.global_().map(Where())))) == {0}


def test_forward_keeps_the_subtask(make_env, collected):
    env = make_env(2)
    first = env.from_collection(range(10)).rebalance().map(Where())
    second = first.forward().map(Where()).disable_chaining()
    assert all(subtask == inner for subtask, (inner, _) in collected(second))


def test_shuffle_loses_nothing(make_env, collected):
    spread = by_subtask(collected(make_env(3).from_collection(range(300)).shuffle().map(Where())))
    assert Counter(v for values in spread.values() for v in values) == Counter(range(300))
    assert len(spread) == 3


@pytest.mark.parametrize(("upstream", "downstream"), [(2, 4), (4, 2), (2, 3)])
def test_rescale_stays_in_groups(make_env, collected, upstream, downstream):
    env = make_env(upstream)
    first = env.from_collection(range(60)).rebalance().map(Where()).set_parallelism(upstream)
    second = collected(first.rescale().map(Where()).set_parallelism(downstream))
    reached = defaultdict(set)
    for subtask, (before, _) in second:
        reached[before].add(subtask)
    groups = {
        (2, 4): {0: {0, 1}, 1: {2, 3}},
        (4, 2): {0: {0}, 1: {0}, 2: {1}, 3: {1}},
        (2, 3): {0: {0, 1}, 1: {2}},
    }
    assert dict(reached) == groups[upstream, downstream]


def test_keys_meet_in_one_subtask(make_env, collected):
    env = make_env(4)
    spread = collected(env.from_collection(range(100)).key_by(lambda n: n % 10).map(Where()))
    homes = defaultdict(set)
    for subtask, value in spread:
        homes[value % 10].add(subtask)
    assert all(len(subtasks) == 1 for subtasks in homes.values()) and len(homes) == 10


# ---------------------------------------------------------------------- custom

LETTERS = [("a", 0), ("b", 0), ("c", 1), ("d", 1), ("e", 2), ("f", 7), ("g", 7), ("h", 8), ("i", 8), ("j", 9)]
PAIR = Types.ROW([Types.STRING(), Types.INT()])


class Modulo(Partitioner):
    def open(self, runtime_context):
        self.opened = True

    def partition(self, key, num_partitions):
        assert self.opened
        return key % num_partitions


class Second(KeySelector):
    def open(self, runtime_context):
        self.position = 1

    def get_key(self, value):
        return value[self.position]


def modulo(key, num_partitions):
    assert num_partitions == 5
    return key % num_partitions


@pytest.mark.parametrize(
    ("partitioner", "selector"), [(modulo, lambda value: value[1]), (Modulo(), Second())], ids=["callables", "objects"]
)
def test_a_custom_partitioner_decides(both, collected, partitioner, selector):
    letters = both.from_collection(LETTERS, PAIR).map(lambda value: value, PAIR).set_parallelism(4)
    spread = collected(letters.partition_custom(partitioner, selector).map(Where()).set_parallelism(5))
    assert sorted((subtask, row[0]) for subtask, row in spread) == sorted((n % 5, letter) for letter, n in LETTERS)


def test_a_custom_partitioner_stays_in_its_bounds(both):
    both.from_collection([1]).partition_custom(lambda key, n: n, lambda value: value).map(lambda n: n).print()
    with pytest.raises(InvalidProgramError, match="a subtask that does not exist"):
        both.execute()


def test_partitioners_and_selectors_are_checked(env):
    numbers = env.from_collection([1])
    with pytest.raises(TypeMismatchError, match="Partitioner or a callable"):
        numbers.partition_custom("x", lambda n: n)
    with pytest.raises(TypeMismatchError, match="KeySelector or a callable"):
        numbers.partition_custom(lambda key, n: 0, None)
    with pytest.raises(TypeMismatchError, match="KeySelector or a callable"):
        numbers.key_by(None)


# ---------------------------------------------------------------------- what is fixed by key_by


@pytest.mark.parametrize("call", ["shuffle", "rebalance", "rescale", "forward", "global_", "broadcast"])
def test_a_keyed_stream_cannot_be_partitioned_again(env, call):
    keyed = env.from_collection([("ab", 1)]).key_by(lambda value: value[1])
    with pytest.raises(InvalidProgramError, match="Cannot override partitioning for KeyedStream"):
        getattr(keyed, call)()
    with pytest.raises(InvalidProgramError, match="Cannot override partitioning"):
        keyed.partition_custom(lambda key, n: 0, lambda value: value)


SETTINGS = {
    "name": ("keyed",),
    "get_name": (),
    "uid": ("u",),
    "set_uid_hash": ("0" * 32,),
    "set_parallelism": (2,),
    "set_max_parallelism": (2,),
    "force_non_parallel": (),
    "set_buffer_timeout": (1,),
    "start_new_chain": (),
    "disable_chaining": (),
    "slot_sharing_group": ("g",),
    "set_description": ("d",),
    "cache": (),
}


@pytest.mark.parametrize("call", SETTINGS)
def test_a_keyed_stream_has_no_settings(env, call):
    keyed = env.from_collection([1]).key_by(lambda n: n)
    with pytest.raises(InvalidProgramError, match="KeyedStream is not supported"):
        getattr(keyed, call)(*SETTINGS[call])


def test_forward_needs_equal_parallelism(env):
    env.from_collection([1]).rebalance().map(str).set_parallelism(2).forward().map(str).set_parallelism(3).print()
    with pytest.raises(InvalidProgramError, match="Forward partitioning does not allow change of parallelism"):
        env.execute()
