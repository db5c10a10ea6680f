"""Aggregations on both backends, restarted and rescaled after every step; nothing is left once windows have ended."""

from __future__ import annotations

import pytest
from tests.unit.operators.table.aggregate_calls import call
from tests.unit.operators.table.driving import MODES, check, play

from headrace.graph.table_specs import GroupAggregate, TimeWindow, WindowAggregate
from headrace.types import logical_types as t

INSERT, BEFORE, AFTER, DELETE = range(4)
MS = 1000


def check_windows(spec, keys, script):
    """As `check`; the rows of one window have no order."""
    expected = [sorted(rows) for _, rows in script]
    for mode in MODES:
        results, entries = play(spec, keys, [step for step, _ in script], mode)
        assert ([sorted(rows) for rows in results], entries) == (expected, 0), mode


def test_group_aggregate():
    calls = (
        call("SUM", 1, kinds=True),
        call("MAX", 1, kinds=True),
        call("COUNT", 1, kinds=True, distinct=True),
        call("LISTAGG", 2, kinds=True, type=t.VarCharType()),
    )
    check(
        GroupAggregate((0,), calls, kinds=True),
        [(0,)],
        [
            (("left", ("a", 1, "x", INSERT), ("b", 5, "y", INSERT)), [("a", 1, 1, 1, "x", 0), ("b", 5, 5, 1, "y", 0)]),
            (("left", ("a", 1, "z", INSERT)), [("a", 1, 1, 1, "x", 1), ("a", 2, 1, 1, "x,z", 2)]),
            (("left", ("a", 1, "x", DELETE)), [("a", 2, 1, 1, "x,z", 1), ("a", 1, 1, 1, "z", 2)]),
            (("left", ("a", 1, "z", DELETE), ("b", 5, "y", DELETE)), [("a", 1, 1, 1, "z", 3), ("b", 5, 5, 1, "y", 3)]),
        ],
        left=0,
    )


@pytest.mark.parametrize("ttl", [0, 1000])
def test_group_aggregate_with_time_to_live(ttl):
    script = [
        (("left", ("a", 1)), [("a", 1, 1, INSERT)]),
        (("clock", 900), []),
        (("left", ("a", 1)), [("a", 1, 1, BEFORE), ("a", 2, 1, AFTER)]),
        (("clock", 2000), []),
    ]
    last = [("a", 1, 1, INSERT)] if ttl else [("a", 2, 1, BEFORE), ("a", 3, 1, AFTER)]
    calls = (call("COUNT"), call("COUNT", 1, distinct=True))
    check(GroupAggregate((0,), calls, ttl=ttl), [(0,)], [*script, (("left", ("a", 1)), last)])


@pytest.mark.parametrize("vectorised", [False, True])
def test_windows(vectorised):
    calls = (call("COUNT", vectorised=vectorised), call("SUM", 2, vectorised=vectorised))
    check_windows(
        WindowAggregate(TimeWindow("HOP", 10, 5), 0, (1,), calls),
        [(1,)],
        [
            (("left", (1 * MS, "a", 1), (7 * MS, "b", 2)), []),
            (("watermark", 4), [("a", 1, 1, -5 * MS, 5 * MS)]),
            (("left", (8 * MS, "a", 3), (2 * MS, "b", 7), (-8 * MS, "a", 9)), []),
            (("watermark", 9), [("a", 2, 4, 0, 10 * MS), ("b", 2, 9, 0, 10 * MS)]),
            (("watermark", 14), [("b", 1, 2, 5 * MS, 15 * MS), ("a", 1, 3, 5 * MS, 15 * MS)]),
        ],
    )


@pytest.mark.parametrize("vectorised", [False, True])
def test_sessions(vectorised):
    check_windows(
        WindowAggregate(TimeWindow("SESSION", 5), 0, (1,), (call("COUNT", vectorised=vectorised),)),
        [(1,)],
        [
            (("left", (1 * MS, "a"), (8 * MS, "a"), (3 * MS, "b")), []),
            (("left", (5 * MS, "a")), []),
            (("watermark", 8), [("b", 1, 3 * MS, 8 * MS)]),
            (("left", (3 * MS, "b"), (12 * MS, "a")), []),
            (("watermark", 16), [("a", 4, 1 * MS, 17 * MS)]),
        ],
    )
