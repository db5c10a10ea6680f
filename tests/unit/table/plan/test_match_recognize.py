"""MATCH_RECOGNIZE from SQL to rows; the expected rows are those of Flink."""

import pytest
from plan_kit import Tables

from headrace.table.errors import SqlNotSupportedError

PRICES = [
    ("x", 1, 12), ("x", 2, 17), ("x", 3, 19), ("x", 4, 21), ("x", 5, 25), ("x", 6, 18), ("x", 7, 15), ("x", 8, 14),
    ("x", 9, 24), ("x", 10, 25), ("x", 11, 19), ("y", 1, 5), ("y", 2, 4), ("y", 3, 9),
]  # fmt: skip


def prices(order=None) -> Tables:
    rows = [
        (symbol, second * 1_000_000, price) for symbol, second, price in order or sorted(PRICES, key=lambda p: p[1])
    ]
    ddl = "ticker (symbol STRING, ts TIMESTAMP(3), price BIGINT, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)"
    return Tables().create(ddl, rows)


def match(measures, pattern, define, after="AFTER MATCH SKIP PAST LAST ROW", partition="PARTITION BY symbol", more=""):
    return (
        f"SELECT * FROM ticker MATCH_RECOGNIZE ({partition} ORDER BY ts MEASURES {measures} ONE ROW PER MATCH {after} "
        f"PATTERN ({pattern}) {more} DEFINE {define})"
    )


def test_a_v_shape():
    sql = match(
        "S.ts AS s, LAST(D.ts) AS b, LAST(U.ts) AS e, COUNT(D.price) AS c, MIN(D.price) AS m, FIRST(D.price) AS f",
        "S D+ U",
        "D AS (LAST(D.price, 1) IS NULL AND D.price < S.price) OR D.price < LAST(D.price, 1), U AS U.price > LAST(D.price)",
    )
    expected = [("x", 5_000_000, 8_000_000, 9_000_000, 3, 14, 18), ("y", 1_000_000, 2_000_000, 3_000_000, 1, 4, 4)]
    assert sorted(prices().rows(sql)) == expected


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("AFTER MATCH SKIP PAST LAST ROW", [(12, 17, 19), (14, 24, 25)]),
        ("AFTER MATCH SKIP TO NEXT ROW", [(12, 17, 19), (17, 19, 21), (19, 21, 25), (14, 24, 25)]),
        ("AFTER MATCH SKIP TO LAST B", [(12, 17, 19), (17, 19, 21), (19, 21, 25), (14, 24, 25)]),
        ("", [(12, 17, 19), (17, 19, 21), (19, 21, 25), (14, 24, 25)]),
    ],
)
def test_where_the_next_match_starts(after, expected):
    sql = match(
        "A.price AS a, B.price AS b, C.price AS c", "A B C", "B AS B.price > A.price, C AS C.price > B.price", after
    )
    assert [row[1:] for row in prices().rows(sql) if row[0] == "x"] == expected


def test_within_limits_the_time():
    define = "A AS A.price = 12, B AS B.price > 20"
    sql = "A.price AS a, B.price AS b"
    pattern = "A X*? B"
    assert prices().rows(match(sql, pattern, define)) == [("x", 12, 21)]
    assert prices().rows(match(sql, pattern, define, more="WITHIN INTERVAL '2' SECOND")) == []


def test_measures_over_all_rows_and_subsets():
    sql = match(
        "SUM(price) AS total, SUM(U.price) AS both_, LAST(price) AS last_, FIRST(price) AS first_",
        "A B C",
        "B AS B.price > A.price, C AS C.price > B.price",
        more="SUBSET U = (A, C)",
    )
    assert prices().rows(sql) == [("x", 48, 31, 19, 12), ("x", 63, 39, 25, 14)]


def test_without_partition():
    sql = match("A.symbol AS s, B.symbol AS t", "A B", "A AS A.price = 12, B AS B.price = 5", partition="")
    assert prices().rows(sql) == [("x", "y")]


def test_groups_with_quantifiers_are_refused():
    with pytest.raises(SqlNotSupportedError):
        prices().rows(match("A.price AS a", "(A B)+? C", "A AS A.price > 1"))
    with pytest.raises(SqlNotSupportedError, match="Reluctant optional"):
        prices().rows(match("A.price AS a", "A B?? C", "A AS A.price > 1"))
