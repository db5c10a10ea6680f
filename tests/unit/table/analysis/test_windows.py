"""Window table functions, OVER windows and MATCH_RECOGNIZE."""

from __future__ import annotations

import pytest
from tests.unit.table.analysis.catalogs import analysed, columns, types

from headrace.table.analysis.pattern_refs import PatternAggregate, PatternRef
from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.functions.definition import Session
from headrace.table.plan.relations import Match, Over, Window, WindowTable
from headrace.table.plan.rex import Call, Frame


def _window(call: str) -> Window:
    relation = analysed(f"SELECT * FROM TABLE({call})").inputs[0]
    assert isinstance(relation, WindowTable)
    return relation.window


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("TUMBLE(TABLE l, DESCRIPTOR(seen), INTERVAL '5' MINUTE)", Window("TUMBLE", 2, 300_000)),
        (
            "TUMBLE(TABLE l, DESCRIPTOR(seen), INTERVAL '5' MINUTE, INTERVAL '1' MINUTE)",
            Window("TUMBLE", 2, 300_000, offset=60_000),
        ),
        (
            "HOP(TABLE l, DESCRIPTOR(seen), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)",
            Window("HOP", 2, 300_000, 60_000),
        ),
        (
            "CUMULATE(DATA => TABLE l, TIMECOL => DESCRIPTOR(seen), SIZE => INTERVAL '1' HOUR, STEP => INTERVAL '1' MINUTE)",
            Window("CUMULATE", 2, 3_600_000, 60_000),
        ),
        (
            "SESSION(TABLE l PARTITION BY k, DESCRIPTOR(seen), INTERVAL '1' MINUTE)",
            Window("SESSION", 2, 60_000, partition_by=(0,)),
        ),
    ],
)
def test_window_table_functions(call: str, expected: Window) -> None:
    assert _window(call) == expected


def test_windows_add_three_columns() -> None:
    assert columns("SELECT * FROM TABLE(TUMBLE(TABLE l, DESCRIPTOR(seen), INTERVAL '5' MINUTE))")[3:] == [
        "window_start TIMESTAMP(3) NOT NULL",
        "window_end TIMESTAMP(3) NOT NULL",
        "window_time TIMESTAMP_LTZ(3) NOT NULL *ROWTIME*",
    ]


def test_windows_over_windows() -> None:
    query = (
        "SELECT window_start FROM TABLE(TUMBLE((SELECT window_time AS rt FROM "
        "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, window_time), "
        "DESCRIPTOR(rt), INTERVAL '1' HOUR))"
    )
    assert types(query) == ["TIMESTAMP(3) NOT NULL"]


def test_batch_queries_take_any_timestamp() -> None:
    query = (
        "SELECT 1 FROM TABLE(TUMBLE((SELECT TIMESTAMP '2020-01-01 00:00:00' AS x), DESCRIPTOR(x), INTERVAL '1' HOUR))"
    )
    with pytest.raises(SqlValidationError, match="TUMBLE needs a time attribute"):
        analysed(query)
    assert analysed(query, session=Session(batch=True)) is not None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("TUMBLE(TABLE l, DESCRIPTOR(k), INTERVAL '5' MINUTE)", "needs a time attribute, but 'k' is STRING"),
        ("TUMBLE(TABLE l, DESCRIPTOR(seen))", "lacks the argument SIZE"),
        ("TUMBLE(TABLE l, seen, INTERVAL '5' MINUTE)", "DESCRIPTOR(column)"),
        ("TUMBLE(TABLE l, DESCRIPTOR(seen), INTERVAL '1' MONTH)", "constant interval of days to seconds"),
        ("HOP(TABLE l, DESCRIPTOR(seen), INTERVAL '2' MINUTE, INTERVAL '5' MINUTE)", "multiple of its slide"),
        ("CUMULATE(TABLE l, DESCRIPTOR(seen), INTERVAL '2' MINUTE, INTERVAL '5' MINUTE)", "multiple of its step"),
        ("TUMBLE(DATA => TABLE l, TIMECOL => DESCRIPTOR(seen), SIZ => INTERVAL '1' DAY)", "Unknown argument 'SIZ'"),
    ],
)
def test_window_errors(call: str, message: str) -> None:
    with pytest.raises(SqlValidationError) as caught:
        _window(call)
    assert message in str(caught.value)


# -- OVER -------------------------------------------------------------------------------------------------------------


def _over(query: str) -> Over:
    relation = analysed(query).inputs[0]
    assert isinstance(relation, Over)
    return relation


def test_calls_that_share_a_window() -> None:
    query = (
        "SELECT SUM(n) OVER w, COUNT(*) OVER (PARTITION BY k ORDER BY seen), MAX(n) OVER (ORDER BY seen) "
        "FROM l WINDOW w AS (PARTITION BY k ORDER BY seen)"
    )
    over = _over(query)
    assert [len(each.calls) for each in over.windows] == [2, 1]
    assert over.windows[0].partition_by == (0,)
    assert over.windows[0].order_by[0].index == 2


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ("", Frame(False, None, 0)),
        ("ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", Frame(True, -2, 0)),
        ("ROWS UNBOUNDED PRECEDING", Frame(True, None, 0)),
        ("RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW", Frame(False, -3_600_000, 0)),
        ("ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", Frame(True, -1, 1)),
        ("ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", Frame(True, 0, None)),
    ],
)
def test_frames(frame: str, expected: Frame) -> None:
    assert _over(f"SELECT SUM(n) OVER (ORDER BY seen {frame}) FROM l").windows[0].frame == expected


def test_expressions_of_windows_are_computed_before() -> None:
    over = _over("SELECT SUM(n + 1) OVER (PARTITION BY n * 2 ORDER BY seen) + 1 FROM l")
    assert len(over.input.row_type) == 5
    assert over.windows[0].partition_by == (4,)
    assert over.windows[0].calls[0].arguments == (3,)


def test_over_after_group_by() -> None:
    assert types("SELECT k, SUM(SUM(n)) OVER (ORDER BY k) FROM l GROUP BY k") == ["STRING", "BIGINT NOT NULL"]


def test_qualify() -> None:
    query = "SELECT k FROM l QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) <= 3"
    assert columns(query) == ["k STRING"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT SUM(n) OVER w FROM l", "Unknown window 'w'"),
        ("SELECT UPPER(k) OVER (ORDER BY seen) FROM l", "is not an aggregate function"),
        ("SELECT n FROM l WHERE SUM(n) OVER (ORDER BY seen) > 1", "An OVER window is not allowed in WHERE"),
        ("SELECT SUM(SUM(n) OVER (ORDER BY seen)) OVER (ORDER BY seen) FROM l", "cannot be nested"),
        ("SELECT SUM(n) OVER (ORDER BY seen ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM l", "starts after its end"),
        ("SELECT SUM(n) OVER (ORDER BY seen RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM l", "must be intervals"),
        ("SELECT SUM(n) OVER (ORDER BY seen ROWS BETWEEN n PRECEDING AND CURRENT ROW) FROM l", "must be constants"),
    ],
)
def test_over_errors(query: str, message: str) -> None:
    with pytest.raises(SqlValidationError) as caught:
        analysed(query)
    assert message in str(caught.value)


# -- MATCH_RECOGNIZE --------------------------------------------------------------------------------------------------


def _match(
    measures: str = "A.n AS x", pattern: str = "A B", define: str = "A AS n > 1", order: str = "seen", more: str = ""
) -> Match:
    relation = analysed(
        f"SELECT * FROM l MATCH_RECOGNIZE (PARTITION BY k ORDER BY {order} MEASURES {measures} ONE ROW PER MATCH {more} "
        f"PATTERN ({pattern}) DEFINE {define}) AS T"
    )
    while not isinstance(relation, Match):
        relation = relation.inputs[0]
    return relation


def test_columns_refer_to_rows_of_variables() -> None:
    found = _match("FIRST(A.n, 1) AS f, LAST(B.n) AS l, n AS x", define="A AS A.n > LAST(B.n, 2)")
    first, last, plain = (value for _, value in found.measures)
    assert (first.variable, first.index, first.first, first.offset) == ("A", 1, True, 1)  # type: ignore[attr-defined]
    assert (last.variable, last.first, last.offset) == ("B", False, 0)  # type: ignore[attr-defined]
    assert isinstance(plain, PatternRef)
    assert plain.variable == "*"
    [(name, condition)] = found.definitions
    assert name == "A"
    assert isinstance(condition, Call)
    assert condition.arguments[1].offset == 2  # type: ignore[attr-defined]
    assert found.row_type.field_names() == ["k", "f", "l", "x"]


def test_navigation_reaches_into_expressions() -> None:
    [(_, value)] = _match("LAST(A.n + A.n, 1) AS x").measures
    assert isinstance(value, Call)
    assert [each.offset for each in value.arguments] == [1, 1]  # type: ignore[attr-defined]


def test_aggregates_over_variables() -> None:
    (_, total), (_, count) = _match("SUM(A.n * 2) AS s, COUNT(*) AS c").measures
    assert isinstance(total, PatternAggregate)
    assert total.variable == "A"
    assert isinstance(count, PatternAggregate)
    assert count.variable == "*"


def test_time_of_a_match_is_a_time_attribute() -> None:
    query = (
        "SELECT * FROM l MATCH_RECOGNIZE (PARTITION BY k ORDER BY seen MEASURES MATCH_ROWTIME() AS rt "
        "PATTERN (A B) WITHIN INTERVAL '1' HOUR DEFINE A AS n > 1) AS T"
    )
    assert columns(query) == ["k STRING", "rt TIMESTAMP_LTZ(3) NOT NULL *ROWTIME*"]
    match = analysed(query)
    while not isinstance(match, Match):
        match = match.inputs[0]
    assert match.within == 3_600_000


def test_skip() -> None:
    assert _match().after_match == ("NEXT ROW",)
    assert _match(more="AFTER MATCH SKIP TO FIRST B").after_match == ("FIRST", "B")
    with pytest.raises(SqlValidationError, match="Unknown pattern variable 'X'"):
        _match(more="AFTER MATCH SKIP TO LAST X")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"pattern": "A B+"}, "cannot end with a greedy quantifier"),
        ({"pattern": "A | B"}, "Alternatives"),
        ({"pattern": "A B A"}, "only once"),
        ({"measures": "PREV(A.n) AS x"}, "PREV is not supported"),
        ({"measures": "SUM(DISTINCT A.n) AS x"}, "DISTINCT"),
    ],
)
def test_what_flink_does_not_support(parts: dict[str, str], message: str) -> None:
    with pytest.raises(SqlNotSupportedError) as caught:
        _match(**parts)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"pattern": "A*?"}, "may match no rows"),
        ({"order": "n"}, "must be a time attribute"),
        ({"order": "seen DESC"}, "ascending"),
        ({"define": "X AS Y.n > 1"}, "Y"),
        ({"measures": "SUM(A.n * B.n) AS x"}, "of one pattern variable, not of A and B"),
        ({"measures": "A.nope AS x"}, "Unknown column 'nope'"),
    ],
)
def test_match_errors(parts: dict[str, str], message: str) -> None:
    with pytest.raises(SqlValidationError) as caught:
        _match(**parts)
    assert message in str(caught.value)
