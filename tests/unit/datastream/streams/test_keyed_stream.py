"""KeyedStream and ConnectedStreams: keys, running aggregations, refusals."""

from __future__ import annotations

import pickle

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
    ProcessFunction,
    StreamExecutionEnvironment,
)
from headrace.datastream.field_aggregation import FieldAggregation
from headrace.datastream.key_selectors import key_function
from headrace.datastream.state import MapStateDescriptor, ValueStateDescriptor
from headrace.graph.partitioners import KeyGroup

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
NAMED = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)


def key_group(stream) -> KeyGroup:
    assert isinstance(stream.transformation.partitioner, KeyGroup)
    return stream.transformation.partitioner


class ByName(KeySelector):
    def get_key(self, value):
        return value[0]


def test_keys_by_function_selector_position_and_name(env):
    pairs, rows = env.from_collection([("a", 1)], PAIR), env.from_collection([("a", 1)], NAMED)
    assert key_group(pairs.key_by(lambda x: x[1])).selector(("a", 1)) == 1
    assert key_group(pairs.key_by(ByName())).selector(("a", 1)) == "a"
    assert key_group(pairs.key_by(1)).selector(("a", 1)) == 1
    assert key_group(rows.key_by("age")).selector(Row(name="a", age=7)) == 7
    untyped = env.from_collection([{"age": 7}])
    assert key_group(untyped.key_by("age")).selector({"age": 7}) == 7
    assert key_group(untyped.key_by("age")).selector(Row(name="a", age=7)) == 7


def test_key_types_come_from_the_stream_where_it_tells_them(env):
    pairs, rows = env.from_collection([("a", 1)], PAIR), env.from_collection([("a", 1)], NAMED)
    assert key_group(pairs.key_by(1)).key_type == Types.INT()
    assert key_group(rows.key_by("name")).key_type == Types.STRING()
    assert key_group(pairs.key_by(lambda x: x)).key_type is None
    assert key_group(pairs.key_by(lambda x: x[1], key_type=Types.LONG())).key_type == Types.LONG()


@pytest.mark.parametrize(("key", "message"), [(2, "field 2"), ("age", "no names"), (True, "KeySelector")])
def test_keys_that_are_not_there(env, key, message):
    with pytest.raises((InvalidProgramError, TypeMismatchError), match=message):
        env.from_collection([("a", 1)], PAIR).key_by(key)


def test_unknown_field_names_the_fields(env):
    with pytest.raises(InvalidProgramError, match="one of name, age"):
        env.from_collection([("a", 1)], NAMED).key_by("nme")


def test_key_functions_can_be_pickled():
    for given in (1, "age", ByName()):
        assert callable(pickle.loads(pickle.dumps(key_function(given, None))))


def test_key_by_again_starts_from_the_stream_before(env):
    first = env.from_collection([("a", 1)]).map(tuple).name("before").key_by(0)
    second = first.key_by(1)
    second.reduce(max).name("after")
    graph = env.get_stream_graph()
    (edge,) = [e for e in graph.edges if graph.nodes[e.target].name == "after"]
    assert graph.nodes[edge.source].name == "before" and edge.partitioner is key_group(second)


@pytest.mark.parametrize(
    "call", ["shuffle", "rebalance", "rescale", "forward", "global_", "broadcast", "partition_custom"]
)
def test_partitioning_after_key_by_is_refused(env, call):
    arguments = (len, len) if call == "partition_custom" else ()
    with pytest.raises(InvalidProgramError, match="Cannot override partitioning for KeyedStream"):
        getattr(env.from_collection([1]).key_by(lambda x: x), call)(*arguments)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("name", ("n",)),
        ("get_name", ()),
        ("uid", ("u",)),
        ("set_uid_hash", ("a" * 32,)),
        ("set_description", ("d",)),
        ("set_parallelism", (1,)),
        ("set_max_parallelism", (1,)),
        ("force_non_parallel", ()),
        ("set_buffer_timeout", (1,)),
        ("start_new_chain", ()),
        ("disable_chaining", ()),
        ("slot_sharing_group", ("g",)),
        ("cache", ()),
        ("get_side_output", (None,)),
    ],
)
def test_a_keyed_stream_has_no_settings(env, call, arguments):
    with pytest.raises(InvalidProgramError, match="KeyedStream is not supported"):
        getattr(env.from_collection([1]).key_by(lambda x: x), call)(*arguments)


def test_process_wants_a_keyed_function(env):
    class Plain(ProcessFunction):
        def process_element(self, value, ctx):
            yield value

    with pytest.raises(TypeError, match="KeyedProcessFunction is required for KeyedStream"):
        env.from_collection([1]).key_by(lambda x: x).process(Plain())


# ---------------------------------------------------------------------- running aggregations


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("SUM", ("a", 5, "x")),
        ("MIN", ("a", 2, "x")),
        ("MAX", ("a", 3, "x")),
        ("MIN_BY", ("b", 2, "y")),
        ("MAX_BY", ("a", 3, "x")),
    ],
)
def test_aggregations_of_tuples(kind, expected):
    assert FieldAggregation(kind, 1).reduce(("a", 3, "x"), ("b", 2, "y")) == expected


def test_equal_values_keep_the_first_element():
    for kind in ("MIN_BY", "MAX_BY"):
        assert FieldAggregation(kind, 1).reduce(("a", 1), ("b", 1)) == ("a", 1)


def test_aggregations_leave_what_was_emitted_alone():
    for first, second in (([1, 2], [3, 4]), (Row(1, 2), Row(3, 4)), ({1: 2}, {1: 4})):
        result = FieldAggregation("SUM", 1).reduce(first, second)
        assert result[1] == 6 and first[1] == 2


def test_aggregation_by_name_keeps_names_and_kind():
    result = FieldAggregation("SUM", "age").reduce(Row(name="a", age=1), Row(name="b", age=2))
    assert result == Row(name="a", age=3)


def test_aggregation_of_single_values():
    assert FieldAggregation("SUM", 0).reduce(1, 2) == 3
    assert FieldAggregation("MIN_BY", 0).reduce("b", "a") == "a"
    with pytest.raises(TypeError, match="only select the 0th field"):
        FieldAggregation("SUM", 1).reduce(1, 2)
    with pytest.raises(TypeError, match="no names"):
        FieldAggregation("SUM", "age").reduce((1,), (2,))


def test_a_used_aggregation_can_be_pickled():
    aggregation = FieldAggregation("SUM", 1)
    aggregation.reduce((1, 1), (1, 1))
    assert pickle.loads(pickle.dumps(aggregation)).reduce((1, 1), (1, 2)) == (1, 3)


@pytest.mark.parametrize("call", ["sum", "min", "max", "min_by", "max_by"])
def test_aggregation_calls(env, call):
    keyed = env.from_collection([("a", 1)], PAIR).key_by(0)
    assert getattr(keyed, call)(1).get_type() == PAIR
    assert getattr(keyed, call)().get_name() == "Reduce"
    with pytest.raises(TypeError, match="must be of int or str type"):
        getattr(keyed, call)(1.5)


# ---------------------------------------------------------------------- connected and broadcast streams


class Maps(CoMapFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return value


class FlatMaps(CoFlatMapFunction):
    def flat_map1(self, value):
        return [value]

    def flat_map2(self, value):
        return [value]


class Processes(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield value

    def process_element2(self, value, ctx):
        yield value


class KeyedProcesses(KeyedCoProcessFunction):
    def process_element1(self, value, ctx):
        yield value

    def process_element2(self, value, ctx):
        yield value


def test_connected_streams(env):
    both = env.from_collection([1]).connect(env.from_collection(["a"]))
    keyed = both.key_by(lambda x: x, lambda x: x, Types.STRING())
    assert both.map(Maps()).get_name() == "Co-Map"
    assert both.flat_map(FlatMaps(), Types.INT()).get_type() == Types.INT()
    assert both.process(Processes()).get_name() == "Co-Process"
    assert keyed.process(KeyedProcesses()).get_name() == "Keyed Co-Process"
    assert keyed.process(Processes()).transformation.spec.keyed
    graph = env.get_stream_graph()
    last = max(graph.nodes)
    assert [(e.input_number, e.partitioner.name) for e in graph.in_edges(last)] == [(0, "HASH"), (1, "HASH")]


def test_connected_streams_refuse_what_does_not_fit(env):
    one, two = env.from_collection([1]), env.from_collection([2])
    both = one.connect(two)
    with pytest.raises(TypeError, match="must be a CoMapFunction"):
        both.map(lambda x: x)
    with pytest.raises(TypeError, match="must be a CoFlatMapFunction"):
        both.flat_map(Maps())
    with pytest.raises(TypeError, match="CoProcessFunction or KeyedCoProcessFunction"):
        both.process(Maps())
    with pytest.raises(TypeError, match="two keyed streams"):
        both.process(KeyedProcesses())
    with pytest.raises(InvalidProgramError, match="only the first stream is keyed"):
        one.key_by(lambda x: x).connect(two).map(Maps())
    with pytest.raises(TypeMismatchError, match="connect takes a stream"):
        one.connect([2])


def test_connected_key_by_forgets_older_keys(env):
    one, two = env.from_collection([(1, 2)]), env.from_collection([(1, 2)])
    both = one.key_by(0).connect(two).key_by(lambda x: x[1], lambda x: x[1])
    assert key_group(both.stream1).selector((1, 2)) == 2


class Broadcast(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value

    def process_broadcast_element(self, value, ctx):
        pass


class KeyedBroadcast(KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value

    def process_broadcast_element(self, value, ctx):
        pass


def test_broadcast_state(env):
    descriptor = MapStateDescriptor("rules", Types.STRING(), Types.INT())
    rules = env.from_collection([1]).broadcast(descriptor)
    stream = env.from_collection([2])
    plain = stream.connect(rules).process(Broadcast(), Types.INT())
    keyed = stream.key_by(lambda x: x).connect(rules).process(KeyedBroadcast())
    assert (plain.get_name(), plain.get_type()) == ("Co-Process-Broadcast", Types.INT())
    assert keyed.get_name() == "Keyed-Co-Process-Broadcast" and keyed.transformation.spec.keyed
    assert plain.transformation.spec.descriptors == (descriptor,)
    graph = env.get_stream_graph()
    assert [e.partitioner.name for e in graph.in_edges(keyed.transformation_id)] == ["HASH", "BROADCAST"]


def test_broadcast_state_refuses_what_does_not_fit(env):
    stream = env.from_collection([2])
    rules = env.from_collection([1]).broadcast(MapStateDescriptor("rules", Types.STRING(), Types.INT()))
    with pytest.raises(TypeError, match="applied to non-keyed DataStream"):
        stream.key_by(lambda x: x).connect(rules).process(Broadcast())
    with pytest.raises(TypeError, match="applied to keyed DataStream"):
        stream.connect(rules).process(KeyedBroadcast())
    with pytest.raises(TypeError, match="must be MapStateDescriptor"):
        stream.broadcast(ValueStateDescriptor("v", Types.INT()))
