"""TableResult: rows with kinds, printed tables, jobs."""

from __future__ import annotations

import pytest

from headrace.common import Row, RowKind
from headrace.common.errors import HeadraceError
from headrace.table import DataTypes, ResultKind
from headrace.table.printing import table_lines


def test_rows_have_names_and_kinds(t_env):
    t_env.create_temporary_view("t", t_env.from_elements([("a",), ("a",)], ["k"]))
    result = t_env.execute_sql("SELECT k, COUNT(*) AS n FROM t GROUP BY k")
    assert result.get_result_kind() == ResultKind.SUCCESS_WITH_CONTENT
    assert result.get_resolved_schema().get_column_names() == ["k", "n"]
    assert result.get_table_schema().get_field_data_types()[1] == DataTypes.BIGINT(False)
    with result.collect() as rows:
        assert list(rows) == [
            Row.of_kind(RowKind.INSERT, k="a", n=1),
            Row.of_kind(RowKind.UPDATE_BEFORE, k="a", n=1),
            Row.of_kind(RowKind.UPDATE_AFTER, k="a", n=2),
        ]


def test_rows_can_be_read_once(t_env):
    result = t_env.execute_sql("SELECT 1")
    assert len(list(result.collect())) == 1
    with pytest.raises(HeadraceError, match="only once"):
        result.collect()


def test_closing_cancels_the_job(t_env):
    t_env.execute_sql("CREATE TABLE endless (a INT) WITH ('connector' = 'datagen')")
    result = t_env.execute_sql("SELECT * FROM endless")
    with result.collect() as rows:
        assert next(rows).get_row_kind() is RowKind.INSERT
    assert result.get_job_client().get_job_status().result().name in ("CANCELED", "CANCELLING")


def test_wait_returns_when_the_first_row_is_there(t_env):
    t_env.execute_sql(
        "CREATE TABLE endless (a INT) WITH ('connector' = 'datagen', 'fields.a.min' = '7', 'fields.a.max' = '7')"
    )
    result = t_env.execute_sql("SELECT * FROM endless")
    result.wait(60_000)
    with result.collect() as rows:
        assert next(rows) == Row(a=7)


def test_wait_has_a_time_limit(t_env):
    t_env.execute_sql("CREATE TABLE endless (a INT) WITH ('connector' = 'datagen')")
    t_env.execute_sql("CREATE TABLE nothing (a INT) WITH ('connector' = 'blackhole')")
    result = t_env.execute_sql("INSERT INTO nothing SELECT * FROM endless")
    try:
        with pytest.raises(TimeoutError):
            result.wait(200)
    finally:
        result.get_job_client().cancel().result()


def test_a_failed_job_raises_its_error(t_env):
    with pytest.raises(HeadraceError, match=r"(?i)division by zero|/ by zero"):
        list(t_env.execute_sql("SELECT 1 / x FROM (VALUES (0)) AS t (x)").collect())


def test_ok_is_printed_plainly(t_env, capsys):
    t_env.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'print')").print()
    assert capsys.readouterr().out == "OK\n"


def test_streams_are_printed_with_kinds(t_env, capsys):
    t_env.execute_sql("SELECT 1 AS id, CAST(NULL AS STRING) AS name, TRUE AS ok, '表' AS wide").print()
    assert capsys.readouterr().out.split("\n") == [
        "+----+-------------+--------------------------------+--------+--------------------------------+",
        "| op |          id |                           name |     ok |                           wide |",
        "+----+-------------+--------------------------------+--------+--------------------------------+",
        "| +I |           1 |                         <NULL> |   TRUE |                             表 |",
        "+----+-------------+--------------------------------+--------+--------------------------------+",
        "1 row in set",
        "",
    ]


def test_batch_results_have_no_kinds(batch_env, capsys):
    batch_env.execute_sql("SELECT 'abcdefghijklmnopqrstuvwxyzabcdefgh' AS s").print()
    assert capsys.readouterr().out.split("\n")[:4] == [
        "+--------------------------------+",
        "|                              s |",
        "+--------------------------------+",
        "| abcdefghijklmnopqrstuvwxyza... |",
    ]


def test_empty_results(t_env, capsys):
    t_env.execute_sql("SELECT * FROM (VALUES (1)) WHERE FALSE").print()
    assert capsys.readouterr().out == "Empty set\n"
    assert table_lines(["a"], [1], [], out=print) == 0


def test_insert_reports_one_number_for_each_sink(t_env, capsys):
    t_env.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'blackhole')")
    result = t_env.execute_sql("INSERT INTO t VALUES (1)")
    assert result.get_resolved_schema().get_column_names() == ["default_catalog.default_database.t"]
    assert [tuple(row) for row in result.collect()] == [(-1,)]


def test_print_connector(t_env, capsys):
    t_env.execute_sql(
        "CREATE TABLE p (a INT, b BOOLEAN, c DOUBLE, d DECIMAL(10, 2), e ARRAY<INT>, f MAP<STRING, INT>, "
        "g ROW<x INT, y STRING>, h BYTES, i DATE, j TIME(0), k TIMESTAMP(3), l TIMESTAMP_LTZ(3), m FLOAT, n STRING) "
        "WITH ('connector' = 'print', 'print-identifier' = 'out')"
    )
    t_env.execute_sql(
        "INSERT INTO p VALUES (1, TRUE, 1e10, 1.5, ARRAY[1, 2], MAP['a', 1, 'b', 2], ROW(1, 'x'), X'01ff', DATE '2020-01-01', "
        "TIME '12:00:00', TIMESTAMP '2020-01-01 00:00:00', TO_TIMESTAMP_LTZ(1000, 3), CAST(1.1 AS FLOAT), CAST(NULL AS STRING))"
    ).wait()
    # What Flink prints for this statement.
    assert capsys.readouterr().out == (
        "out> +I[1, true, 1.0E10, 1.50, [1, 2], {a=1, b=2}, +I[1, x], [1, -1], 2020-01-01, 12:00, 2020-01-01T00:00, "
        "1970-01-01T00:00:01Z, 1.1, null]\n"
    )


def test_to_pandas(t_env):
    pandas = pytest.importorskip("pandas")
    frame = t_env.from_elements([(1, "a"), (2, None)], ["i", "s"]).to_pandas()
    assert frame.to_dict("list") == {"i": [1, 2], "s": ["a", None]}
    back = t_env.from_pandas(pandas.DataFrame({"x": [1.5, None], "y": ["p", "q"]}))
    assert [tuple(row) for row in back.execute().collect()] == [(1.5, "p"), (None, "q")]
