"""Queries from SQL to rows on the local executor."""

from plan_kit import Tables

EVENTS = [(1, 10, "x", 1_000_000), (2, 20, "y", 2_000_000), (1, 30, "z", 3_000_000)]


def events() -> Tables:
    ddl = "t (a INT, b BIGINT, c STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)"
    return Tables().create(ddl, EVENTS)


def test_calculations_of_constants_and_tables():
    assert Tables().rows("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(x, y) WHERE x > 1") == [(2, "b")]
    assert events().rows("SELECT a + 1, c FROM t WHERE b > 10") == [(3, "y"), (2, "z")]


def test_groups_have_kinds():
    assert events().rows("SELECT a, COUNT(*), SUM(b) FROM t GROUP BY a") == [
        (1, 1, 10, 0),
        (2, 1, 20, 0),
        (1, 1, 10, 1),
        (1, 2, 40, 2),
    ]


def test_distinct_has_no_kinds():
    assert sorted(events().rows("SELECT DISTINCT a FROM t", parallelism=2)) == [(1,), (2,)]
