"""Flink's chaining rule: each of its conditions alone breaks the chain."""

from __future__ import annotations

import pytest

from headrace.graph.job_graph import is_chainable
from headrace.graph.partitioners import Broadcast, Custom, Forward, Global, KeyGroup, Rebalance, Rescale, Shuffle
from headrace.graph.transformations import ChainingStrategy

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
