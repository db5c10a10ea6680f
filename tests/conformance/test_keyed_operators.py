"""reduce, sum, min, max, min_by, max_by, and operators on keyed streams, in both modes; keys of every shape."""

from __future__ import annotations

import pytest

from headrace.common import Row, Types
from headrace.common.errors import TypeMismatchError
from headrace.datastream import FilterFunction, FlatMapFunction, KeySelector, MapFunction, ReduceFunction
from headrace.datastream.state import ValueStateDescriptor
from headrace.testing import CollectingSink

PAIR = Types.ROW([Types.STRING(), Types.INT()])
LETTERS = [("a", 0), ("b", 0), ("c", 1), ("d", 1), ("e", 2)]


class BySecond(KeySelector):
    def get_key(self, value):
        return value[1]


class CountingReduce(ReduceFunction):
    """Joins texts, and counts in keyed state how many elements have gone into each."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def reduce(self, value1, value2):
        count = (self.count.value() or 1) + 1
        joined = value1[0] + value2[0]
        assert count == len(joined)
        self.count.update(count)
        return Row(joined, value1[1])


def test_reduce_streaming_emits_every_step(env):
    sink = CollectingSink()
    letters = env.from_collection([("a", 0), ("c", 1), ("d", 1), ("b", 0), ("e", 1)], PAIR)
    letters.key_by(BySecond(), key_type=Types.INT()).reduce(CountingReduce()).add_sink(sink)
    env.execute()
    assert sorted(sink.get_results()) == ["+I[a, 0]", "+I[ab, 0]", "+I[c, 1]", "+I[cd, 1]", "+I[cde, 1]"]


def test_reduce_batch_emits_results(batch):
    sink = CollectingSink()
    letters = batch.from_collection([("a", 0), ("c", 1), ("d", 1), ("b", 0), ("e", 1)], PAIR)
    letters.key_by(BySecond(), key_type=Types.INT()).reduce(CountingReduce()).add_sink(sink)
    batch.execute()
    assert sorted(sink.get_results()) == ["+I[ab, 0]", "+I[cde, 1]"]


def sums(env):
    pairs = [(1, 1), (1, 2), (1, 3), (2, 5), (2, 1)]
    return (
        env.from_collection(pairs, Types.ROW_NAMED(["v1", "v2"], [Types.INT(), Types.INT()]))
        .key_by(lambda pair: pair[0])
        .sum("v2")
        .key_by(lambda pair: pair[0])
        .sum(1)
        .map(lambda pair: (pair[1], pair[0]), Types.TUPLE([Types.INT(), Types.INT()]))
        .key_by(lambda pair: pair[1])
        .sum()
    )


def test_sum_by_name_position_and_default(make_env, collected):
    assert collected(sums(make_env(1))) == [(1, 1), (5, 1), (15, 1), (5, 2), (16, 2)]


def test_sum_in_batch_mode(batch, collected):
    assert collected(sums(batch.set_parallelism(1))) == [(6, 1), (6, 2)]


def test_sum_of_rows_tuples_and_numbers_in_batch_mode(batch, collected):
    pairs = [(1, 1), (1, 2), (1, 3), (5, 1), (5, 5)]
    total = (
        batch.from_collection(pairs, Types.ROW_NAMED(["v1", "v2"], [Types.INT(), Types.INT()]))
        .key_by(lambda pair: pair[0])
        .sum("v2")
        .key_by(lambda pair: pair[1])
        .sum()
        .flat_map(lambda pair: [(12, field) for field in pair], Types.TUPLE([Types.INT(), Types.INT()]))
        .key_by(lambda pair: pair[0])
        .sum(1)
        .flat_map(lambda pair: pair, Types.INT())
        .key_by(lambda number: number)
        .sum()
    )
    assert sorted(collected(total)) == [24]


def test_min_by_max_min_and_max_by(make_env, collected):
    rows = [("a", 3, 0), ("a", 1, 1), ("b", 5, 0), ("b", 3, 1)]
    triple = [Types.STRING(), Types.INT(), Types.INT()]
    names = (
        make_env(1)
        .from_collection(rows, Types.ROW_NAMED(["v1", "v2", "v3"], triple))
        .key_by(lambda row: row[0])
        .min_by("v2")
        .map(lambda row: (row[0], row[1], row[2]), Types.TUPLE(triple))
        .key_by(lambda row: row[2])
        .max(1)
        .key_by(lambda row: row[2])
        .min()
        .map(lambda row: row[0], Types.STRING())
        .key_by(lambda name: name)
        .max_by()
    )
    assert collected(names) == ["a", "a", "a", "a"]


VALUES = [("a", 3, 0), ("a", 3, 1), ("a", 1, 2), ("a", 1, 3), ("a", 5, 4), ("a", 5, 5)]


@pytest.mark.parametrize(
    ("call", "steps"),
    [
        ("min_by", [(3, 0), (3, 0), (1, 2), (1, 2), (1, 2), (1, 2)]),
        ("max_by", [(3, 0), (3, 0), (3, 0), (3, 0), (5, 4), (5, 4)]),
        ("min", [(3, 0), (3, 0), (1, 0), (1, 0), (1, 0), (1, 0)]),
        ("max", [(3, 0), (3, 0), (3, 0), (3, 0), (5, 0), (5, 0)]),
        ("sum", [(3, 0), (6, 0), (7, 0), (8, 0), (13, 0), (18, 0)]),
    ],
)
def test_the_by_kinds_give_elements_and_the_others_change_one_field(make_env, collected, call, steps):
    keyed = make_env(1).from_collection(VALUES).key_by(lambda value: value[0])
    assert collected(getattr(keyed, call)(1)) == [("a", *step) for step in steps]


@pytest.mark.parametrize(("call", "final"), [("min_by", (1, 2)), ("max_by", (5, 4)), ("min", (1, 0)), ("sum", (18, 0))])
def test_aggregations_in_batch_mode_give_one_result_per_key(batch, collected, call, final):
    keyed = batch.from_collection(VALUES).key_by(lambda value: value[0])
    assert collected(getattr(keyed, call)(1)) == [("a", *final)]


def test_sum_adds_what_python_can_add(env, collected):
    keyed = env.from_collection([("a", "x"), ("a", "y"), ("b", 1.5), ("b", 2)]).key_by(lambda value: value[0])
    assert sorted(collected(keyed.sum(1)), key=str) == [("a", "x"), ("a", "xy"), ("b", 1.5), ("b", 3.5)]


@pytest.mark.parametrize("position", [None, 1.0, True, ["v"]], ids=str)
def test_positions_are_numbers_or_names(env, position):
    keyed = env.from_collection([("a", 1)]).key_by(lambda value: value[0])
    for call in (keyed.sum, keyed.min, keyed.max, keyed.min_by, keyed.max_by):
        with pytest.raises(TypeMismatchError, match="must be of int or str type"):
            call(position)


def test_a_single_value_has_only_the_field_zero(env, collected):
    with pytest.raises(TypeMismatchError, match="can only select"):
        collected(env.from_collection([1, 1]).key_by(lambda n: n).sum(1))


# ---------------------------------------------------------------------- keys


@pytest.mark.parametrize(
    "key",
    [
        lambda value: [1],
        lambda value: {"k": [1, 2]},
        lambda value: {1, 2},
        lambda value: (1, [2]),
        lambda value: None,
        lambda value: Row(1, "x"),
        lambda value: 1.5,
        lambda value: True,
        lambda value: b"bytes",
    ],
    ids=["list", "dict", "set", "nested", "None", "Row", "float", "bool", "bytes"],
)
def test_keys_of_any_shape(both, collected, key):
    results = collected(both.from_collection([("a", 1), ("b", 2)]).key_by(key).sum(1))
    assert results[-1] == ("a", 3)


def test_typed_keys(both, collected):
    key_type = Types.ROW([Types.STRING(), Types.INT()])
    keyed = both.from_collection([("a", 1), ("a", 2)]).key_by(lambda value: Row(value[0], 1), key_type)
    assert collected(keyed.sum(1))[-1] == ("a", 3)


def test_keys_by_position_and_name(both, collected):
    pairs = both.from_collection([("a", 1), ("a", 2)], Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()]))
    assert collected(pairs.key_by("k").sum("v"))[-1] == Row(k="a", v=3)
    assert collected(pairs.key_by(0).sum(1))[-1] == Row(k="a", v=3)


def test_a_second_key_by_replaces_the_first(both):
    sink = CollectingSink()
    letters = both.from_collection(LETTERS, PAIR)
    letters.key_by(BySecond(), key_type=Types.INT()).key_by(lambda letter: letter[0]).add_sink(sink)
    both.execute()
    assert sorted(sink.get_results()) == ["+I[a, 0]", "+I[b, 0]", "+I[c, 1]", "+I[d, 1]", "+I[e, 2]"]


def test_collecting_a_keyed_stream_gives_keys_and_elements(env, collected):
    words = [("pyflink", 1), ("datastream", 2), ("pyflink", 1), ("collect", 2)]
    stream = env.from_collection(words, Types.TUPLE([Types.STRING(), Types.INT()]))
    keyed = stream.key_by(lambda word: word[0], Types.STRING())
    assert collected(keyed) == [Row(f0=word[0], f1=word) for word in words]
    assert keyed.execute_and_collect(limit=1) == [Row(f0="pyflink", f1=("pyflink", 1))]


# ---------------------------------------------------------------------- functions with keyed state


class WithCount:
    """Counts the elements of each key."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))
        self.before = None

    def counted(self, value):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        return f"{value[0]}{count}"


class CountingMap(WithCount, MapFunction):
    def map(self, value):
        return self.counted(value)


class CountingFlatMap(WithCount, FlatMapFunction):
    def flat_map(self, value):
        yield self.counted(value)


class FirstOnly(WithCount, FilterFunction):
    def filter(self, value):
        return self.counted(value).endswith("1")


def keyed_letters(env):
    return env.from_collection(LETTERS, PAIR).key_by(BySecond(), key_type=Types.INT())


def test_map_with_state(both, collected):
    assert sorted(collected(keyed_letters(both).map(CountingMap()))) == ["a1", "b2", "c1", "d2", "e1"]


def test_flat_map_with_state(both, collected):
    assert sorted(collected(keyed_letters(both).flat_map(CountingFlatMap()))) == ["a1", "b2", "c1", "d2", "e1"]


def test_filter_with_state(both):
    sink = CollectingSink()
    keyed_letters(both).filter(FirstOnly()).filter(lambda letter: letter[1] > 0).add_sink(sink)
    both.execute()
    assert sorted(sink.get_results()) == ["+I[c, 1]", "+I[e, 2]"]


def test_elements_of_a_key_keep_their_order(make_env, collected):
    env = make_env(3)
    numbers = env.from_collection([(n % 5, n) for n in range(500)])
    lists = collected(
        numbers.key_by(lambda pair: pair[0])
        .map(lambda pair: (pair[0], [pair[1]]))
        .key_by(lambda pair: pair[0])
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
    longest = {key: values for key, values in sorted(lists, key=lambda pair: len(pair[1]))}
    assert longest == {key: list(range(key, 500, 5)) for key in range(5)}
