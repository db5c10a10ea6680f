"""Operator ids: the same at every build, and not touched by what does not change the graph."""

from __future__ import annotations

import re

from headrace.graph.partitioners import Rebalance
from headrace.graph.specs import Filter
from headrace.graph.stream_graph import hashed


def ids(graph):
    return [node.operator_id for node in graph.nodes.values()]


def build(program, *, name="map", parallelism=None, uid=None, uid_hash=None, spec=None):
    fields = {} if spec is None else {"spec": spec}
    source = program.source()
    mapped = program.operator(source, name=name, parallelism=parallelism, uid=uid, uid_hash=uid_hash, **fields)
    program.sink(mapped)
    return ids(program.stream_graph())


def test_ids_are_32_hexadecimal_digits_and_unique(program):
    found = build(program)
    assert all(re.fullmatch("[0-9a-f]{32}", i) for i in found)
    assert len(set(found)) == 3


def test_ids_are_the_same_at_every_build(program, new_program):
    assert build(program) == build(new_program())


def test_names_and_parallelism_do_not_matter(program, new_program):
    assert build(program) == build(new_program(), name="double", parallelism=7)


def test_neither_do_partitioners_and_settings(program, new_program):
    plain = build(program)
    other = new_program()
    source = other.source()
    mapped = other.operator(other.partition(source, Rebalance()), slot_sharing_group="io")
    other.sink(mapped)
    assert ids(other.stream_graph(parallelism=5, chaining_enabled=False)) == plain


def test_the_kind_of_operator_matters_for_it_and_those_after_it(program, new_program):
    plain, other = build(program), build(new_program(), spec=Filter(str))
    assert [a == b for a, b in zip(plain, other)] == [True, False, False]


def test_a_uid_decides_alone(program, new_program):
    first = build(program, uid="u")[1]
    other = new_program()
    other.source()
    other.source()
    other.operator(2, uid="u", spec=Filter(str))
    assert ids(other.stream_graph())[2] == first == hashed("uid", "u")


def test_a_uid_hash_wins_over_a_uid(program):
    digits = "00000000000000000000000000000abc"
    assert build(program, uid="u", uid_hash=digits)[1] == digits


def test_operators_that_look_alike_have_different_ids(program):
    source = program.source()
    for _ in range(3):
        program.operator(source)
    assert len(set(ids(program.stream_graph()))) == 4


def test_parts_are_kept_apart():
    assert hashed("ab", "c") != hashed("a", "bc")
