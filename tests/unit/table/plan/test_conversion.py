"""Which operators run windows and joins."""

import pytest
from plan_kit import Tables, find, labels, lines

from headrace.table.plan.settings import PlanSettings

TUMBLE = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES))"


@pytest.fixture
def tables():
    found = Tables()
    found.create("t (a INT, b BIGINT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)")
    found.create("s (x INT, y BIGINT, ts2 TIMESTAMP(3), q AS PROCTIME(), WATERMARK FOR ts2 AS ts2)")
    return found


@pytest.mark.parametrize(
    ("condition", "lower", "upper"),
    [
        ("s.ts2 BETWEEN t.ts - INTERVAL '10' SECOND AND t.ts + INTERVAL '1' SECOND", -10_000, 1_000),
        ("t.ts BETWEEN s.ts2 - INTERVAL '10' SECOND AND s.ts2 + INTERVAL '1' SECOND", -1_000, 10_000),
        ("s.ts2 > t.ts AND s.ts2 < t.ts + INTERVAL '1' MINUTE", 1, 59_999),
        ("t.ts + INTERVAL '5' SECOND >= s.ts2 AND t.ts <= s.ts2", 0, 5_000),
        ("t.ts = s.ts2", 0, 0),
        ("s.ts2 - INTERVAL '2' SECOND = t.ts", 2_000, 2_000),
    ],
)
@pytest.mark.parametrize("kind", ["INNER", "LEFT", "RIGHT", "FULL"])
def test_bounds_between_times_make_an_interval_join(tables, condition, lower, upper, kind):
    plan = tables.plan(f"SELECT t.a, s.y FROM t {kind} JOIN s ON t.a = s.x AND {condition}")
    join = find(plan.root, "IntervalJoin")
    assert (join.lower, join.upper, join.event_time, join.condition) == (lower, upper, True, None)
    assert join.left_keys == (0,)


def test_processing_time_bounds(tables):
    plan = tables.plan("SELECT t.a FROM t JOIN s ON t.a = s.x AND t.p BETWEEN s.q - INTERVAL '5' SECOND AND s.q")
    join = find(plan.root, "IntervalJoin")
    assert (join.lower, join.upper, join.event_time) == (0, 5_000, False)


@pytest.mark.parametrize(
    "condition",
    ["t.ts >= s.ts2", "t.ts BETWEEN s.ts2 AND s.ts2 + INTERVAL '1' MINUTE OR t.b = 1", "CAST(t.ts AS STRING) = 'x'"],
)
def test_other_conditions_make_a_regular_join(tables, condition):
    assert "Join" in labels(tables.plan(f"SELECT t.a, s.y FROM t JOIN s ON t.a = s.x AND ({condition})").root)


def test_join_keys_and_what_remains(tables):
    join = find(tables.plan("SELECT a FROM t JOIN s ON a IS NOT DISTINCT FROM x AND b = y AND a < y").root, "Join")
    assert (join.left_keys, join.right_keys, join.null_safe) == ((0, 1), (0, 1), (True, False))
    assert join.condition is not None


def test_window_functions_are_merged_into_aggregations(tables):
    query = f"SELECT window_end, a, SUM(b) FROM {TUMBLE} WHERE b > 1 GROUP BY a, window_start, window_end"
    window = find(tables.plan(query).root, "WindowAggregate")
    assert (window.attached, window.window.size) == (None, 600_000)
    assert "WindowTableFunction" not in labels(window)


def test_expressions_over_windows_keep_the_window_function(tables):
    query = f"SELECT window_end, COUNT(*) FROM {TUMBLE} WHERE window_end > ts GROUP BY window_start, window_end"
    window = find(tables.plan(query).root, "WindowAggregate")
    assert window.attached is not None
    assert "WindowTableFunction" in labels(window)


def test_a_window_needs_both_ends_among_the_groups(tables):
    assert "GroupAggregate" in labels(tables.plan(f"SELECT COUNT(*) FROM {TUMBLE} GROUP BY window_start").root)


def test_windows_of_windows_are_attached(tables):
    inner = f"SELECT window_start, window_end, a, SUM(b) AS s FROM {TUMBLE} GROUP BY window_start, window_end, a"
    plan = tables.plan(f"SELECT window_start, window_end, MAX(s) FROM ({inner}) GROUP BY window_start, window_end")
    outer = find(plan.root, "WindowAggregate")
    assert outer.attached is not None
    assert find(outer.input, "WindowAggregate").attached is None


def test_top_n_and_joins_per_window(tables):
    numbered = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, a ORDER BY b) AS n FROM {TUMBLE}"
    rank = find(tables.plan(f"SELECT * FROM ({numbered}) WHERE n <= 3").root, "WindowRank")
    assert rank.partition_by == (0,)
    right = "TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts2), INTERVAL '10' MINUTES))"
    on = "L.a = R.x AND L.window_start = R.window_start AND L.window_end = R.window_end"
    join = f"SELECT L.a FROM (SELECT * FROM {TUMBLE}) L JOIN (SELECT * FROM {right}) R ON {on}"
    assert find(tables.plan(join).root, "WindowJoin").left_keys == (0,)
    other = join.replace("DESCRIPTOR(ts2), INTERVAL '10'", "DESCRIPTOR(ts2), INTERVAL '20'")
    assert "WindowJoin" not in labels(tables.plan(other).root)


def test_partial_aggregation_before_the_exchange(tables):
    query = f"SELECT a, COUNT(*), SUM(b) FROM {TUMBLE} GROUP BY a, window_start, window_end"
    settings = PlanSettings(two_phase=True)
    assert labels(tables.plan(query, settings).root)[1:4] == [
        "GlobalWindowAggregate",
        "Exchange",
        "LocalWindowAggregate",
    ]
    distinct = query.replace("COUNT(*)", "COUNT(DISTINCT b)")
    assert "WindowAggregate" in labels(tables.plan(distinct, settings).root)


def test_expressions_of_equalities_become_keys(tables):
    join = find(tables.plan("SELECT a FROM t JOIN s ON a + 1 = x AND a < y").root, "Join")
    assert len(join.left_keys) == 1
    assert any("(a + 1)" in line for line in lines(join.inputs[0]))


@pytest.mark.parametrize("kind", ["TUMBLE", "HOP", "SESSION"])
def test_legacy_windows(tables, kind):
    sizes = {
        "TUMBLE": "INTERVAL '1' HOUR",
        "HOP": "INTERVAL '1' HOUR, INTERVAL '2' HOUR",
        "SESSION": "INTERVAL '1' HOUR",
    }
    query = f"SELECT a, {kind}_START(ts, {sizes[kind]}) FROM t GROUP BY a, {kind}(ts, {sizes[kind]})"
    window = find(tables.plan(query).root, "GroupWindowAggregate")
    assert (window.window.kind, window.properties, window.legacy) == (kind, ("start",), True)
