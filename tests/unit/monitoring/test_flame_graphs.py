"""What is sampled is kept for a while; what showed nothing is not."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from headrace.monitoring.flame_graphs import FlameGraphs

STACK = ("Map", "f (job.py:3)")


@pytest.fixture
def clock():
    return SimpleNamespace(now=100.0)


@pytest.fixture
def flames(clock):
    return FlameGraphs(lambda: clock.now)


def epoch(stacks):
    report = SimpleNamespace(vertex="v", measures=SimpleNamespace(stacks=stacks))
    return [SimpleNamespace(vertices=[report])]


def asked(flames, clock, stacks):
    """What somebody sees who asks before an epoch with these stacks."""
    seen = []
    thread = threading.Thread(target=lambda: seen.append(flames.of("v", 30)["value"]))
    thread.start()
    while not flames.wanted():
        if not thread.is_alive():
            break
    clock.now += 5
    flames.take(epoch(stacks))
    thread.join(30)
    return seen


def test_a_graph_is_kept_for_half_a_minute(flames, clock):
    assert asked(flames, clock, {STACK: 3}) == [3]
    clock.now += 20
    assert asked(flames, clock, {STACK: 7}) == [3]
    clock.now += 20
    assert asked(flames, clock, {STACK: 7}) == [7]


def test_a_graph_without_samples_is_not_kept(flames, clock):
    assert asked(flames, clock, {}) == [0]
    assert asked(flames, clock, {STACK: 7}) == [7]
