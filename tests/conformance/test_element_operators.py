"""map, flat_map, filter, process, project and union: what comes out, whatever the functions look like."""

from __future__ import annotations

import types
from decimal import Decimal

import pytest

from headrace.common import Row, Types
from headrace.common.errors import UserCodeError
from headrace.datastream import (
    AggregateFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    ProcessFunction,
    ReduceFunction,
)
from headrace.testing import CollectingSink

TRIPLE = [Types.STRING(), Types.INT(), Types.BIG_DEC()]


class Longer(MapFunction):
    def map(self, value):
        return Row(value[0], value[1] + 1, value[2])


class OnlyEven(FlatMapFunction):
    def flat_map(self, value):
        if value[1] % 2 == 0:
            yield value


class MoreThanTwo(FilterFunction):
    def filter(self, value):
        return value[1] > 2


def words(env):
    return env.from_collection(
        [("ab", Row("a", Decimal(1))), ("cfgs", Row("c", Decimal(3))), ("deeefg", Row("d", Decimal(4)))],
        Types.TUPLE([Types.STRING(), Types.ROW([Types.STRING(), Types.BIG_DEC()])]),
    )


def test_function_objects_with_types(both):
    sink = CollectingSink()
    (
        words(both)
        .map(lambda word: (word[0], len(word[0]), word[1][1]), Types.TUPLE(TRIPLE))
        .flat_map(OnlyEven(), Types.TUPLE(TRIPLE))
        .filter(MoreThanTwo())
        .map(Longer(), Types.ROW(TRIPLE))
        .add_sink(sink)
    )
    both.execute("typed")
    assert sorted(sink.get_results()) == ["+I[cfgs, 5, 3]", "+I[deeefg, 7, 4]"]


class Length(MapFunction[str, int]):
    def map(self, value):
        return len(value)


class ByParity(KeySelector[int, int]):
    def get_key(self, value):
        return value % 2


class Larger(ReduceFunction[int]):
    def reduce(self, value1, value2):
        return max(value1, value2)


def test_functions_may_name_the_types_of_their_values(both, collected):
    lengths = both.from_collection(["a", "bb", "ccc", "dddd"]).map(Length(), Types.INT())
    assert {3, 4} <= set(collected(lengths.key_by(ByParity()).reduce(Larger())))


@pytest.mark.parametrize(
    "kind",
    [
        AggregateFunction, CoFlatMapFunction, CoMapFunction, CoProcessFunction, FilterFunction, FlatMapFunction,
        KeyedCoProcessFunction, KeyedProcessFunction, ProcessFunction,
    ],
)  # fmt: skip
def test_every_kind_of_function_takes_types(kind):
    own = types.new_class("Own", (kind[int, str],))
    assert issubclass(own, kind)


def test_plain_callables_without_types(both):
    def even(value):
        if value[1] % 2 == 0:
            yield value

    sink = CollectingSink()
    (
        words(both)
        .map(lambda word: (word[0], len(word[0]), word[1][1]))
        .flat_map(even)
        .filter(lambda value: value[1] > 2)
        .map(lambda value: Row(value[0], value[1] + 1, value[2]))
        .add_sink(sink)
    )
    both.execute()
    assert sorted(sink.get_results(True)) == ["<Row('cfgs', 5, Decimal('3'))>", "<Row('deeefg', 7, Decimal('4'))>"]


@pytest.mark.parametrize(
    "function",
    [
        lambda n: [n, n * 10],
        lambda n: (n, n * 10),
        lambda n: iter((n, n * 10)),
        lambda n: {n: "", n * 10: ""},
        lambda n: (m for m in (n, n * 10)),
    ],
    ids=["list", "tuple", "iterator", "dict", "generator"],
)
def test_flat_map_takes_any_iterable(both, collected, function):
    assert sorted(collected(both.from_collection([1, 2]).flat_map(function))) == [1, 2, 10, 20]


@pytest.mark.parametrize("nothing", [None, [], (), {}, "", 0, 0.0, False], ids=repr)
def test_process_gives_nothing_for_what_is_false(both, collected, nothing):
    class Quiet(ProcessFunction):
        def process_element(self, value, ctx):
            return nothing if value else ["none"]

    assert collected(both.from_collection([1, 0, 2]).process(Quiet())) == ["none"]


@pytest.mark.parametrize("result", [5, True, object()], ids=["int", "bool", "object"])
def test_process_refuses_what_is_no_collection(env, collected, result):
    class Wrong(ProcessFunction):
        def process_element(self, value, ctx):
            return result

    with pytest.raises(UserCodeError, match="is not iterable"):
        collected(env.from_collection([1]).process(Wrong()))


def test_flat_map_of_texts_gives_their_characters(env, collected):
    assert sorted(collected(env.from_collection(["ab"]).flat_map(lambda text: text))) == ["a", "b"]


def test_flat_map_may_give_nothing(both, collected):
    assert collected(both.from_collection([1, 2]).flat_map(lambda n: [])) == []


def test_a_filter_asks_for_truth_not_for_true(env, collected):
    kept = env.from_collection([0, 1, "", "a", [], [0], None]).filter(lambda value: value)
    assert sorted(collected(kept), key=str) == [1, [0], "a"]


def test_objects_of_local_classes_pass(both, collected):
    class Item:
        def __init__(self, name, count):
            self.name, self.count = name, count

    items = both.from_collection([("a", 0), ("b", 1), ("c", 2)], Types.ROW([Types.STRING(), Types.INT()]))
    names = items.map(lambda row: Item(row[0], row[1])).flat_map(lambda item: [item.name] * item.count)
    assert sorted(collected(names)) == ["b", "c", "c"]


def test_process_sees_timestamps(make_env, by_second_field):
    env = make_env(1)

    class Show(ProcessFunction):
        def process_element(self, value, ctx):
            yield f"current timestamp: {ctx.timestamp()}, current value: {value}"

    sink = CollectingSink()
    times = [1603708211000, 1603708224000]
    source = env.from_collection([(i, str(t)) for i, t in enumerate(times)], Types.ROW([Types.INT(), Types.STRING()]))
    source.assign_timestamps_and_watermarks(by_second_field).process(Show(), Types.STRING()).add_sink(sink)
    env.execute()
    assert sink.get_results() == [
        f"current timestamp: {t}, current value: Row(f0={i}, f1='{t}')" for i, t in enumerate(times)
    ]


def test_process_without_event_time(both, collected):
    class Show(ProcessFunction):
        def process_element(self, value, ctx):
            timers = ctx.timer_service()
            yield ctx.timestamp(), timers.current_watermark(), timers.current_processing_time() > 0

    never = -(2**63)
    assert collected(both.from_collection([1]).process(Show())) == [(never, never, True)]


def test_process_may_return_a_list_or_nothing(both, collected):
    class Twice(ProcessFunction):
        def process_element(self, value, ctx):
            return [value, value] if value > 1 else None

    assert sorted(collected(both.from_collection([1, 2]).process(Twice()))) == [2, 2]


def test_project(both, collected):
    numbers = both.from_collection([[1, 2, 3, 4], [5, 6, 7, 8]], Types.TUPLE([Types.INT()] * 4))
    assert sorted(collected(numbers.project(1, 3).map(lambda pair: (pair[0], pair[1] + 1)))) == [(2, 5), (6, 9)]


def test_union(both, collected):
    parts = [both.from_collection(part) for part in ([1, 2, 3], [4, 5, 6], [7, 8, 9])]
    united = parts[2].union(parts[0], parts[1]).map(lambda n: n + 1)
    assert sorted(collected(united)) == list(range(2, 11))


def test_union_with_itself_doubles(both, collected):
    numbers = both.from_collection([1, 2])
    assert sorted(collected(numbers.union(numbers))) == [1, 1, 2, 2]


def test_union_of_keyed_streams(both, collected):
    a, b = both.from_collection([1, 2]), both.from_collection([3])
    assert sorted(collected(a.key_by(lambda n: n).union(b.key_by(lambda n: n)))) == [1, 2, 3]


def test_one_stream_feeds_several(both):
    doubled, texts = CollectingSink(), CollectingSink()
    numbers = both.from_collection([1, 2, 3])
    numbers.map(lambda n: n * 2).add_sink(doubled)
    numbers.map(str).add_sink(texts)
    both.execute()
    assert sorted(doubled.get_values()) == [2, 4, 6]
    assert sorted(texts.get_values()) == ["1", "2", "3"]


def test_the_users_error_is_in_what_execute_raises(both):
    def broken(value):
        raise ValueError("flat_map_func error")
        yield value

    both.from_collection([("a", 0)]).key_by(lambda value: value[1]).flat_map(broken).print()
    with pytest.raises(UserCodeError, match="flat_map_func error"):
        both.execute("with error")


def test_the_error_of_a_collected_stream_is_raised_by_its_iterator(env):
    results = env.from_collection([1, 0]).map(lambda n: 1 / n).execute_and_collect()
    with pytest.raises(UserCodeError, match="ZeroDivisionError"):
        list(results)
