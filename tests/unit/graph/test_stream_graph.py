"""From transformations to nodes and edges: what the program left open is decided here."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from headrace.common.errors import InvalidProgramError
from headrace.graph.partitioners import Broadcast, Forward, Global, KeyGroup, Rebalance, Rescale, Shuffle
from headrace.graph.transformations import ChainingStrategy


def names_of(edges):
    return [(e.source, e.target, e.partitioner.name) for e in edges]


# -- partitioners -------------------------------------------------------------------------------------------------


def test_equal_parallelism_is_forward_by_default(program):
    source = program.source()
    mapped = program.operator(source)
    assert names_of(program.stream_graph(parallelism=3).edges) == [(source, mapped, "FORWARD")]


def test_different_parallelism_is_rebalance_by_default(program):
    source = program.source(non_parallel=True)
    mapped = program.operator(source)
    fewer = program.operator(mapped, parallelism=2)
    graph = program.stream_graph(parallelism=3)
    assert names_of(graph.edges) == [(source, mapped, "REBALANCE"), (mapped, fewer, "REBALANCE")]


def test_forward_over_a_change_of_parallelism_is_refused(program):
    source = program.source("numbers", parallelism=2)
    program.operator(program.partition(source, Forward()), name="double", uid="d", parallelism=3)
    with pytest.raises(InvalidProgramError, match="does not allow change of parallelism") as caught:
        program.stream_graph()
    assert caught.value.operator_name == "double"
    assert caught.value.uid == "d"
    assert "'numbers' has parallelism 2, 'double' has 3" in caught.value.seen


def test_forward_with_equal_parallelism_is_kept(program):
    source = program.source(parallelism=2)
    program.operator(program.partition(source, Forward()), parallelism=2)
    assert isinstance(program.stream_graph().edges[0].partitioner, Forward)


@pytest.mark.parametrize("partitioner", [Rebalance(), Rescale(), Shuffle(), Broadcast(), Global(), KeyGroup(len)])
def test_a_given_partitioner_is_kept_whatever_the_parallelism(program, partitioner):
    view = program.partition(program.source(), partitioner)
    program.operator(view, parallelism=1)
    program.operator(view, parallelism=4)
    assert [e.partitioner for e in program.stream_graph().edges] == [partitioner, partitioner]


def test_the_partitioner_next_to_the_consumer_counts(program):
    view = program.partition(program.partition(program.source(), Shuffle()), Global())
    program.operator(view)
    assert names_of(program.stream_graph().edges) == [(1, 4, "GLOBAL")]


# -- views --------------------------------------------------------------------------------------------------------


def test_a_union_becomes_an_edge_from_each_of_its_streams(program):
    a, b, c = program.source("a"), program.source("b"), program.source("c")
    target = program.operator(program.union(program.union(a, b), c))
    edges = program.stream_graph().edges
    assert [(e.source, e.target, e.input_number) for e in edges] == [(a, target, 0), (b, target, 0), (c, target, 0)]


def test_a_partitioner_inside_a_union_is_for_its_own_stream(program):
    a, b = program.source("a"), program.source("b")
    program.operator(program.union(program.partition(a, Shuffle()), b))
    assert [e.partitioner.name for e in program.stream_graph().edges] == ["SHUFFLE", "FORWARD"]


def test_a_partitioner_after_a_union_is_for_all_streams(program):
    a, b = program.source("a"), program.source("b")
    program.operator(program.partition(program.union(program.partition(a, Shuffle()), b), Global()))
    assert [e.partitioner.name for e in program.stream_graph().edges] == ["GLOBAL", "GLOBAL"]


def test_a_stream_united_with_itself_has_two_edges(program):
    source = program.source()
    target = program.operator(program.union(source, source))
    assert names_of(program.stream_graph().edges) == [(source, target, "FORWARD")] * 2


def test_side_outputs_are_edges_with_a_tag(program):
    source = program.source()
    late = program.side_output(source, "late")
    program.operator(program.partition(late, Rebalance()))
    program.operator(source)
    edges = program.stream_graph().edges
    assert [(e.tag, e.partitioner.name) for e in edges] == [("late", "REBALANCE"), (None, "FORWARD")]


def test_the_inputs_of_a_two_input_operator_are_numbered(program):
    a, b = program.source("a"), program.source("b")
    connected = program.operator(program.partition(a, KeyGroup(len)), program.partition(b, Broadcast()))
    graph = program.stream_graph()
    assert [(e.source, e.input_number) for e in graph.in_edges(connected)] == [(a, 0), (b, 1)]
    assert [e.target for e in graph.edges if e.source == b] == [connected]


def test_in_edges_are_sorted_by_input_also_when_the_second_input_is_older(program):
    a, b = program.source("a"), program.source("b")
    connected = program.operator(b, a)
    assert [(e.source, e.input_number) for e in program.stream_graph().in_edges(connected)] == [(b, 0), (a, 1)]


# -- what a node has ----------------------------------------------------------------------------------------------


def test_a_node_takes_the_environments_parallelism_where_it_has_none(program):
    own, given, single = program.source(parallelism=5), program.source(), program.source(non_parallel=True)
    nodes = program.stream_graph(parallelism=3).nodes
    assert [nodes[n].parallelism for n in (own, given, single)] == [5, 3, 1]


def test_non_parallel_wins_over_a_given_parallelism(program):
    source = program.source(non_parallel=True, parallelism=4)
    assert program.stream_graph().nodes[source].parallelism == 1


def test_max_parallelism_is_the_operators_then_the_environments(program):
    own, given = program.source(max_parallelism=64), program.source()
    nodes = program.stream_graph(max_parallelism=32).nodes
    assert [nodes[n].max_parallelism for n in (own, given)] == [64, 32]
    assert program.stream_graph().nodes[given].max_parallelism is None


def test_parallelism_beyond_its_maximum_is_refused(program):
    program.source("numbers", parallelism=9, max_parallelism=8)
    with pytest.raises(
        InvalidProgramError, match=r"numbers's parallelism \(9\) is higher than the max parallelism \(8\)"
    ):
        program.stream_graph()


def test_name_and_description_fall_back_to_what_the_operator_is(program):
    plain, named = program.operator(program.source(), name=""), program.operator(1, name="double")
    described = program.operator(1, name="x", description="doubles numbers")
    nodes = program.stream_graph().nodes
    assert (nodes[plain].name, nodes[plain].description) == ("Map", "Map")
    assert (nodes[named].name, nodes[named].description) == ("double", "double")
    assert nodes[described].description == "doubles numbers"


def test_the_rest_is_handed_over(program):
    number = program.source(
        uid="u", chaining=ChainingStrategy.NEVER, buffer_timeout=7, is_sink=True, side_types={"s": None}, extra={"c": 1}
    )
    node = program.stream_graph().nodes[number]
    assert (node.uid, node.chaining, node.buffer_timeout, node.is_sink) == ("u", ChainingStrategy.NEVER, 7, True)
    assert (node.side_types, node.extra) == ({"s": None}, {"c": 1})


# -- slot sharing groups ------------------------------------------------------------------------------------------


def groups(graph):
    return [node.slot_sharing_group for node in graph.nodes.values()]


def test_the_slot_sharing_group_is_inherited_from_the_input(program):
    source = program.source(slot_sharing_group="io")
    mapped = program.operator(source)
    program.operator(mapped)
    program.operator(mapped, slot_sharing_group="heavy")
    assert groups(program.stream_graph()) == ["io", "io", "io", "heavy"]


def test_a_source_without_a_group_is_in_the_default_one(program):
    program.source()
    assert groups(program.stream_graph()) == ["default"]


def test_inputs_of_one_group_hand_it_on(program):
    a, b = program.source(slot_sharing_group="io"), program.source(slot_sharing_group="io")
    program.operator(a, b)
    assert groups(program.stream_graph()) == ["io", "io", "io"]


def test_inputs_of_different_groups_mean_the_default_one(program):
    a, b = program.source(slot_sharing_group="io"), program.source(slot_sharing_group="other")
    program.operator(program.union(a, b))
    assert groups(program.stream_graph()) == ["io", "other", "default"]


# -- bad programs -------------------------------------------------------------------------------------------------


def test_an_empty_program_is_refused(program):
    program.union()
    with pytest.raises(InvalidProgramError, match="No operators defined"):
        program.stream_graph()


def test_a_uid_used_twice_is_refused(program):
    source = program.source("first", uid="same")
    program.operator(source, name="second", uid="same")
    with pytest.raises(InvalidProgramError, match="Hash collision on user-specified ID 'same'") as caught:
        program.stream_graph()
    assert caught.value.operator_name == "second"
    assert "'first'" in caught.value.seen


def test_a_uid_hash_used_twice_is_refused(program):
    digits = "0123456789abcdef" * 2
    source = program.source("first", uid_hash=digits)
    program.operator(source, name="second", uid_hash=digits)
    with pytest.raises(InvalidProgramError, match="collision") as caught:
        program.stream_graph()
    assert caught.value.operator_name == "second"


def test_an_operator_without_a_spec_is_refused(program):
    program.source(spec=None, name="broken")
    with pytest.raises(InvalidProgramError) as caught:
        program.stream_graph()
    assert caught.value.operator_name == "broken"


def test_the_stream_graph_is_frozen_and_pickles(program, round_trip):
    source = program.source()
    program.operator(program.partition(source, KeyGroup(len)))
    graph = program.stream_graph()
    for frozen in (graph, graph.nodes[source], graph.edges[0], graph.settings):
        with pytest.raises(FrozenInstanceError):
            frozen.name = "changed"
    copy = round_trip(graph)
    assert copy.edges == graph.edges
    assert copy.settings == graph.settings
    assert [n.operator_id for n in copy.nodes.values()] == [n.operator_id for n in graph.nodes.values()]
