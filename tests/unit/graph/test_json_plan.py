"""Flink's JSON plan."""

from __future__ import annotations

import json

from headrace.graph.json_plan import plan_as_dict, plan_as_json
from headrace.graph.partitioners import KeyGroup, Rebalance


def test_the_plan_shows_every_operator_before_chaining(program):
    source = program.source("numbers", description="all numbers")
    keyed = program.operator(program.partition(source, KeyGroup(len)), name="count", parallelism=2)
    program.sink(keyed, name="print")
    assert plan_as_dict(program.stream_graph()) == {
        "nodes": [
            {"id": 1, "type": "numbers", "pact": "Data Source", "contents": "all numbers", "parallelism": 1},
            {
                "id": 3,
                "type": "count",
                "pact": "Operator",
                "contents": "count",
                "parallelism": 2,
                "predecessors": [{"id": 1, "ship_strategy": "HASH", "side": "second"}],
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


def test_the_text_is_json(program):
    program.sink(program.source())
    graph = program.stream_graph()
    assert json.loads(plan_as_json(graph)) == plan_as_dict(graph)
