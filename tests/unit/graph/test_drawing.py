"""Pictures of the plan."""

from __future__ import annotations

from xml.etree import ElementTree

from headrace.graph.drawing import columns, graphviz, mermaid, svg
from headrace.graph.partitioners import KeyGroup, Rebalance

SVG = "{http://www.w3.org/2000/svg}"


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


def test_svg(program):
    picture = ElementTree.fromstring(svg(job(program)))
    boxes = [[text.text for text in group.iter(f"{SVG}text")] for group in picture.iter(f"{SVG}g")]
    assert boxes == [['the "first"', "x 1"], ["a<b", "x 2"], ["sink", "x 1"]]
    assert [text.text for text in picture.findall(f"{SVG}text")] == ["HASH", "REBALANCE late"]
    assert len(picture.findall(f"{SVG}path")) == 2
    assert picture.find(f"{SVG}title").text == "job"


def test_boxes_of_an_svg_stay_apart_and_inside(program):
    sources = [program.source(f"source {number}") for number in range(3)]
    keyed = [program.partition(source, KeyGroup(len)) for source in sources]
    joined = [program.operator(view, name="join", parallelism=2) for view in keyed]
    program.sink(program.partition(joined[0], Rebalance()), name="sink")
    graph = program.job_graph()
    assert sorted(columns(graph).values()) == [0, 0, 0, 1, 1, 1, 2]
    picture = ElementTree.fromstring(svg(graph))
    spans = [tuple(float(r.get(a)) for a in ("x", "y", "width", "height")) for r in picture.iter(f"{SVG}rect")]
    for x, y, width, height in spans:
        assert x >= 0 and y >= 0
        assert x + width <= float(picture.get("width")) and y + height <= float(picture.get("height"))
        overlapping = [
            s for s in spans if s[0] < x + width and x < s[0] + s[2] and s[1] < y + height and y < s[1] + s[3]
        ]
        assert len(overlapping) == 1  # itself
