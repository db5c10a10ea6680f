"""Pictures of the plan."""

from __future__ import annotations

from headrace.graph.drawing import graphviz, mermaid
from headrace.graph.partitioners import KeyGroup, Rebalance


def job(program):
    source = program.source('the "first"')
    counted = program.operator(program.partition(source, KeyGroup(len)), name="a<b", parallelism=2)
    program.sink(program.partition(program.side_output(counted, "late"), Rebalance()), name="sink")
    return program.job_graph(job_name="job")


def test_mermaid(program):
    assert mermaid(job(program)).splitlines() == [
        "flowchart LR",
        '    v1(["the &quot;first&quot;<br/>x 1"])',
        '    v2["a&lt;b<br/>x 2"]',
        '    v3[["sink<br/>x 1"]]',
        "    v1 -->|HASH| v2",
        "    v2 -->|REBALANCE late| v3",
    ]


def test_graphviz(program):
    assert graphviz(job(program)).splitlines() == [
        'digraph "job" {',
        "    rankdir=LR;",
        "    node [shape=box, style=rounded];",
        '    v1 [label="the \\"first\\"\\nx 1"];',
        '    v2 [label="a<b\\nx 2"];',
        '    v3 [label="sink\\nx 1"];',
        '    v1 -> v2 [label="HASH"];',
        '    v2 -> v3 [label="REBALANCE late"];',
        "}",
    ]


def test_a_chain_is_one_box(program):
    program.sink(program.operator(program.source("a"), name="b"), name="c")
    assert mermaid(program.job_graph()).splitlines()[1:] == ['    v1(["a<br/>b<br/>c<br/>x 1"])']
