"""Rows of files are looked up with FOR SYSTEM_TIME AS OF a processing time."""

from __future__ import annotations

import pytest

from headrace.table.errors import SqlNotSupportedError


@pytest.fixture
def tables(t_env, tmp_path):
    path = tmp_path / "side.csv"
    path.write_text("1,a\n2,b\n2,c\n,d\n")
    t_env.execute_sql(
        f"""CREATE TABLE side (upper_v AS UPPER(v), k INT, v STRING) WITH ('connector' = 'filesystem',
        'path' = '{path}', 'format' = 'csv', 'csv.ignore-parse-errors' = 'true')"""
    )
    t_env.execute_sql(
        """CREATE VIEW asked AS SELECT x, PROCTIME() AS pt
        FROM (VALUES (1), (2), (3), (CAST(NULL AS INT))) AS t (x)"""
    )
    return t_env


@pytest.mark.parametrize(
    "join, condition, expected",
    [
        ("JOIN", "x = k", [(1, "A"), (2, "B"), (2, "C")]),
        ("LEFT JOIN", "x = k AND v <> 'c'", [(1, "A"), (2, "B"), (3, None), (None, None)]),
        ("LEFT JOIN", "x + 1 = k", [(1, "B"), (1, "C"), (2, None), (3, None), (None, None)]),
        ("JOIN", "k = MOD(x, 2) AND x > 1", [(3, "A")]),
    ],
)
def test_lookups(tables, join, condition, expected):
    query = f"SELECT x, upper_v FROM asked AS s {join} side FOR SYSTEM_TIME AS OF s.pt AS r ON {condition}"
    with tables.execute_sql(query).collect() as rows:
        assert [tuple(row) for row in rows] == expected


def test_a_directory_that_is_watched_cannot_be_looked_up(tables, tmp_path):
    tables.execute_sql("ALTER TABLE side SET ('source.monitor-interval' = '1s')")
    with pytest.raises(SqlNotSupportedError, match="read continuously"):
        tables.execute_sql("SELECT x FROM asked AS s JOIN side FOR SYSTEM_TIME AS OF s.pt AS r ON x = k")
