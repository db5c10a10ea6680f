"""Two streams in one operator: co-map, co-flat-map, co-process, keyed and not; broadcast state."""

from __future__ import annotations

from collections import defaultdict

import pytest

from headrace.common import Row, Types
from headrace.common.errors import InvalidProgramError, TypeMismatchError
from headrace.datastream import (
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeySelector,
)
from headrace.datastream.state import MapStateDescriptor, ValueStateDescriptor
from headrace.testing import CollectingSink

PAIR = Types.ROW([Types.STRING(), Types.INT()])


class PlusMinus(CoFlatMapFunction):
    def flat_map1(self, value):
        yield value + 1

    def flat_map2(self, value):
        yield value - 1


class TwoOne(CoMapFunction):
    def map1(self, value):
        return value + 2

    def map2(self, value):
        return value + 1


@pytest.mark.parametrize("output_type", [None, Types.INT()], ids=["untyped", "typed"])
def test_co_flat_map_and_co_map(both, collected, output_type):
    first = both.from_collection([1, 2, 3, 4, 5])
    second = first.map(lambda n: n * 2)
    results = first.connect(second).flat_map(PlusMinus(), output_type).connect(second).map(TwoOne(), output_type)
    assert sorted(collected(results)) == [3, 3, 4, 5, 5, 5, 6, 7, 7, 7, 8, 9, 9, 11, 11]


def test_co_map_drops_none(both, collected):
    class SomeNone(CoMapFunction):
        def map1(self, value):
            return None if value == 1 else value

        def map2(self, value):
            return None

    numbers = both.from_collection([1, 2, 3])
    assert sorted(collected(numbers.connect(numbers).map(SomeNone()))) == [2, 3]


class BySecond(KeySelector):
    def get_key(self, value):
        return value[1]


class Previous(CoMapFunction):
    """Gives each element with the one before it of the same key and stream."""

    def open(self, runtime_context):
        self.first = runtime_context.get_state(ValueStateDescriptor("first", Types.STRING()))
        self.second = runtime_context.get_state(ValueStateDescriptor("second", Types.STRING()))

    def map1(self, value):
        return 1, self.after(self.first, value[0])

    def map2(self, value):
        return 2, self.after(self.second, value[0])

    def after(self, state, value):
        before = state.value()
        state.update(value)
        return f"{before}{value}"


def test_keyed_co_map(both, collected):
    letters = [("a", 0), ("b", 0), ("c", 1), ("d", 1), ("e", 2)]
    first = both.from_collection(letters, PAIR).key_by(BySecond(), key_type=Types.INT())
    second = both.from_collection(letters, PAIR)
    connected = first.connect(second).key_by(BySecond(), BySecond(), key_type=Types.INT())
    expected = ["Nonea", "Nonec", "Nonee", "ab", "cd"]
    assert sorted(collected(connected.map(Previous()))) == [(n, text) for n in (1, 2) for text in expected]


def test_keyed_co_flat_map(both):
    class OncePerKey(CoFlatMapFunction):
        def open(self, runtime_context):
            self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.STRING(), Types.BOOLEAN()))

        def flat_map1(self, value):
            yield str(value[0] + 1)
            yield str(value[0] + 1)

        def flat_map2(self, value):
            if value[0] not in self.seen:
                self.seen[value[0]] = True
                yield value[0]

    numbers = both.from_collection([(1, 1), (2, 2), (3, 3)], Types.ROW([Types.INT(), Types.INT()]))
    texts = both.from_collection([(c, c) for c in "abca"], Types.ROW([Types.STRING(), Types.STRING()]))
    sink = CollectingSink()
    connected = numbers.connect(texts).key_by(lambda value: 1, lambda value: 1)
    connected.flat_map(OncePerKey(), Types.STRING()).filter(lambda text: text != "4").add_sink(sink)
    both.execute()
    assert sorted(sink.get_results()) == ["2", "2", "3", "3", "a", "b", "c"]


def test_co_process_sees_both(both, collected):
    class Tagged(CoProcessFunction):
        def process_element1(self, value, ctx):
            yield 1, value, ctx.timestamp() == -(2**63)

        def process_element2(self, value, ctx):
            return [(2, value, ctx.timer_service().current_watermark() == -(2**63))]

    numbers = both.from_collection([1]).connect(both.from_collection(["a"]))
    assert sorted(collected(numbers.process(Tagged())), key=str) == [(1, 1, True), (2, "a", True)]


class SharedCount(KeyedCoProcessFunction):
    """Counts the elements of a key in both streams; registers one timer."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))
        self.registered = False

    def process_element1(self, value, ctx):
        if not self.registered:
            ctx.timer_service().register_event_time_timer(3)
            self.registered = True
        return self.counted(value)

    def process_element2(self, value, ctx):
        return self.counted(value)

    def counted(self, value):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        return [Row(value[0], count)]

    def on_timer(self, timestamp, ctx):
        return [Row("on_timer", timestamp)]


def test_keyed_co_process_shares_state_and_has_timers(both, by_second_field):
    both.set_parallelism(1)
    first = both.from_collection([("a", 1), ("b", 2), ("c", 3)], PAIR)
    second = both.from_collection([("b", 2), ("c", 3), ("d", 4)], PAIR)
    streams = [s.assign_timestamps_and_watermarks(by_second_field) for s in (first, second)]
    sink = CollectingSink()
    connected = streams[0].connect(streams[1]).key_by(lambda v: v[0], lambda v: v[0])
    connected.process(SharedCount()).map(lambda row: Row(row[0], row[1] + 1)).add_sink(sink)
    both.execute()
    assert sorted(sink.get_results(True)) == [
        "<Row('a', 2)>",
        "<Row('b', 2)>",
        "<Row('b', 3)>",
        "<Row('c', 2)>",
        "<Row('c', 3)>",
        "<Row('d', 2)>",
        "<Row('on_timer', 4)>",
    ]


def test_streams_keyed_before_they_are_connected(both, collected):
    first = both.from_collection([("a", 1)]).key_by(lambda v: v[0])
    second = both.from_collection([(1, "a")]).key_by(lambda v: v[1])

    class Count(KeyedCoProcessFunction):
        def open(self, runtime_context):
            self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

        def process_element1(self, value, ctx):
            self.count.update((self.count.value() or 0) + 1)
            yield ctx.get_current_key(), self.count.value()

        process_element2 = process_element1

    assert sorted(collected(first.connect(second).process(Count()))) == [("a", 1), ("a", 2)]


def test_both_streams_are_keyed_or_none(env):
    keyed, plain = env.from_collection([1]).key_by(lambda n: n), env.from_collection([1])
    with pytest.raises(InvalidProgramError, match="must both be keyed, or neither"):
        keyed.connect(plain).map(TwoOne())
    with pytest.raises(TypeMismatchError, match="needs two keyed streams"):
        plain.connect(plain).process(SharedCount())
    with pytest.raises(TypeMismatchError, match="must be a CoMapFunction"):
        plain.connect(plain).map(lambda n: n)
    with pytest.raises(TypeMismatchError, match="must be a CoFlatMapFunction"):
        plain.connect(plain).flat_map(TwoOne())
    with pytest.raises(TypeMismatchError, match="must be a CoProcessFunction"):
        plain.connect(plain).process(PlusMinus())


# ---------------------------------------------------------------------- broadcast state

NAMES = MapStateDescriptor("names", Types.INT(), Types.STRING())


class Named(BroadcastProcessFunction):
    """Elements wait until the name for their remainder is known."""

    def __init__(self):
        self.waiting = defaultdict(list)

    def process_element(self, value, ctx):
        names = ctx.get_broadcast_state(NAMES)
        if names.contains(value % 2):
            yield names.get(value % 2) + str(value)
        else:
            self.waiting[value % 2].append(value)

    def process_broadcast_element(self, value, ctx):
        number, name = value
        yield f"{number}{name}"
        ctx.get_broadcast_state(NAMES).put(number, name)
        for waiting in self.waiting.pop(number, []):
            yield name + str(waiting)


def test_broadcast_elements_reach_every_subtask(both):
    numbers = both.from_collection([1, 2, 3, 4, 5], Types.INT())
    names = both.from_collection([(0, "a"), (1, "b")], Types.TUPLE([Types.INT(), Types.STRING()]))
    sink = CollectingSink()
    numbers.connect(names.broadcast(NAMES)).process(Named(), Types.STRING()).add_sink(sink)
    both.execute()
    assert sorted(sink.get_results()) == ["0a", "0a", "1b", "1b", "a2", "a4", "b1", "b3", "b5"]


class KeyedNamed(KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 100)
        yield f"element {value[0]} of {ctx.get_current_key()} at {ctx.timestamp()}"

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(NAMES).put(value[1], value[0])
        yield f"name {value[0]} at {ctx.timestamp()}"

    def on_timer(self, timestamp, ctx):
        names = sorted(ctx.get_broadcast_state(NAMES).items())
        yield f"timer of {ctx.get_current_key()} at {timestamp}: {names}"


def test_keyed_broadcast_with_timers(both, by_second_field):
    elements = both.from_collection([("a", 1), ("b", 2)], PAIR).assign_timestamps_and_watermarks(by_second_field)
    names = both.from_collection([("x", 50)], PAIR).assign_timestamps_and_watermarks(by_second_field)
    sink = CollectingSink()
    keyed = elements.key_by(lambda value: value[0])
    keyed.connect(names.broadcast(NAMES)).process(KeyedNamed(), Types.STRING()).add_sink(sink)
    both.execute()
    assert sorted(sink.get_results()) == [
        "element a of a at 1",
        "element b of b at 2",
        "name x at 50",
        "name x at 50",
        "timer of a at 101: [(50, 'x')]",
        "timer of b at 102: [(50, 'x')]",
    ]


def test_the_state_that_elements_see_is_read_only(both):
    class Writes(Named):
        def process_element(self, value, ctx):
            ctx.get_broadcast_state(NAMES).put(1, "x")
            yield value

    numbers = both.from_collection([1])
    numbers.connect(both.from_collection([(0, "a")]).broadcast(NAMES)).process(Writes()).print()
    with pytest.raises(Exception, match="put"):
        both.execute()


def test_only_declared_broadcast_states_can_be_had(both):
    class Other(Named):
        def process_broadcast_element(self, value, ctx):
            ctx.get_broadcast_state(MapStateDescriptor("other", Types.INT(), Types.INT()))

    numbers = both.from_collection([1])
    numbers.connect(both.from_collection([(0, "a")]).broadcast(NAMES)).process(Other()).print()
    with pytest.raises(InvalidProgramError, match="'other' does not exist in the broadcast state"):
        both.execute()


def test_functions_fit_their_streams(env):
    plain, rules = env.from_collection([1]), env.from_collection([2]).broadcast(NAMES)
    with pytest.raises(TypeMismatchError, match="should be applied to non-keyed DataStream"):
        plain.key_by(lambda n: n).connect(rules).process(Named())
    with pytest.raises(TypeMismatchError, match="should be applied to keyed DataStream"):
        plain.connect(rules).process(KeyedNamed())
    with pytest.raises(TypeMismatchError, match="must be a BroadcastProcessFunction"):
        plain.connect(rules).process(PlusMinus())
    with pytest.raises(TypeMismatchError, match="must be MapStateDescriptor"):
        plain.broadcast(ValueStateDescriptor("v", Types.INT()))
