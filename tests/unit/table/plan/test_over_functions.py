"""OVER from SQL to rows in batch mode: functions are recognized by their names, not by the names of columns."""

from plan_kit import Tables

from headrace.table.plan.settings import PlanSettings

BATCH = PlanSettings.of({}, True)


def scores() -> Tables:
    return Tables().create("scores (team STRING, points INT)", [("a", 5), ("a", 5), ("a", 3), ("b", 1)])


def test_ranks_have_gaps_after_peers():
    sql = (
        "SELECT team, points, RANK() OVER w AS place, DENSE_RANK() OVER w, PERCENT_RANK() OVER w AS p "
        "FROM scores WINDOW w AS (PARTITION BY team ORDER BY points)"
    )
    expected = [("a", 3, 1, 1, 0.0), ("a", 5, 2, 2, 0.5), ("a", 5, 2, 2, 0.5), ("b", 1, 1, 1, 0.0)]
    assert sorted(scores().rows(sql, BATCH)) == expected


def test_rows_before_and_after():
    sql = (
        "SELECT team, points, LAG(points) OVER w AS b, LEAD(points, 1, -1) OVER w AS c "
        "FROM scores WINDOW w AS (PARTITION BY team ORDER BY points)"
    )
    expected = [("a", 3, None, 5), ("a", 5, 3, 5), ("a", 5, 5, -1), ("b", 1, None, -1)]
    assert sorted(scores().rows(sql, BATCH), key=str) == sorted(expected, key=str)
