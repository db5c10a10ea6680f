"""What rules make of queries."""

import pytest
from plan_kit import Tables, find, labels, lines

from headrace.table.errors import SqlNotSupportedError
from headrace.table.plan.settings import PlanSettings


@pytest.fixture
def tables():
    found = Tables()
    found.create("t (a INT, b BIGINT, c STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)")
    found.create("l (x INT, y INT)", projects=True)
    found.create("r (x INT, z INT)", projects=True)
    return found


def test_projections_and_filters_become_one_calculation(tables):
    plan = tables.plan("SELECT a2 + 1 FROM (SELECT a * 2 AS a2, b FROM t WHERE b > 1) WHERE a2 < 10")
    assert labels(plan.root) == ["Calc", "WatermarkAssigner", "Calc", "TableSourceScan"]
    assert "where=[((b > 1) AND ((a * 2) < 10))]" in lines(plan.root)[0]


def test_a_random_number_is_evaluated_once(tables):
    plan = tables.plan("SELECT n, n + 1 FROM (SELECT RAND() AS n FROM l)")
    assert labels(plan.root) == ["Calc", "Calc", "TableSourceScan"]


def test_constants_are_folded_and_an_impossible_condition_reads_nothing(tables):
    assert "where=[(x > 3)]" in lines(tables.plan("SELECT * FROM l WHERE x > 1 + 2 AND 1 = 1").root)[0]
    assert labels(tables.plan("SELECT * FROM l WHERE 1 = 2").root) == ["Values"]


def test_sources_read_only_needed_columns(tables):
    scan = find(tables.plan("SELECT COUNT(z) FROM r").root, "TableSourceScan")
    assert scan.row_type.field_names() == ["z"]


@pytest.mark.parametrize(
    ("kind", "where", "join", "filtered"),
    [
        ("INNER", "l.y > 1", "InnerJoin", "y"),
        ("LEFT", "l.y > 1", "LeftOuterJoin", "y"),
        ("LEFT", "r.z > 1", "InnerJoin", "z"),
        ("RIGHT", "l.y > 1", "InnerJoin", "y"),
        ("FULL", "l.y > 1", "LeftOuterJoin", "y"),
        ("FULL", "r.z > 1", "RightOuterJoin", "z"),
        ("FULL", "l.y = r.z", "InnerJoin", None),
        ("LEFT", "r.z IS NULL", "LeftOuterJoin", None),
    ],
)
def test_filters_move_to_the_sides_of_joins(tables, kind, where, join, filtered):
    plan = tables.plan(f"SELECT l.x, y, z FROM l {kind} JOIN r ON l.x = r.x WHERE {where}")
    node = find(plan.root, "Join")
    assert node.shown_kind() == join
    sides = [find(each, "TableSourceScan") for each in node.inputs]
    calcs = [line for each in node.inputs for line in lines(each) if "where=" in line]
    assert [f"({filtered} > 1)" in line for line in calcs] == ([True] if filtered else [])
    assert len(sides) == 2


def test_conditions_of_one_side_leave_the_join_where_this_is_the_same(tables):
    left = tables.plan("SELECT * FROM l LEFT JOIN r ON l.x = r.x AND r.z > 1 AND l.y > 2")
    assert find(left.root, "Join").condition is not None  # l.y > 2 decides about partners, not about rows of l
    inner = tables.plan("SELECT * FROM l JOIN r ON l.x = r.x AND r.z > 1 AND l.y > 2")
    assert find(inner.root, "Join").condition is None


def test_top_n_needs_an_end(tables):
    query = "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) AS n FROM t) WHERE n > 2"
    with pytest.raises(SqlNotSupportedError, match="Rank end is not specified"):
        tables.plan(query)


@pytest.mark.parametrize(
    ("condition", "start", "end"),
    [("n <= 3", 1, 3), ("n < 3", 1, 2), ("n = 2", 2, 2), ("3 >= n AND 2 <= n", 2, 3), ("n BETWEEN 2 AND 5", 2, 5)],
)
def test_ranges_of_ranks(tables, condition, start, end):
    query = f"SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) AS n FROM t) WHERE {condition}"
    rank = find(tables.plan(query).root, "Rank")
    assert (rank.start, rank.end) == (start, end)


def test_the_rank_is_not_kept_if_nothing_reads_it(tables):
    inner = "SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) AS n FROM t"
    assert find(tables.plan(f"SELECT * FROM ({inner}) WHERE n <= 3").root, "Rank").with_rank
    assert not find(tables.plan(f"SELECT a, c FROM ({inner}) WHERE n <= 3").root, "Rank").with_rank


def test_a_variable_number_of_rows(tables):
    query = "SELECT x, y FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY x ORDER BY y) AS n FROM l) WHERE n <= y"
    assert find(tables.plan(query).root, "Rank").end_column == 1


def test_sorting_needs_time_or_a_limit(tables):
    with pytest.raises(SqlNotSupportedError, match="Sort on a non-time-attribute field is not supported"):
        tables.plan("SELECT * FROM l ORDER BY x")
    assert labels(tables.plan("SELECT * FROM l ORDER BY x", PlanSettings(batch=True)).root)[0] == "Sort"
    assert labels(tables.plan("SELECT * FROM t ORDER BY ts, a").root)[0] == "TemporalSort"
    assert labels(tables.plan("SELECT * FROM l ORDER BY x LIMIT 2").root)[0] == "SortLimit"
