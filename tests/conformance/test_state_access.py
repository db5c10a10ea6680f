"""Keyed state of every kind in functions, with and without a time to live."""

from __future__ import annotations

import pytest

from headrace.common import Time, Types
from headrace.common.errors import InvalidProgramError, StateError
from headrace.datastream import AggregateFunction, KeyedProcessFunction, MapFunction, ReduceFunction
from headrace.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from headrace.testing import CollectingSink

GREETINGS = [(1, "hi"), (2, "hello"), (3, "hi"), (4, "hello"), (5, "hi"), (6, "hello")]
PAIR = [Types.INT(), Types.STRING()]


class Total(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


def for_one_second():
    return (
        StateTtlConfig.new_builder(Time.seconds(1))
        .set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)
        .set_state_visibility(StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp)
        .disable_cleanup_in_background()
        .build()
    )


def keyed(env):
    return env.from_collection(GREETINGS, Types.TUPLE(PAIR)).key_by(lambda pair: pair[1], key_type=Types.STRING())


class Before(KeyedProcessFunction):
    """Says what the states held before each element."""

    def open(self, runtime_context):
        self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.INT()))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.INT()))
        descriptor = MapStateDescriptor("map", Types.INT(), Types.STRING())
        descriptor.enable_time_to_live(for_one_second())
        self.map = runtime_context.get_map_state(descriptor)

    def process_element(self, value, ctx):
        entries = ", ".join(f"{k}: {v}" for k, v in sorted(self.map.items()))
        yield f"{ctx.get_current_key()} {self.value.value()} {list(self.list.get())} {{{entries}}}"
        self.value.update(value[0])
        self.list.add(value[0])
        self.map.put(value[0], value[1])


def test_value_list_and_map(both, collected):
    assert sorted(collected(keyed(both).process(Before(), Types.STRING()))) == [
        "hello 2 [2] {2: hello}",
        "hello 4 [2, 4] {2: hello, 4: hello}",
        "hello None [] {}",
        "hi 1 [1] {1: hi}",
        "hi 3 [1, 3] {1: hi, 3: hi}",
        "hi None [] {}",
    ]


class Reduced(KeyedProcessFunction):
    def __init__(self, function):
        self.function = function

    def open(self, runtime_context):
        descriptor = ReducingStateDescriptor("sum", self.function, Types.INT())
        self.sum = runtime_context.get_reducing_state(descriptor)

    def process_element(self, value, ctx):
        self.sum.add(value[0])
        yield self.sum.get(), value[1]


class Add(ReduceFunction):
    def reduce(self, value1, value2):
        return value1 + value2


RUNNING = ["(1,hi)", "(12,hello)", "(2,hello)", "(4,hi)", "(6,hello)", "(9,hi)"]


@pytest.mark.parametrize("function", [Add(), lambda a, b: a + b], ids=["object", "callable"])
def test_reducing(both, function):
    sink = CollectingSink()
    keyed(both).process(Reduced(function), Types.TUPLE(PAIR)).add_sink(sink)
    both.execute()
    assert sorted(sink.get_results()) == RUNNING


@pytest.mark.parametrize("with_ttl", [False, True])
def test_aggregating(both, with_ttl):
    class Aggregated(KeyedProcessFunction):
        def open(self, runtime_context):
            descriptor = AggregatingStateDescriptor("sum", Total(), Types.INT())
            if with_ttl:
                descriptor.enable_time_to_live(for_one_second())
            self.sum = runtime_context.get_aggregating_state(descriptor)

        def process_element(self, value, ctx):
            self.sum.add(value[0])
            yield self.sum.get(), value[1]

    sink = CollectingSink()
    keyed(both).process(Aggregated(), Types.TUPLE(PAIR)).add_sink(sink)
    both.execute()
    assert sorted(sink.get_results()) == RUNNING


def test_map_state_reads_like_a_dict(both, collected):
    class Dict(KeyedProcessFunction):
        def open(self, runtime_context):
            self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.INT(), Types.INT()))

        def process_element(self, value, ctx):
            seen = [self.map.is_empty(), value[0] in self.map, self.map.contains(value[0]), self.map.get(99)]
            self.map[value[0]] = 1
            self.map.put_all({value[0] + 1: 3})
            self.map.put_all([(value[0] + 1, 2)])
            seen += [self.map[value[0]], len(list(self.map.keys())), sorted(self.map.values())]
            del self.map[value[0]]
            self.map.remove(-1)
            seen.append(sorted(self.map))
            self.map.clear()
            yield (*seen, self.map.is_empty())

    one = both.from_collection([(1, "k")]).key_by(lambda pair: pair[1]).process(Dict())
    assert collected(one) == [(True, False, False, None, 1, 2, [1, 2], [2], True)]


def test_clear_and_overwrite(both, collected):
    class Cleared(KeyedProcessFunction):
        def open(self, runtime_context):
            self.value = runtime_context.get_state(ValueStateDescriptor("v", Types.INT()))
            self.list = runtime_context.get_list_state(ListStateDescriptor("l", Types.INT()))

        def process_element(self, value, ctx):
            self.value.update(1)
            self.value.clear()
            self.list.update([1, 2])
            self.list.add_all([3])
            kept = list(self.list.get())
            self.list.update([9])
            yield self.value.value(), kept, list(self.list.get())
            self.list.clear()
            yield None, [], list(self.list.get())

    one = both.from_collection([1]).key_by(lambda n: n).process(Cleared())
    assert collected(one) == [(None, [1, 2, 3], [9]), (None, [], [])]


def test_the_same_name_means_the_same_state(both, collected):
    class Twice(KeyedProcessFunction):
        def open(self, runtime_context):
            self.a = runtime_context.get_state(ValueStateDescriptor("n", Types.INT()))
            self.b = runtime_context.get_state(ValueStateDescriptor("n", Types.INT()))

        def process_element(self, value, ctx):
            self.a.update(value)
            yield self.b.value()

    assert collected(both.from_collection([7]).key_by(lambda n: n).process(Twice())) == [7]


def test_operators_do_not_see_the_states_of_others(both, collected):
    class Count(MapFunction):
        def open(self, runtime_context):
            self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

        def map(self, value):
            self.count.update((self.count.value() or 0) + 1)
            return value[0], value[1] + self.count.value()

    twice = keyed(both).map(lambda p: (p[1], 0)).key_by(lambda p: p[0]).map(Count()).key_by(lambda p: p[0]).map(Count())
    assert sorted(collected(twice)) == sorted((word, 2 * n) for word in ("hi", "hello") for n in (1, 2, 3))


class Stateful(MapFunction):
    def open(self, runtime_context):
        self.state = runtime_context.get_state(ValueStateDescriptor("v", Types.INT()))

    def map(self, value):
        return value


def test_state_needs_a_keyed_stream(both):
    both.from_collection([1]).map(Stateful()).print()
    with pytest.raises(InvalidProgramError, match="only accessible by functions executed on a KeyedStream"):
        both.execute()


def test_an_operator_after_a_keyed_one_is_not_keyed(both):
    both.from_collection([1]).key_by(lambda n: n).map(lambda n: n).map(Stateful()).print()
    with pytest.raises(InvalidProgramError, match="KeyedStream"):
        both.execute()


def test_a_union_of_keyed_streams_is_not_keyed(both):
    a, b = (both.from_collection([n]).key_by(lambda x: x) for n in (1, 2))
    a.union(b).map(Stateful()).print()
    with pytest.raises(InvalidProgramError, match="KeyedStream"):
        both.execute()


def test_state_cannot_be_used_in_open(both):
    class Early(KeyedProcessFunction):
        def open(self, runtime_context):
            runtime_context.get_state(ValueStateDescriptor("v", Types.INT())).value()

        def process_element(self, value, ctx):
            yield value

    both.from_collection([1]).key_by(lambda n: n).process(Early()).print()
    with pytest.raises(StateError, match="while a record or timer of a key is processed"):
        both.execute()


def test_one_name_cannot_mean_two_kinds(both):
    class Confused(KeyedProcessFunction):
        def open(self, runtime_context):
            runtime_context.get_state(ValueStateDescriptor("s", Types.INT()))
            runtime_context.get_list_state(ListStateDescriptor("s", Types.INT()))

        def process_element(self, value, ctx):
            yield value

    both.from_collection([1]).key_by(lambda n: n).process(Confused()).print()
    with pytest.raises(StateError, match="cannot be used as a ListState"):
        both.execute()
