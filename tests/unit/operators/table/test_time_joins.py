"""Interval joins, window joins, window ranks and temporal joins."""

import pytest
from tests.unit.operators.table.driving import Driven, check

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.graph.table_join_specs import IntervalJoin, JoinSide, TemporalJoin, WindowJoin
from headrace.graph.table_sort_specs import WindowRank
from headrace.graph.table_specs import SortOrder

I, UB, UA, D = range(4)  # noqa: E741
KEYS = ((0,), (0,))


class Different:
    """The third columns differ."""

    def pair(self, left, right):
        return left[2] != right[2]


def row(key, milliseconds, value):
    return (key, milliseconds * 1000, value)


def interval(kind, lower=-10, upper=20, **options):
    return IntervalJoin(kind, JoinSide((0,), 3, time=1), JoinSide((0,), 3, time=1), lower, upper, **options)


NULLS = (None, None, None)


def test_rows_of_an_interval_meet_and_leave_no_state():
    a, b = row("k", 100, "a"), row("k", 120, "b")
    script = [
        (("left", a), []),
        (
            ("right", row("k", 89, "x"), row("k", 90, "y"), row("k", 120, "z"), row("k", 121, "u")),
            [a + row("k", 90, "y"), a + row("k", 120, "z")],
        ),
        (("left", b), [b + row("k", 120, "z"), b + row("k", 121, "u")]),
        (("left", row(None, 100, "n")), []),
        (("right", row(None, 100, "m")), []),
        (("watermark", 300), []),
    ]
    check(interval("INNER"), KEYS, script, left=0)


def test_watermarks_are_held_back_because_results_can_be_old():
    driven = Driven(interval("INNER"), *KEYS)
    forwarded = []
    driven.operators[0].output.main[0].process_watermark = forwarded.append
    driven.to(100)
    driven.to(MAX_WATERMARK)
    assert forwarded == [80, MAX_WATERMARK]


def test_rows_without_partner_get_nulls_when_their_interval_has_passed():
    a, b, x, y = row("k", 100, "a"), row("k", 200, "b"), row("k", 105, "x"), row("k", 300, "y")
    script = [
        (("left", a, b), []),
        (("right", x, y), [a + x]),
        (("watermark", 220), []),
        (("watermark", 236), [b + NULLS]),
        (("watermark", MAX_WATERMARK), [NULLS + y]),
    ]
    check(interval("FULL"), KEYS, script, left=0)


def test_a_row_behind_its_interval_gets_nulls_at_once():
    a = row("k", 100, "a")
    script = [
        (("watermark", 120), []),
        (("left", a), [a + NULLS]),
        (("right", row("k", 110, "x")), [NULLS + row("k", 110, "x")]),
    ]
    check(interval("FULL"), KEYS, script, left=0)


def test_late_rows_meet_what_is_kept():
    x = row("k", 110, "x")
    script = [
        (("right", x), []),
        (("watermark", 115), []),
        (("left", row("k", 95, "a")), [row("k", 95, "a") + x]),
        (("watermark", 500), []),
    ]
    check(interval("INNER"), KEYS, script, left=0)


def test_other_conditions_of_an_interval_join():
    a, x, y = row("k", 100, "a"), row("k", 100, "a"), row("k", 101, "b")
    script = [
        (("left", a), []),
        (("right", x), []),
        (("right", y), [a + y]),
        (("watermark", 500), [NULLS + x]),
    ]
    check(interval("FULL", condition=Different()), KEYS, script, left=0)


def test_an_interval_of_processing_time():
    script = [
        (("left", row("k", 0, "a")), []),
        (("clock", 20), []),
        (("right", row("k", 0, "x")), [row("k", 0, "a") + row("k", 0, "x")]),
        (("clock", 21), []),
        (("right", row("k", 0, "y")), []),
        (("left", row("k", 0, "b")), [row("k", 0, "b") + row("k", 0, "x"), row("k", 0, "b") + row("k", 0, "y")]),
        (("clock", 1000), []),
    ]
    check(interval("LEFT", event_time=False), KEYS, script, left=0)


# -- windows ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("INNER", ["ax", "ay"]),
        ("LEFT", ["ax", "ay", "b-", "n-"]),
        ("RIGHT", ["ax", "ay", "-z", "-m"]),
        ("FULL", ["ax", "ay", "b-", "-z", "n-", "-m"]),
        ("SEMI", ["a"]),
        ("ANTI", ["b", "n"]),
    ],
)
def test_rows_of_the_same_window_meet(kind, expected):
    rows = {
        "a": row("k", 10, "a"), "b": row("l", 10, "b"), "n": row(None, 10, "n"),
        "x": row("k", 10, "x"), "y": row("k", 10, "y"), "z": row("k", 20, "z"), "m": row(None, 10, "m"), "-": NULLS,
    }  # fmt: skip
    spec = WindowJoin(kind, JoinSide((0,), 3), JoinSide((0,), 3), 1, 1)
    results = [sum((rows[name] for name in pair), ()) for pair in expected]
    script = [
        (("left", rows["a"], rows["b"], rows["n"]), []),
        (("right", rows["x"], rows["y"], rows["z"], rows["m"]), []),
        (("watermark", 8), []),
        (("watermark", 9), [r for r in results if rows["z"] != r[3:]]),
        (("left", row("k", 10, "late")), []),
        (("watermark", MAX_WATERMARK), [r for r in results if rows["z"] == r[3:]]),
    ]
    check(spec, KEYS, script, left=0)


def test_windows_of_processing_time_and_other_zones():
    hour = 3_600_000
    spec = WindowJoin(
        "INNER", JoinSide((0,), 3), JoinSide((0,), 3), 1, 1, event_time=False, time_zone="Europe/Berlin", local=False
    )
    end = row("k", 2 * hour, "a")
    script = [
        (("left", end), []),
        (("right", end), []),
        (("clock", hour - 2), []),
        (("clock", hour - 1), [end + end]),
    ]
    check(spec, KEYS, script, left=0)


def test_the_first_rows_of_a_window():
    spec = WindowRank((0,), 1, (SortOrder(2),), 1, 2, rank_column=True)
    script = [
        (("left", row("k", 10, 3), row("k", 10, 1), row("k", 20, 7), row("k", 10, 2), row("l", 10, 5)), []),
        (("watermark", 9), [(*row("k", 10, 1), 1), (*row("k", 10, 2), 2), (*row("l", 10, 5), 1)]),
        (("left", row("k", 10, 0)), []),
        (("watermark", 30), [(*row("k", 20, 7), 1)]),
    ]
    check(spec, KEYS[:1], script, left=0)
    many = WindowRank((0,), 1, (SortOrder(2, descending=True),), 2, 3, rank_column=False)
    script = [
        (("left", *[row("k", 10, i) for i in range(100)]), []),
        (("watermark", 9), [row("k", 10, 98), row("k", 10, 97)]),
    ]
    check(many, KEYS[:1], script, left=0)


# -- temporal joins ---------------------------------------------------------------------------------------------------


def temporal(kind, left_kinds=False, right_kinds=True, **options):
    left, right = JoinSide((0,), 3, left_kinds, time=1), JoinSide((0,), 3, right_kinds, time=1)
    return TemporalJoin(kind, left, right, **options)


def test_left_rows_meet_the_version_of_their_time():
    v1, v2 = row("k", 10, "v1"), row("k", 20, "v2")
    a, b, c, d = row("k", 25, "a"), row("k", 15, "b"), row("k", 5, "c"), row("k", 40, "d")
    script = [
        (("left", a, b, c, d), []),
        (("right", (*v2, UA), (*v1, I)), []),
        (("watermark", 15), [b + v1, c + NULLS]),
        (("right", (*row("k", 30, "v2"), D)), []),
        (("watermark", 50), [a + v2, d + NULLS]),
        (("right", (*row("k", 60, "v3"), I)), []),
        (("watermark", 70), []),
    ]
    check(temporal("LEFT"), KEYS, script, left=1)


def test_an_inner_temporal_join_drops_rows_without_version_and_keeps_kinds():
    v1 = row("k", 10, "v1")
    script = [
        (("right", v1), []),
        (("left", (*row("k", 15, "a"), UB), (*row("l", 15, "b"), I), (*row(None, 15, "c"), I)), []),
        (("watermark", 50), [row("k", 15, "a") + v1 + (UB,)]),
    ]
    check(temporal("INNER", True, False), KEYS, script, left=1)


def test_a_condition_of_a_temporal_join():
    script = [
        (("right", row("k", 10, "a")), []),
        (("left", row("k", 15, "a"), row("k", 16, "b")), []),
        (("watermark", 50), [row("k", 15, "a") + NULLS, row("k", 16, "b") + row("k", 10, "a")]),
    ]
    check(temporal("LEFT", False, False, condition=Different()), KEYS, script)


def test_processing_time_meets_the_latest_version():
    script = [
        (("left", row("k", 0, "a")), [row("k", 0, "a") + NULLS]),
        (("right", (*row("k", 0, "v1"), I)), []),
        (("left", row("k", 0, "b")), [row("k", 0, "b") + row("k", 0, "v1")]),
        (("right", (*row("k", 0, "v1"), D)), []),
        (("left", row("k", 0, "c")), [row("k", 0, "c") + NULLS]),
    ]
    check(temporal("LEFT", event_time=False), KEYS, script, left=0)
