"""The registry of a program's calls."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from headrace.graph.transformations import ChainingStrategy, TransformationKind, TransformationRegistry


def test_calls_are_kept_in_order_with_rising_ids(program):
    ids = [program.source("a"), program.source("b"), program.operator(1, 2)]
    assert ids == [1, 2, 3]
    assert [t.id for t in program.registry] == ids
    assert len(program.registry) == 3


def test_a_transformation_is_replaced_not_changed(program):
    source = program.source("a")
    before = program.registry.get(source)
    after = program.registry.update(source, name="b", parallelism=3)
    assert (before.name, before.parallelism) == ("a", None)
    assert (after.name, after.parallelism) == ("b", 3)
    assert program.registry.get(source) is after
    with pytest.raises(FrozenInstanceError):
        after.name = "c"


def test_defaults_leave_everything_to_the_environment():
    registry = TransformationRegistry()
    t = registry.get(registry.add(TransformationKind.OPERATOR, ()))
    assert (t.parallelism, t.max_parallelism, t.slot_sharing_group, t.uid) == (None, None, None, None)
    assert t.chaining is ChainingStrategy.ALWAYS
    assert not t.non_parallel


def test_transformations_have_mappings_of_their_own():
    registry = TransformationRegistry()
    first, second = (registry.get(registry.add(TransformationKind.OPERATOR, ())) for _ in range(2))
    assert first.side_types is not second.side_types
    assert first.extra is not second.extra


def test_a_second_program_takes_only_what_it_builds_on(program):
    kept, forgotten = program.source("kept"), program.source("forgotten")
    view = program.union(kept)
    program.sink(forgotten)
    program.registry.start_new_program()
    sink = program.sink(view)
    assert [t.id for t in program.registry.program()] == [kept, view, sink]
    assert len(program.registry) == 5, "history stays in the registry itself"


def test_a_program_without_new_calls_is_empty(program):
    program.sink(program.source())
    program.registry.start_new_program()
    assert len(program.registry.program()) == 0


def test_ids_go_on_after_a_program_was_taken(program):
    program.source()
    taken = program.registry.program()
    assert taken.add(TransformationKind.UNION, ()) == 2


def test_transformations_pickle(program, round_trip):
    source = program.source("a", side_types={"late": None}, extra={"cpu": 2.0})
    t = program.registry.get(source)
    assert round_trip(t).extra == t.extra
    assert round_trip(t).side_types == t.side_types
