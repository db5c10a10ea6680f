"""The execution plan, chaining, slot sharing groups: what a program looks like before it runs."""

from __future__ import annotations

import json

import pytest

from headrace.common import Encoder, Types
from headrace.datastream import SlotSharingGroup
from headrace.datastream.connectors.file_system import FileSink, StreamingFileSink
from headrace.testing import CollectingSink

SINK = CollectingSink()


def nodes(env):
    return json.loads(env.get_execution_plan())["nodes"]


def pairs(env):
    return env.from_collection([(1, "Hi", "Hello"), (2, "Hello", "Hi")])


def test_names(env):
    stream = pairs(env)
    assert stream.get_name() == "Collection Source"
    assert stream.name("test_name").get_name() == "test_name"
    stream.print()
    assert [n["type"] for n in nodes(env)] == ["Source: test_name", "Sink: Print to Std. Out"]


def test_parallelism_of_an_operator(env):
    pairs(env).map(lambda x: x).set_parallelism(3).add_sink(SINK)
    assert [n["parallelism"] for n in nodes(env)] == [1, 3, 2]


def test_max_parallelism_of_an_operator(env):
    env.set_parallelism(8)
    pairs(env).map(lambda x: x).set_parallelism(4).set_max_parallelism(4).add_sink(SINK)
    assert [n["parallelism"] for n in nodes(env)] == [1, 4, 8]
    vertex = next(v for v in env.get_job_graph().vertices.values() if v.name == "Map")
    assert vertex.max_parallelism == 4


def test_force_non_parallel(env):
    env.set_parallelism(8)
    pairs(env).map(lambda x: x).force_non_parallel().add_sink(SINK)
    assert nodes(env)[1]["parallelism"] == 1


def test_union_has_all_its_inputs(env):
    a, b, c = (env.from_collection([n]) for n in range(3))
    c.union(a, b).map(lambda x: x + 1).add_sink(SINK)
    found = nodes(env)
    sources = sorted(n["id"] for n in found if n["pact"] == "Data Source")
    (operator,) = [n for n in found if n["pact"] == "Operator"]
    assert sorted(p["id"] for p in operator["predecessors"]) == sources


def test_union_of_keyed_streams(env):
    a, b = (env.from_collection([n]).key_by(lambda x: x) for n in range(2))
    a.union(b).add_sink(SINK)
    found = nodes(env)
    values = sorted(n["id"] for n in found if n["type"] == "_keyed_stream_values_operator")
    (sink,) = [n for n in found if n["pact"] == "Data Sink"]
    assert sorted(p["id"] for p in sink["predecessors"]) == values and len(values) == 2


def test_projection(env):
    env.from_collection([[1, 2, 3, 4]], Types.TUPLE([Types.INT()] * 4)).project(1, 3).map(lambda x: x).add_sink(SINK)
    assert nodes(env)[1]["type"] == "Projection"


@pytest.mark.parametrize("call", ["broadcast", "rebalance", "rescale", "shuffle", "global_"])
def test_ship_strategies(env, call):
    getattr(env.from_collection([1, 2, 3]), call)().map(lambda x: x + 1).set_parallelism(3).add_sink(SINK)
    assert nodes(env)[1]["predecessors"][0]["ship_strategy"] == call.rstrip("_").upper()


def test_default_strategies(env):
    env.from_collection([1]).map(str).map(str).set_parallelism(3).add_sink(SINK)
    assert [p["ship_strategy"] for n in nodes(env)[1:] for p in n["predecessors"]] == ["REBALANCE"] * 3
    env.from_collection([1]).map(str).map(str).add_sink(SINK)
    assert [p["ship_strategy"] for n in nodes(env)[4:6] for p in n["predecessors"]] == ["REBALANCE", "FORWARD"]


def test_key_by_in_the_plan(env):
    source = env.from_collection([("a", 0)], Types.ROW([Types.STRING(), Types.INT()])).name("From Collection")
    plus = source.key_by(lambda x: x[1], key_type=Types.INT()).map(lambda x: x).name("Plus Two Map").set_parallelism(3)
    plus.map(lambda x: x).name("Add From File Map").add_sink(SINK).name("Test Sink").set_parallelism(4)
    found = nodes(env)
    assert [n["type"] for n in found] == [
        "Source: From Collection",
        "_stream_key_by_map_operator",
        "Plus Two Map",
        "Add From File Map",
        "Sink: Test Sink",
    ]
    assert [n["parallelism"] for n in found] == [1, 1, 3, 2, 4]
    assert found[1]["predecessors"][0]["ship_strategy"] == "FORWARD"
    assert found[2]["predecessors"][0]["ship_strategy"] == "HASH"


def test_descriptions(env):
    env.from_collection([1]).map(str).name("short").set_description("a long text").add_sink(SINK)
    assert (nodes(env)[1]["type"], nodes(env)[1]["contents"]) == ("short", "a long text")


def test_watermarks_without_assigner_stay_with_their_input(env, by_second_field):
    from headrace.common import WatermarkStrategy

    env.from_collection([1]).assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps())
    env.from_collection([1]).assign_timestamps_and_watermarks(by_second_field)
    assert [n["parallelism"] for n in nodes(env)] == [1, 1, 1, 2]


def chained(env, **how):
    stream = env.from_collection([1, 2, 3])
    for number in range(3):
        stream = stream.map(lambda x: x).set_parallelism(2).name(f"m{number}")
        if number == 1 and "middle" in how:
            getattr(stream, how["middle"])()
    stream.add_sink(SINK).name("s")
    return [v.name for v in env.get_job_graph().vertices.values()]


def test_chaining(env):
    assert chained(env) == ["Source: Collection Source", "m0 -> m1 -> m2 -> Sink: s"]


def test_a_new_chain_begins(env):
    assert chained(env, middle="start_new_chain") == [
        "Source: Collection Source",
        "m0",
        "m1 -> m2 -> Sink: s",
    ]


def test_an_operator_stays_out_of_chains(env):
    assert chained(env, middle="disable_chaining") == ["Source: Collection Source", "m0", "m1", "m2 -> Sink: s"]


def test_chaining_can_be_switched_off(env):
    assert env.is_chaining_enabled() and not env.disable_operator_chaining().is_chaining_enabled()
    assert chained(env) == ["Source: Collection Source", "m0", "m1", "m2", "Sink: s"]


@pytest.mark.parametrize(
    ("allowed", "tasks"),
    [
        ("true", {"Source: Sequence Source -> m -> n -> Sink: Print to Std. Out": 128}),
        ("false", {"Source: Sequence Source": 128, "m": 20, "n": 40, "Sink: Print to Std. Out": 128}),
    ],
)
def test_chaining_of_different_maximum_parallelisms(make_env, allowed, tasks):
    key = "pipeline.operator-chaining.chain-operators-with-different-max-parallelism"
    env = make_env(1, **{key: allowed})
    assert str(env.is_chaining_of_operators_with_different_max_parallelism_enabled()).lower() == allowed
    numbers = env.from_sequence(1, 2).map(lambda n: n).name("m").set_max_parallelism(20)
    numbers.map(lambda n: n).name("n").set_max_parallelism(40).print()
    # As in Flink: the first operator of a chain decides how many key groups the task has.
    assert {v.name: v.max_parallelism for v in env.get_job_graph().vertices.values()} == tasks


def test_slot_sharing_groups(env):
    source = env.from_collection([1, 2, 3]).name("source")
    source.slot_sharing_group(SlotSharingGroup.builder("group 1").build()).map(lambda x: x + 1).set_parallelism(3).name(
        "map"
    ).slot_sharing_group("group 2").add_sink(SINK)
    groups = {n.name: n.slot_sharing_group for n in env.get_stream_graph().nodes.values()}
    assert groups == {"Source: source": "group 1", "map": "group 2", "Sink: Unnamed": "group 2"}


def test_groups_are_not_chained(make_env):
    env = make_env(1)
    env.from_collection([1]).map(str).slot_sharing_group("a").map(str).slot_sharing_group("b").add_sink(SINK)
    assert [v.name for v in env.get_job_graph().vertices.values()] == [
        "Source: Collection Source",
        "Map",
        "Map -> Sink: Unnamed",
    ]


@pytest.mark.filterwarnings("ignore::headrace.compatibility.ignored_settings.WithoutEffectWarning")
def test_registered_groups_keep_their_resources(env):
    small = SlotSharingGroup.builder("small").set_cpu_cores(1.0).set_task_heap_memory_mb(100).build()
    env.register_slot_sharing_group(small)
    env.from_collection([1]).slot_sharing_group("small").add_sink(SINK)
    assert {n.slot_sharing_group for n in env.get_stream_graph().nodes.values()} == {"small"}


def test_uids_decide_the_ids(env):
    def ids(stream_uid, **more):
        stream = env.from_collection([1]).map(str).uid(stream_uid)
        if "hash" in more:
            stream.set_uid_hash(more["hash"])
        return env.get_stream_graph().nodes[stream.transformation_id].operator_id

    assert ids("a") != ids("b")
    assert ids("c", hash="ab" * 16) == "ab" * 16


def test_the_plan_can_be_drawn(env):
    env.from_collection([1]).key_by(lambda x: x).sum().print()
    assert env.draw().splitlines()[0] == "flowchart LR"
    assert "HASH" in env.draw() and "digraph" in env.draw("graphviz")


@pytest.mark.parametrize(("name", "shown"), [(None, "Sink"), ("files", "files")])
def test_writer_and_committer_of_a_sink(env, name, shown):
    sink = FileSink.for_row_format("/tmp/unused", Encoder.simple_string_encoder()).build()
    handle = env.from_collection(["a"], Types.STRING()).sink_to(sink)
    if name:
        handle.name(name)
    assert handle.get_name() == shown
    assert [(n["type"], n["contents"], n["pact"], n["parallelism"]) for n in nodes(env)[1:]] == [
        (f"{shown}: Writer", f"{shown}: Writer", "Operator", 2),
        (f"{shown}: Committer", f"{shown}: Committer", "Operator", 2),
    ]
    assert nodes(env)[2]["predecessors"] == [{"id": nodes(env)[1]["id"], "ship_strategy": "FORWARD", "side": "second"}]


def test_a_sink_of_add_sink_is_one_node(env):
    sink = StreamingFileSink.for_row_format("/tmp/unused", Encoder.simple_string_encoder()).build()
    env.from_collection(["a"], Types.STRING()).add_sink(sink).name("files")
    assert [(n["type"], n["pact"]) for n in nodes(env)[1:]] == [("Sink: files", "Data Sink")]


def test_the_steps_of_a_custom_exchange_stand_before_its_reader(env):
    env.from_collection([1], Types.INT()).partition_custom(lambda k, n: 0, lambda x: x).map(lambda x: x).add_sink(SINK)
    assert [n["type"] for n in nodes(env)] == [
        "Source: Collection Source",
        "_partition_custom_map_operator",
        "_keyed_stream_values_operator",
        "Map",
        "Sink: Unnamed",
    ]
