"""Levels: any graph as one line of stages."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.graph.partitioners import Broadcast, Forward, KeyGroup, Rebalance, Rescale
from headrace.graph.transformations import ChainingStrategy

ALONE = {"chaining": ChainingStrategy.NEVER}


def layout(graph, plan):
    """Levels as lists of groups, groups as lists of vertex names."""
    return [[[graph.vertices[v].name for v in g.vertices] for g in level.groups] for level in plan.levels]


def levels(graph, plan):
    return {graph.vertices[v].name: level for v, level in plan.level_of.items()}


def edge_between(graph, source, target):
    return next(
        e for e in graph.edges if graph.vertices[e.source].name == source and graph.vertices[e.target].name == target
    )


def test_a_chain_is_one_level(program):
    program.sink(program.operator(program.source("a"), name="b"), name="c")
    graph, plan = program.plan(parallelism=3)
    assert layout(graph, plan) == [[["a -> b -> c"]]]
    assert plan.levels[0].partitions == 3


def test_every_exchange_is_a_level(program):
    keyed = program.operator(program.partition(program.source("a"), KeyGroup(len)), name="b")
    program.sink(program.partition(keyed, Rebalance()), name="c", parallelism=1)
    graph, plan = program.plan(parallelism=2)
    assert layout(graph, plan) == [[["a"]], [["b"]], [["c"]]]
    assert [level.partitions for level in plan.levels] == [2, 2, 1]
    assert [level.index for level in plan.levels] == [0, 1, 2]


def test_unchained_forward_edges_stay_in_one_task(program):
    mapped = program.operator(program.source("a"), name="b", **ALONE)
    program.sink(mapped, name="c")
    graph, plan = program.plan(parallelism=2)
    assert layout(graph, plan) == [[["a", "b", "c"]]]
    assert plan.levels[0].partitions == 2, "the group's subtasks, not those of each vertex"
    assert all(plan.is_local(e) for e in graph.edges)


def test_a_diamond_meets_at_its_longest_way(program):
    source = program.source("a")
    short = program.partition(source, KeyGroup(len))
    once = program.operator(program.partition(source, Rebalance()), name="b")
    twice = program.operator(program.partition(once, Rebalance()), name="c")
    program.sink(short, program.partition(twice, KeyGroup(len)), name="d")
    graph, plan = program.plan(parallelism=2)
    assert levels(graph, plan) == {"a": 0, "b": 1, "c": 2, "d": 3}
    # The frames of a go past two levels unopened.
    assert not plan.is_local(edge_between(graph, "a", "d"))


def test_a_union_of_forward_streams_is_one_task_group(program):
    a, b = program.source("a"), program.source("b")
    program.sink(program.union(a, b), name="c")
    graph, plan = program.plan(parallelism=2)
    assert layout(graph, plan) == [[["a", "b", "c"]]]
    assert plan.levels[0].partitions == 2


def test_a_union_of_streams_from_different_levels_is_not_local_where_it_crosses(program):
    a, b = program.source("a"), program.source("b")
    later = program.operator(program.partition(b, Rebalance()), name="later", **ALONE)
    program.sink(program.union(a, later), name="c", **ALONE)
    graph, plan = program.plan(parallelism=2)
    assert levels(graph, plan) == {"a": 0, "b": 0, "later": 1, "c": 1}
    crossing, local = edge_between(graph, "a", "c"), edge_between(graph, "later", "c")
    assert isinstance(crossing.edge.partitioner, Forward)
    assert not plan.is_local(crossing)
    assert plan.is_local(local)
    assert layout(graph, plan)[1] == [["later", "c"]]


def test_connect_with_one_forward_and_one_keyed_input(program):
    plain, keyed = program.source("plain"), program.source("keyed")
    program.operator(plain, program.partition(keyed, KeyGroup(len)), name="both")
    graph, plan = program.plan(parallelism=2)
    assert levels(graph, plan) == {"plain": 0, "keyed": 0, "both": 1}
    forward, exchange = edge_between(graph, "plain", "both"), edge_between(graph, "keyed", "both")
    assert not plan.is_local(forward)
    assert not plan.is_local(exchange)


def test_a_forward_edge_lifts_what_follows_to_its_own_level(program):
    # b is at level 1; c follows by forward edges only and must not be run before it.
    a, other = program.source("a"), program.source("other")
    b = program.operator(program.partition(a, KeyGroup(len)), other, name="b", **ALONE)
    c = program.operator(b, name="c", **ALONE)
    program.sink(c, name="d", **ALONE)
    graph, plan = program.plan()
    assert levels(graph, plan) == {"a": 0, "other": 0, "b": 1, "c": 1, "d": 1}
    assert layout(graph, plan) == [[["a"], ["other"]], [["b", "c", "d"]]]


def test_groups_of_a_level_stand_side_by_side(program):
    a, b = program.source("a", parallelism=2), program.source("b", parallelism=3)
    program.sink(program.partition(a, Rescale()), name="s", parallelism=1)
    program.sink(program.partition(b, Broadcast()), name="t", parallelism=4)
    graph, plan = program.plan()
    first = plan.levels[0]
    assert [(g.first_partition, g.parallelism) for g in first.groups] == [(0, 2), (2, 3)]
    assert first.partitions == 5
    by_name = {v.name: v.id for v in graph.vertices.values()}
    assert plan.address(by_name["b"], 2) == (0, 4)
    assert plan.address(by_name["t"], 3) == (1, 4)
    group, subtask = first.locate(3)
    assert (group.vertices, subtask) == ((by_name["b"],), 1)
    with pytest.raises(IndexError):
        first.locate(5)


def test_several_sources_and_sinks(program):
    a, b = program.source("a"), program.source("b")
    program.sink(a, name="s1")
    program.sink(program.partition(a, Rebalance()), name="s2")
    joined = program.operator(program.partition(a, KeyGroup(len)), program.partition(b, KeyGroup(len)), name="j")
    program.sink(joined, name="s3")
    program.sink(program.partition(joined, Rebalance()), name="s4")
    graph, plan = program.plan()
    assert layout(graph, plan) == [[["a -> s1"], ["b"]], [["s2"], ["j -> s3"]], [["s4"]]]


def test_groups_are_merged_over_several_forward_edges(program):
    # a -> c, b -> d, then both -> e: five vertices, one group, in topological order.
    a, b = program.source("a"), program.source("b")
    c, d = program.operator(a, name="c", **ALONE), program.operator(b, name="d", **ALONE)
    program.sink(program.union(c, d), name="e")
    graph, plan = program.plan(parallelism=2)
    assert layout(graph, plan) == [[["a", "b", "c", "d", "e"]]]


def test_a_side_output_travels_like_any_edge(program):
    source = program.source("a")
    program.sink(program.partition(program.side_output(source, "late"), Rebalance()), name="late")
    program.sink(source, name="s")
    graph, plan = program.plan()
    assert layout(graph, plan) == [[["a -> s"]], [["late"]]]


def test_the_plan_is_frozen_and_pickles(program, round_trip):
    program.sink(program.partition(program.source("a"), KeyGroup(len)), name="b")
    _, plan = program.plan()
    for frozen in (plan, plan.levels[0], plan.levels[0].groups[0]):
        with pytest.raises(FrozenInstanceError):
            frozen.index = 7
    assert round_trip(plan) == plan


# -- any graph ----------------------------------------------------------------------------------------------------

PARTITIONERS = [None, Rebalance(), KeyGroup(len), Broadcast()]


@st.composite
def random_programs(draw):
    """Operators with one or two inputs from anywhere before them, by any way."""
    shape = []
    for number in range(draw(st.integers(1, 9))):
        count = 0 if number == 0 else draw(st.integers(0, 2))
        shape.append([(draw(st.integers(0, number - 1)), draw(st.sampled_from(PARTITIONERS))) for _ in range(count)])
    return shape


@given(random_programs(), st.integers(1, 3))
def test_any_graph_is_a_line_of_levels(new_program, shape, parallelism):
    program = new_program()
    made: list[int] = []
    for inputs in shape:
        views = [made[i] if p is None else program.partition(made[i], p) for i, p in inputs]
        made.append(program.operator(*views, name=f"n{len(made)}") if views else program.source(f"n{len(made)}"))
    graph, plan = program.plan(parallelism=parallelism)

    placed = [v for level in plan.levels for group in level.groups for v in group.vertices]
    assert sorted(placed) == sorted(graph.vertices), "every vertex runs once"
    for edge in graph.edges:
        up, down = plan.level_of[edge.source], plan.level_of[edge.target]
        if isinstance(edge.edge.partitioner, Forward):
            assert up <= down
        else:
            assert up < down
        if plan.is_local(edge):
            (group,) = [g for g in plan.levels[up].groups if edge.source in g.vertices]
            assert group.vertices.index(edge.source) < group.vertices.index(edge.target)
    for level in plan.levels:
        located = [level.locate(p) for p in range(level.partitions)]
        assert len({(g.vertices, s) for g, s in located}) == level.partitions
        assert level.partitions == sum(g.parallelism for g in level.groups)
        for group in level.groups:
            for vertex in group.vertices:
                assert graph.vertices[vertex].parallelism == group.parallelism
                for subtask in range(group.parallelism):
                    assert level.locate(plan.address(vertex, subtask)[1]) == (group, subtask)
