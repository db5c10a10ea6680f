"""Flink's JSON plan."""

from __future__ import annotations

import json

from headrace.graph.json_plan import plan_as_dict, plan_as_json
from headrace.graph.partitioners import Custom, KeyGroup, Rebalance


def test_the_plan_shows_every_operator_before_chaining(program):
    source = program.source("numbers", description="all numbers")
    keyed = program.operator(program.partition(source, KeyGroup(len)), name="count", parallelism=2)
    program.sink(keyed, name="print")
    assert plan_as_dict(program.stream_graph()) == {
        "nodes": [
            {"id": 1, "type": "numbers", "pact": "Data Source", "contents": "all numbers", "parallelism": 1},
            {
                "id": 2,
                "type": "_stream_key_by_map_operator",
                "pact": "Operator",
                "contents": "_stream_key_by_map_operator",
                "parallelism": 1,
                "predecessors": [{"id": 1, "ship_strategy": "FORWARD", "side": "second"}],
            },
            {
                "id": 3,
                "type": "count",
                "pact": "Operator",
                "contents": "count",
                "parallelism": 2,
                "predecessors": [{"id": 2, "ship_strategy": "HASH", "side": "second"}],
            },
            {
                "id": 4,
                "type": "print",
                "pact": "Data Sink",
                "contents": "print",
                "parallelism": 1,
                "predecessors": [{"id": 3, "ship_strategy": "REBALANCE", "side": "second"}],
            },
        ]
    }


def test_sinks_come_last_and_inputs_in_order(program):
    a = program.source("a")
    program.sink(a, name="early sink")
    b = program.source("b")
    program.operator(program.partition(b, Rebalance()), a, name="both")
    nodes = plan_as_dict(program.stream_graph())["nodes"]
    assert [n["type"] for n in nodes] == ["a", "b", "both", "early sink"]
    assert [p["id"] for p in nodes[2]["predecessors"]] == [b, a]


def links(node):
    return [(p["id"], p["ship_strategy"]) for p in node.get("predecessors", [])]


def test_the_steps_of_a_custom_partitioning(program):
    source = program.source()
    spread = program.partition(source, Custom(lambda key, n: 0, len))
    program.operator(spread, name="work", parallelism=3)
    nodes = {n["type"]: n for n in plan_as_dict(program.stream_graph(parallelism=1))["nodes"]}
    taken, values = nodes["_partition_custom_map_operator"], nodes["_keyed_stream_values_operator"]
    assert links(taken) == [(source, "FORWARD")] and taken["parallelism"] == 1
    assert links(values) == [(taken["id"], "CUSTOM")] and values["parallelism"] == 3
    assert links(nodes["work"]) == [(values["id"], "FORWARD")]


def test_keyed_streams_that_are_united_or_end_in_a_sink_are_plain_again(program):
    a, b = program.source("a"), program.source("b")
    both = program.union(program.partition(a, KeyGroup(len)), program.partition(b, KeyGroup(len)))
    program.sink(both)
    nodes = plan_as_dict(program.stream_graph(parallelism=2))["nodes"]
    values = [n["id"] for n in nodes if n["type"] == "_keyed_stream_values_operator"]
    assert len(values) == 2 and links(nodes[-1]) == [(v, "FORWARD") for v in values]
    assert nodes[-1]["pact"] == "Data Sink"


def test_streams_that_read_one_keyed_stream_share_its_step(program):
    keyed = program.partition(program.source(), KeyGroup(len))
    first, second = program.operator(keyed, name="x"), program.operator(keyed, name="y")
    nodes = plan_as_dict(program.stream_graph())["nodes"]
    assert [n["id"] for n in nodes] == [1, keyed, first, second]
    assert links(nodes[2]) == links(nodes[3]) == [(keyed, "HASH")]


def test_a_keyed_union_has_one_step_with_all_its_inputs(program):
    a, b = program.source("a"), program.source("b")
    program.operator(program.partition(program.union(a, b), KeyGroup(len)), name="x")
    nodes = plan_as_dict(program.stream_graph())["nodes"]
    assert links(nodes[2]) == [(a, "FORWARD"), (b, "FORWARD")]


def test_the_text_is_json(program):
    program.sink(program.source())
    graph = program.stream_graph()
    assert json.loads(plan_as_json(graph)) == plan_as_dict(graph)
