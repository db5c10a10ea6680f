"""DataStream: names, types and refusals, looked at in the graph that the calls build."""

from __future__ import annotations

import pytest

from headrace.common import Row, Types, WatermarkStrategy
from headrace.common.errors import InvalidProgramError, TypeMismatchError
from headrace.datastream import (
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    Partitioner,
    ProcessFunction,
    SinkFunction,
    SlotSharingGroup,
    StreamExecutionEnvironment,
)
from headrace.graph.partitioners import Custom
from headrace.graph.specs import FunctionSink, Map, PrintSink

pytestmark = pytest.mark.filterwarnings("ignore::headrace.compatibility.ignored_settings.WithoutEffectWarning")


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)


def edges(env):
    graph = env.get_stream_graph()
    return {(graph.nodes[e.source].name, graph.nodes[e.target].name): e.partitioner.name for e in graph.edges}


class Identity(ProcessFunction):
    def process_element(self, value, ctx):
        yield value


class Keyed(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value


class ToMap(MapFunction):
    def map(self, value):
        return value


class Sink(SinkFunction):
    def invoke(self, value, context):
        pass


def test_names_are_those_of_pyflink(env):
    stream = env.from_collection([1])
    assert stream.get_name() == "Collection Source"
    assert stream.map(str).get_name() == "Map"
    assert stream.flat_map(str).get_name() == "FlatMap"
    assert stream.filter(bool).get_name() == "Filter"
    assert stream.process(Identity()).get_name() == "PROCESS"
    assert stream.key_by(lambda x: x).process(Keyed()).get_name() == "KEYED PROCESS"
    assert stream.key_by(lambda x: x).reduce(max).get_name() == "Reduce"
    assert stream.print().get_name() == "Print to Std. Out"
    assert stream.add_sink(Sink()).get_name() == "Unnamed"


def test_sources_and_sinks_keep_their_prefix_in_the_graph(env):
    env.from_collection([1]).name("numbers").add_sink(Sink()).name("nowhere")
    assert [n.name for n in env.get_stream_graph().nodes.values()] == ["Source: numbers", "Sink: nowhere"]


def test_types(env):
    typed = env.from_collection([(1, "a")], Types.TUPLE([Types.INT(), Types.STRING()]))
    assert typed.filter(bool).get_type() == typed.get_type()
    assert typed.map(str).get_type() == Types.PICKLED_BYTE_ARRAY()
    assert typed.map(str, Types.STRING()).get_type() == Types.STRING()
    assert typed.map(str, [Types.INT(), Types.STRING()]).get_type() == Types.ROW([Types.INT(), Types.STRING()])
    assert typed.key_by(lambda x: x[0]).reduce(max).get_type() == typed.get_type()
    assert typed.rebalance().get_type() == typed.get_type()
    with pytest.raises(TypeMismatchError, match="call it"):
        typed.map(str, Types.STRING)


def test_sinks_know_the_type_of_the_stream(env):
    stream = env.from_collection([1], Types.INT())
    sinks = [stream.print("id"), stream.print_to_err(), stream.add_sink(Sink())]
    specs = [env.registry.get(s.transformation_id).spec for s in sinks]
    assert [s.input_type for s in specs] == [Types.INT()] * 3
    assert isinstance(specs[0], PrintSink) and specs[0].identifier == "id" and not specs[0].stderr
    assert isinstance(specs[1], PrintSink) and specs[1].stderr
    assert isinstance(specs[2], FunctionSink)


@pytest.mark.parametrize("call", ["map", "flat_map", "filter", "process", "add_sink", "key_by", "get_side_output"])
@pytest.mark.parametrize("given", [None, 3.5, b"text"])
def test_what_is_no_function_is_refused(env, call, given):
    with pytest.raises(TypeError):
        getattr(env.from_collection([1]), call)(given)


def test_classes_and_wrong_kinds_of_function_are_refused_with_a_remedy(env):
    stream = env.from_collection([1])
    with pytest.raises(TypeMismatchError, match=r"pass an object, not the class: ToMap"):
        stream.map(ToMap)

    class Words(FlatMapFunction):
        def flat_map(self, value):
            return value

    with pytest.raises(TypeMismatchError, match="another kind of function"):
        stream.map(Words())
    with pytest.raises(TypeMismatchError, match="call key_by before process"):
        stream.process(Keyed())


def test_builtin_types_are_callables(env):
    assert isinstance(env.from_collection(["1"]).map(int).transformation.spec, Map)


def test_operators_take_all_settings(env):
    group = SlotSharingGroup.builder("g").build()
    stream = (
        env.from_collection([1])
        .map(str)
        .name("n")
        .uid("u")
        .set_uid_hash("AB" * 16)
        .set_description("d")
        .set_parallelism(3)
        .set_max_parallelism(8)
        .set_buffer_timeout(0)
        .slot_sharing_group(group)
        .start_new_chain()
        .disable_chaining()
    )
    node = env.get_stream_graph().nodes[stream.transformation_id]
    assert (node.name, node.uid, node.operator_id, node.description) == ("n", "u", "ab" * 16, "d")
    assert (node.parallelism, node.max_parallelism, node.buffer_timeout) == (3, 8, 0)
    assert (node.slot_sharing_group, node.chaining.name) == ("g", "NEVER")


@pytest.mark.parametrize(
    ("call", "argument", "message"),
    [
        ("set_parallelism", 0, "at least 1"),
        ("set_parallelism", -2, "at least 1"),
        ("set_max_parallelism", 0, "greater than 0"),
        ("set_max_parallelism", 32769, "32768"),
        ("set_buffer_timeout", -2, ">= -1"),
        ("set_uid_hash", "zz", "32 character"),
    ],
)
def test_bad_settings_are_refused(env, call, argument, message):
    with pytest.raises(InvalidProgramError, match=message):
        getattr(env.from_collection([1]).map(str), call)(argument)


@pytest.mark.parametrize("call", ["set_parallelism", "set_max_parallelism", "set_buffer_timeout"])
@pytest.mark.parametrize("argument", ["2", 2.0, True, None])
def test_settings_want_whole_numbers(env, call, argument):
    with pytest.raises(TypeMismatchError):
        getattr(env.from_collection([1]).map(str), call)(argument)


def test_minus_one_is_the_parallelism_of_the_environment(env):
    stream = env.from_collection([1]).map(str).set_parallelism(7).set_parallelism(-1)
    assert env.get_stream_graph().nodes[stream.transformation_id].parallelism == 2


def test_a_collection_is_read_by_one_subtask(env):
    source = env.from_collection([1])
    with pytest.raises(InvalidProgramError, match="non parallel"):
        source.set_parallelism(2)
    assert source.set_parallelism(1).set_parallelism(-1).transformation.parallelism == 1
    forced = source.map(str).force_non_parallel()
    with pytest.raises(InvalidProgramError, match="non parallel"):
        forced.set_parallelism(2)
    with pytest.raises(InvalidProgramError, match="non parallel"):
        forced.set_max_parallelism(2)


def test_views_have_no_settings(env):
    stream = env.from_collection([1])
    for view, what in ((stream.rebalance(), "a partitioning"), (stream.union(env.from_collection([2])), "union")):
        with pytest.raises(InvalidProgramError, match=what):
            view.name("x")
        with pytest.raises(InvalidProgramError, match=what):
            view.get_name()
        with pytest.raises(InvalidProgramError, match=what):
            view.get_side_output(OutputTag("t"))


@pytest.mark.parametrize(
    ("call", "strategy"),
    [
        ("shuffle", "SHUFFLE"),
        ("rebalance", "REBALANCE"),
        ("rescale", "RESCALE"),
        ("broadcast", "BROADCAST"),
        ("global_", "GLOBAL"),
        ("forward", "FORWARD"),
    ],
)
def test_partitionings(env, call, strategy):
    getattr(env.from_collection([1]).map(str).name("a"), call)().map(str).name("b")
    assert edges(env)["a", "b"] == strategy


def test_the_partitioning_next_to_the_operator_wins(env):
    env.from_collection([1]).map(str).name("a").rebalance().shuffle().map(str).name("b")
    assert edges(env)["a", "b"] == "SHUFFLE"


def test_forward_wants_equal_parallelism(env):
    env.from_collection([1]).forward().map(str)
    with pytest.raises(InvalidProgramError, match="Forward partitioning"):
        env.get_stream_graph()


def test_partition_custom(env):
    class Modulo(Partitioner):
        def partition(self, key, num_partitions):
            return key % num_partitions

    stream = env.from_collection([(1, 2)]).map(tuple).name("a")
    stream.partition_custom(Modulo(), lambda x: x[1]).map(str).name("b")
    graph = env.get_stream_graph()
    (custom,) = [e.partitioner for e in graph.edges if isinstance(e.partitioner, Custom)]
    assert custom.partition(custom.selector((5, 7)), 4) == 3
    with pytest.raises(TypeError, match="Partitioner or a callable"):
        stream.partition_custom(3, lambda x: x)


def test_a_configured_view_becomes_an_operator(env):
    tag = OutputTag("side", Types.STRING())
    main = env.from_collection([1]).process(Identity()).name("main")
    named = main.get_side_output(tag).name("named").set_parallelism(3)
    plain = main.get_side_output(tag)
    plain.map(str).name("plain")
    graph = env.get_stream_graph()
    assert graph.nodes[named.transformation_id].parallelism == 3
    assert {(graph.nodes[e.target].name, e.tag) for e in graph.edges if e.tag} == {("named", "side"), ("plain", "side")}
    assert named.get_type() == plain.get_type() == Types.STRING()


def test_a_side_output_has_one_type(env):
    main = env.from_collection([1]).process(Identity())
    main.get_side_output(OutputTag("t", Types.INT()))
    assert main.transformation.side_types == {"t": Types.INT()}
    with pytest.raises(InvalidProgramError, match="different type"):
        main.get_side_output(OutputTag("t", Types.STRING()))


def test_union(env):
    first, second = env.from_collection([1], Types.INT()).name("a"), env.from_collection([2], Types.INT()).name("b")
    first.union(second, first).map(str).name("c")
    graph = env.get_stream_graph()
    assert [graph.nodes[e.source].name for e in graph.edges] == ["Source: a", "Source: b", "Source: a"]
    with pytest.raises(TypeMismatchError, match="Integer and String"):
        first.union(env.from_collection(["a"], Types.STRING()))
    with pytest.raises(TypeMismatchError, match="union takes a stream"):
        first.union([second])


def test_streams_of_two_environments_do_not_mix(env):
    other = StreamExecutionEnvironment.get_execution_environment().from_collection([1])
    for call in ("union", "connect"):
        with pytest.raises(InvalidProgramError, match="same environment"):
            getattr(env.from_collection([1]), call)(other)


def test_project(env):
    pairs = env.from_collection([(1, "a", 2.5)], Types.TUPLE([Types.INT(), Types.STRING(), Types.DOUBLE()]))
    projected = pairs.project(2, 0)
    assert projected.get_type() == Types.TUPLE([Types.DOUBLE(), Types.INT()])
    assert projected.transformation.spec.func((1, "a", 2.5)) == (2.5, 1)
    assert pairs.project(1).transformation.spec.func((1, "a", 2.5)) == ("a",)
    with pytest.raises(InvalidProgramError, match="Index: 5, Size: 3"):
        pairs.project(5)
    with pytest.raises(InvalidProgramError, match="at least one"):
        pairs.project()
    with pytest.raises(InvalidProgramError, match="Only Tuple"):
        env.from_collection([Row(1)]).project(0)


def test_assign_timestamps(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    stream = env.from_collection([1], Types.INT()).assign_timestamps_and_watermarks(strategy)
    assert stream.get_name() == "Timestamps/Watermarks" and stream.get_type() == Types.INT()
    assert stream.transformation.spec.strategy is strategy
    with pytest.raises(TypeMismatchError, match="watermark strategy"):
        stream.assign_timestamps_and_watermarks(lambda x: x)


def test_sink_to_takes_a_sink(env):
    with pytest.raises(TypeMismatchError, match="takes a sink of headrace.datastream.connectors"):
        env.from_collection([1]).sink_to("sink")
