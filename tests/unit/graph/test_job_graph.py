"""Vertices: what is chained, names, numbers of key groups, and the edges that are left."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, replace

import pytest

from headrace.common.errors import InvalidProgramError
from headrace.graph.job_graph import build_job_graph, default_max_parallelism, is_chainable, topological
from headrace.graph.partitioners import Broadcast, Custom, Forward, Global, KeyGroup, Rebalance, Rescale, Shuffle
from headrace.graph.stream_graph import StreamEdge
from headrace.graph.transformations import ChainingStrategy
from headrace.state import key_groups


def vertex_names(graph):
    return [v.name for v in graph.vertices.values()]


def test_a_line_of_forward_edges_is_one_vertex(program):
    source = program.source("numbers")
    program.sink(program.operator(source, name="double"), name="print")
    graph = program.job_graph(parallelism=2)
    (vertex,) = graph.vertices.values()
    assert vertex.name == "numbers -> double -> print"
    assert [n.name for n in vertex.nodes] == ["numbers", "double", "print"]
    assert vertex.head.name == "numbers"
    assert vertex.id == vertex.head.operator_id
    assert vertex.parallelism == 2
    assert graph.edges == ()


def test_branches_are_named_in_brackets(program):
    source = program.source("a")
    program.sink(program.operator(source, name="b"), name="c")
    program.sink(source, name="d")
    assert vertex_names(program.job_graph()) == ["a -> (b -> c, d)"]


def test_an_exchange_separates_vertices(program):
    source = program.source("a")
    mapped = program.operator(source, name="b")
    counted = program.operator(program.partition(mapped, KeyGroup(len)), name="c")
    program.sink(counted, name="d")
    graph = program.job_graph(parallelism=2)
    assert vertex_names(graph) == ["a -> b", "c -> d"]
    (edge,) = graph.edges
    first, second = graph.vertices
    assert (edge.index, edge.source, edge.source_node, edge.target) == (0, first, mapped, second)
    assert graph.out_edges(first) == graph.in_edges(second) == [edge]
    assert graph.in_edges(first) == graph.out_edges(second) == []


def test_without_chaining_every_operator_is_a_vertex(program):
    source = program.source("a")
    program.sink(program.operator(source, name="b"), name="c")
    graph = program.job_graph(chaining_enabled=False)
    assert vertex_names(graph) == ["a", "b", "c"]
    assert [e.index for e in graph.edges] == [0, 1]


def test_a_chain_starts_anew_at_a_head(program):
    source = program.source("a")
    head = program.operator(source, name="b", chaining=ChainingStrategy.HEAD)
    program.sink(head, name="c")
    assert vertex_names(program.job_graph()) == ["a", "b -> c"]


def test_edges_are_numbered_by_target_and_input(program):
    a, b = program.source("a"), program.source("b")
    program.operator(program.partition(b, KeyGroup(len)), program.partition(a, KeyGroup(len)), name="both")
    program.sink(program.partition(a, Rebalance()), name="s")
    graph = program.job_graph()
    listed = [(e.index, graph.vertices[e.source].name, graph.vertices[e.target].name) for e in graph.edges]
    assert listed == [(0, "b", "both"), (1, "a", "both"), (2, "a", "s")]


def test_a_stream_united_with_itself_has_two_edges_with_numbers_of_their_own(program):
    source = program.source("a")
    program.operator(program.union(source, source), name="b")
    graph = program.job_graph()
    assert [(e.index, e.edge.partitioner.name) for e in graph.edges] == [(0, "FORWARD"), (1, "FORWARD")]


def test_vertices_come_after_those_that_feed_them(program):
    # The second source is younger than the operator that it would otherwise follow.
    a = program.source("a")
    early = program.operator(program.partition(a, Rebalance()), name="early")
    b = program.source("b")
    program.sink(program.union(early, b), name="sink")
    graph = program.job_graph()
    position = {v: i for i, v in enumerate(graph.vertices)}
    assert all(position[e.source] < position[e.target] for e in graph.edges)


def test_a_cycle_is_refused(program):
    source = program.source()
    mapped = program.operator(source)
    graph = program.stream_graph()
    back = StreamEdge(mapped, mapped, 0, Rebalance(), None)
    with pytest.raises(InvalidProgramError, match="cycle"):
        topological(replace(graph, edges=(*graph.edges, back)))


@dataclass
class Modulo:
    """A user's function object that can be compared, and so cannot be hashed."""

    by: int

    def __call__(self, key, partitions):
        return key % self.by


@dataclass
class First:
    """The same as a key selector."""

    field: int = 0

    def __call__(self, value):
        return value[self.field]


@pytest.mark.parametrize("partitioner", [Custom(Modulo(3), First()), KeyGroup(First())], ids=["custom", "key"])
def test_function_objects_need_not_be_hashable(program, partitioner):
    program.sink(program.partition(program.source(), partitioner))
    assert len(program.job_graph().edges) == 1


# -- key groups ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parallelism", "expected"), [(1, 128), (85, 128), (86, 256), (100, 256), (171, 256), (172, 512), (32768, 32768)]
)
def test_the_default_number_of_key_groups_is_flinks(parallelism, expected):
    assert default_max_parallelism(parallelism) == expected
    assert key_groups.default_max_parallelism(parallelism) == expected


def test_a_vertex_without_a_maximum_gets_the_default(program):
    program.source(parallelism=100)
    (vertex,) = program.job_graph().vertices.values()
    assert vertex.max_parallelism == 256


def test_a_vertex_takes_the_maximum_that_was_set_in_its_chain(program):
    source = program.source(max_parallelism=16)
    program.sink(source)
    (vertex,) = program.job_graph().vertices.values()
    assert vertex.max_parallelism == 16


def test_the_environments_maximum_counts_for_all(program):
    program.sink(program.partition(program.source(), Rebalance()))
    assert [v.max_parallelism for v in program.job_graph(max_parallelism=48).vertices.values()] == [48, 48]


# -- as data ------------------------------------------------------------------------------------------------------


def test_the_job_graph_is_frozen_and_pickles(program, round_trip):
    source = program.source("a")
    program.sink(program.partition(source, KeyGroup(len)), name="b")
    graph = program.job_graph(job_name="job")
    assert graph.name == "job"
    for frozen in (graph, next(iter(graph.vertices.values())), graph.edges[0]):
        with pytest.raises(FrozenInstanceError):
            frozen.name = "changed"
    copy = round_trip(graph)
    assert vertex_names(copy) == vertex_names(graph)
    assert copy.edges == graph.edges


def test_two_builds_give_the_same_job_graph(program):
    source = program.source("a")
    for i in range(5):
        program.sink(program.partition(source, KeyGroup(len)), name=f"s{i}")
        program.sink(source, name=f"t{i}")
    stream_graph = program.stream_graph()
    first, second = build_job_graph(stream_graph), build_job_graph(stream_graph)
    assert first == second
    assert [v.chained_edges for v in first.vertices.values()] == [v.chained_edges for v in second.vertices.values()]


# -- Flink's chaining rule: each of its conditions alone breaks the chain

ALWAYS, HEAD, NEVER = ChainingStrategy.ALWAYS, ChainingStrategy.HEAD, ChainingStrategy.NEVER


def chained(program, up=None, down=None, partitioner=None, **settings):
    """Whether `up -> down` is chained; both get the fields given for them."""
    source = program.source(**(up or {}))
    program.operator(source if partitioner is None else program.partition(source, partitioner), **(down or {}))
    graph = program.stream_graph(**settings)
    return is_chainable(graph, graph.edges[0])


def test_nothing_speaks_against_it(program):
    assert chained(program, parallelism=2)


def test_1_chaining_disabled_for_the_job(program):
    assert not chained(program, chaining_enabled=False)


def test_2_a_second_input_edge_by_union(program):
    a, b = program.source("a"), program.source("b")
    program.operator(program.union(a, b))
    graph = program.stream_graph()
    assert [is_chainable(graph, e) for e in graph.edges] == [False, False]


def test_2_a_second_input_edge_by_connect(program):
    a, b = program.source("a"), program.source("b")
    program.operator(a, b)
    graph = program.stream_graph()
    assert [is_chainable(graph, e) for e in graph.edges] == [False, False]


def test_3_another_slot_sharing_group(program):
    assert not chained(program, down={"slot_sharing_group": "other"})


def test_3_the_same_slot_sharing_group_by_name(program):
    assert chained(program, up={"slot_sharing_group": "io"}, down={"slot_sharing_group": "io"})


@pytest.mark.parametrize(("strategy", "expected"), [(ALWAYS, True), (HEAD, False), (NEVER, False)])
def test_4_the_strategy_downstream(program, strategy, expected):
    assert chained(program, down={"chaining": strategy}) is expected


@pytest.mark.parametrize(("strategy", "expected"), [(ALWAYS, True), (HEAD, True), (NEVER, False)])
def test_5_the_strategy_upstream(program, strategy, expected):
    assert chained(program, up={"chaining": strategy}) is expected


@pytest.mark.parametrize(
    "partitioner",
    [Rebalance(), Rescale(), Shuffle(), Broadcast(), Global(), Custom(max, len), KeyGroup(len)],
    ids=lambda p: p.name,
)
def test_6_any_partitioning_but_forward(program, partitioner):
    assert not chained(program, partitioner=partitioner)


def test_6_forward_that_was_asked_for(program):
    assert chained(program, partitioner=Forward())


def test_7_another_parallelism(program):
    assert not chained(program, up={"parallelism": 1}, down={"parallelism": 2})


def test_another_maximum_of_the_parallelism_does_not_matter(program):
    assert chained(program, up={"max_parallelism": 16}, down={"max_parallelism": 32})


def test_one_stream_feeds_many_chained_operators(program):
    source = program.source()
    program.operator(source)
    program.operator(source)
    program.operator(program.side_output(source, "late"))
    graph = program.stream_graph()
    assert all(is_chainable(graph, e) for e in graph.edges)


@pytest.mark.parametrize(
    ("down", "same"), [({"max_parallelism": 40}, False), ({}, False), ({"max_parallelism": 20}, True)]
)
def test_8_another_maximum_parallelism(program, down, same):
    assert chained(program, {"max_parallelism": 20}, down, chain_across_max_parallelism=False) is same


def test_8_another_maximum_parallelism_does_not_matter_by_default(program):
    assert chained(program, {"max_parallelism": 20}, {"max_parallelism": 40})
