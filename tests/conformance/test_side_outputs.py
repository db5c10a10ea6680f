"""Side outputs of every process function: `yield tag, value` goes to `get_side_output(tag)`."""

from __future__ import annotations

import pytest

from headrace.common import Row, Types
from headrace.common.errors import InvalidProgramError, TypeMismatchError
from headrace.datastream import (
    BroadcastProcessFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
)
from headrace.datastream.state import MapStateDescriptor, ReducingStateDescriptor
from headrace.testing import CollectingSink

PAIR = Types.ROW([Types.STRING(), Types.INT()])
RIAP = Types.ROW([Types.INT(), Types.STRING()])
SIDE = OutputTag("side", Types.INT())


class Split(ProcessFunction):
    def process_element(self, value, ctx):
        yield value[0]
        yield SIDE, value[1]


def run(env, stream, *tags):
    """The sorted texts of a stream and of its side outputs."""
    sinks = [CollectingSink() for _ in (None, *tags)]
    stream.add_sink(sinks[0])
    for tag, sink in zip(tags, sinks[1:]):
        stream.get_side_output(tag).add_sink(sink)
    env.execute()
    return [sorted(sink.get_results()) for sink in sinks]


def letters(env):
    return env.from_collection([("a", 0), ("b", 1), ("c", 2)], PAIR)


def test_process(both):
    stream = letters(both).process(Split(), Types.STRING())
    assert run(both, stream, SIDE) == [["a", "b", "c"], ["0", "1", "2"]]


def test_after_a_chained_operator(both):
    stream = letters(both).map(lambda e: (e[0], e[1] + 1)).process(Split(), Types.STRING())
    assert run(both, stream, SIDE) == [["a", "b", "c"], ["1", "2", "3"]]


def test_several_tags(both):
    other = OutputTag("other", Types.STRING())

    class Three(ProcessFunction):
        def process_element(self, value, ctx):
            yield value[0]
            yield SIDE, value[1]
            yield other, value[0] + str(value[1])

    stream = letters(both).process(Three(), Types.STRING())
    assert run(both, stream, SIDE, other) == [["a", "b", "c"], ["0", "1", "2"], ["a0", "b1", "c2"]]


def test_co_process(both):
    class Both(CoProcessFunction):
        def process_element1(self, value, ctx):
            yield value[0]
            yield SIDE, value[1]

        def process_element2(self, value, ctx):
            yield value[1]
            yield SIDE, value[0]

    others = both.from_collection([(3, "c"), (1, "a"), (0, "d")], RIAP)
    stream = letters(both).connect(others).process(Both(), Types.STRING())
    assert run(both, stream, SIDE) == [["a", "a", "b", "c", "c", "d"], ["0", "0", "1", "1", "2", "3"]]


def test_broadcast_process(both):
    class Both(BroadcastProcessFunction):
        def process_element(self, value, ctx):
            yield value[0]
            yield SIDE, value[1]

        def process_broadcast_element(self, value, ctx):
            yield value[1]
            yield SIDE, value[0]

    rules = both.from_collection([(3, "d"), (4, "f")], RIAP)
    descriptor = MapStateDescriptor("dummy", Types.INT(), Types.STRING())
    stream = letters(both).connect(rules.broadcast(descriptor)).process(Both(), Types.STRING())
    assert run(both, stream, SIDE) == [
        ["a", "b", "c", "d", "d", "f", "f"],
        ["0", "1", "2", "3", "3", "4", "4"],
    ]


class Summing:
    def open(self, runtime_context):
        descriptor = ReducingStateDescriptor("sum", lambda i, j: i + j, Types.INT())
        self.sum = runtime_context.get_reducing_state(descriptor)


def pairs(env):
    return env.from_collection([("a", 1), ("b", 2), ("a", 3), ("b", 4)], PAIR)


def test_keyed_process(both):
    class Sums(Summing, KeyedProcessFunction):
        def process_element(self, value, ctx):
            yield value[1]
            self.sum.add(value[1])
            yield SIDE, self.sum.get()

    stream = pairs(both).key_by(lambda e: e[0]).process(Sums(), Types.INT())
    assert run(both, stream, SIDE) == [["1", "2", "3", "4"], ["1", "2", "4", "6"]]


def test_keyed_co_process(both):
    class Counts(Summing, KeyedCoProcessFunction):
        def process_element1(self, value, ctx):
            yield ctx.get_current_key(), value[1]
            self.sum.add(1)
            yield SIDE, self.sum.get()

        def process_element2(self, value, ctx):
            yield ctx.get_current_key(), value[0]
            self.sum.add(1)
            yield SIDE, self.sum.get()

    others = both.from_collection([(8, "a"), (7, "b"), (6, "a"), (5, "b")], RIAP)
    connected = pairs(both).key_by(lambda e: e[0]).connect(others.key_by(lambda e: e[1]))
    stream = connected.process(Counts(), Types.TUPLE([Types.STRING(), Types.INT()]))
    assert run(both, stream, SIDE) == [
        ["(a,1)", "(a,3)", "(a,6)", "(a,8)", "(b,2)", "(b,4)", "(b,5)", "(b,7)"],
        ["1", "1", "2", "2", "3", "3", "4", "4"],
    ]


def test_keyed_broadcast_process(both):
    class Sums(Summing, KeyedBroadcastProcessFunction):
        def process_element(self, value, ctx):
            self.sum.add(value[1])
            yield value[0]
            yield SIDE, self.sum.get()

        def process_broadcast_element(self, value, ctx):
            yield value[1]
            yield SIDE, value[0]

    elements = both.from_collection([("a", 0), ("b", 1), ("a", 2), ("b", 3)], PAIR)
    rules = both.from_collection([(5, "c"), (6, "d")], RIAP)
    descriptor = MapStateDescriptor("dummy", Types.INT(), Types.STRING())
    connected = elements.key_by(lambda e: e[0]).connect(rules.broadcast(descriptor))
    assert run(both, connected.process(Sums(), Types.STRING()), SIDE) == [
        ["a", "a", "b", "b", "c", "c", "d", "d"],
        ["0", "1", "2", "4", "5", "5", "6", "6"],
    ]


def test_from_a_timer(both, by_second_field):
    class OnTime(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + 5)

        def on_timer(self, timestamp, ctx):
            yield ctx.get_current_key()
            yield SIDE, timestamp

    stream = pairs(both).assign_timestamps_and_watermarks(by_second_field).key_by(lambda e: e[0])
    assert run(both, stream.process(OnTime(), Types.STRING()), SIDE) == [["a", "a", "b", "b"], ["6", "7", "8", "9"]]


class Doubles(ProcessFunction):
    def process_element(self, value, ctx):
        yield value
        yield SIDE, value * 2


def test_a_side_output_can_be_collected(both, collected):
    stream = both.from_collection([1, 2, 3], Types.INT()).process(Doubles())
    assert sorted(collected(stream.get_side_output(SIDE))) == [2, 4, 6]


def test_a_tag_can_be_used_by_several_operators(both):
    first, second = CollectingSink(), CollectingSink()
    stream = both.from_collection([1, 2, 3], Types.INT()).process(Doubles())
    stream.get_side_output(SIDE).add_sink(first)
    stream.map(lambda i: i * 2).process(Doubles()).get_side_output(SIDE).add_sink(second)
    both.execute()
    assert sorted(first.get_values()) == [2, 4, 6]
    assert sorted(second.get_values()) == [4, 8, 12]


def test_a_side_output_has_operators_of_its_own(both, collected):
    side = both.from_collection([1, 2, 3]).process(Doubles()).get_side_output(SIDE)
    assert side.get_type() == Types.INT()
    assert sorted(collected(side.name("doubled").key_by(lambda n: n % 4).sum())) in ([2, 4, 8], [4, 8])


def test_what_nobody_asked_for_is_dropped(both, collected):
    assert sorted(collected(both.from_collection([1, 2]).process(Doubles()))) == [1, 2]


def test_a_list_of_types_means_a_row(both):
    rows = OutputTag("rows", [Types.STRING(), Types.INT()])

    class Rows(ProcessFunction):
        def process_element(self, value, ctx):
            yield rows, Row("n", value)

    sink = CollectingSink()
    both.from_collection([1]).process(Rows()).get_side_output(rows).add_sink(sink)
    both.execute()
    assert rows.type_info == Types.ROW([Types.STRING(), Types.INT()])
    assert sink.get_results() == ["+I[n, 1]"]


def test_tags_are_checked(env):
    stream = env.from_collection([1]).process(Doubles())
    stream.get_side_output(SIDE)
    with pytest.raises(InvalidProgramError, match="already requested with a different type"):
        stream.get_side_output(OutputTag("side", Types.STRING()))
    with pytest.raises(TypeMismatchError):
        stream.get_side_output("side")
    with pytest.raises(ValueError, match="cannot be None or empty"):
        OutputTag("")
    with pytest.raises(TypeMismatchError):
        OutputTag("x", int)
    with pytest.raises(InvalidProgramError, match="side output of KeyedStream"):
        stream.key_by(lambda n: n).get_side_output(SIDE)
