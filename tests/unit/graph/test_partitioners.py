"""Partitioners as data, and which subtasks a pointwise exchange connects."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.graph import partitioners
from headrace.graph.partitioners import pointwise_targets

ALL = [
    (partitioners.Forward(), "FORWARD", True),
    (partitioners.Rebalance(), "REBALANCE", False),
    (partitioners.Rescale(), "RESCALE", True),
    (partitioners.Shuffle(), "SHUFFLE", False),
    (partitioners.Broadcast(), "BROADCAST", False),
    (partitioners.Global(), "GLOBAL", False),
    (partitioners.Custom(max, len), "CUSTOM", False),
    (partitioners.KeyGroup(len), "HASH", False),
]


@pytest.mark.parametrize(("partitioner", "name", "pointwise"), ALL, ids=[name for _, name, _ in ALL])
def test_partitioners_are_named_as_in_flinks_plan(partitioner, name, pointwise, round_trip):
    assert partitioner.name == name
    assert partitioner.pointwise is pointwise
    assert round_trip(partitioner) == partitioner
    with pytest.raises(FrozenInstanceError):
        partitioner.name = "other"


def test_no_partitioner_is_left_out():
    assert {type(p) for p, _, _ in ALL} == set(partitioners.Partitioner.__subclasses__())


@pytest.mark.parametrize(
    ("upstream", "downstream", "layout"),
    [
        (1, 1, [[0]]),
        (3, 3, [[0], [1], [2]]),
        (1, 4, [[0, 1, 2, 3]]),
        (2, 4, [[0, 1], [2, 3]]),
        (2, 5, [[0, 1, 2], [3, 4]]),
        (3, 7, [[0, 1, 2], [3, 4], [5, 6]]),
        (4, 1, [[0], [0], [0], [0]]),
        (4, 2, [[0], [0], [1], [1]]),
        (5, 2, [[0], [0], [1], [1], [1]]),
        (7, 3, [[0], [0], [1], [1], [2], [2], [2]]),
    ],
)
def test_pointwise_layouts(upstream, downstream, layout):
    assert [list(pointwise_targets(i, upstream, downstream)) for i in range(upstream)] == layout


@given(st.integers(1, 40), st.integers(1, 40))
def test_a_pointwise_exchange_reaches_everybody_evenly(upstream, downstream):
    targets = [list(pointwise_targets(i, upstream, downstream)) for i in range(upstream)]
    assert all(targets), "every upstream subtask has somewhere to send to"
    assert {t for reached in targets for t in reached} == set(range(downstream))
    # Groups stay together: subtasks in order reach targets in order.
    flat = [t for reached in targets for t in reached]
    assert flat == sorted(flat)
    if upstream >= downstream:
        assert all(len(reached) == 1 for reached in targets)
        fed = [flat.count(t) for t in range(downstream)]
        assert max(fed) - min(fed) <= 1
    else:
        assert len(flat) == downstream, "no downstream subtask is fed twice"
        sizes = [len(reached) for reached in targets]
        assert max(sizes) - min(sizes) <= 1
