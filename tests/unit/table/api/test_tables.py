"""Tables with expressions have the columns and rows of the same query in SQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.table.api.programs import names

from headrace.errors import HeadraceError
from headrace.table import DataTypes, Table, TableEnvironment
from headrace.table.expressions import call, col, lit, row_interval
from headrace.table.udf import udf, udtf
from headrace.table.window import Session, Tumble


@pytest.fixture
def scope(t_env: TableEnvironment, tmp_path: Path) -> dict[str, Any]:
    found = names(t_env, tmp_path)
    t_env.create_temporary_view("t", found["t"])
    t_env.create_temporary_view("u", found["u"])
    return found


def rows(table: Table) -> list[str]:
    with table.execute().collect() as found:
        return sorted(f"{each.get_row_kind().name} {tuple(each)}" for each in found)


PAIRS = [
    ("t.select(t.a, t['b'] * 2)", "SELECT a, b * 2 AS `_c0` FROM t"),
    ("t.where((t.a > 1) & t.c.is_not_null).select(t.a)", "SELECT a FROM t WHERE a > 1 AND c IS NOT NULL"),
    ("t.select(t.c + '!', 'x' + t.a)", "SELECT c || '!' AS `_c0`, 'x' || CAST(a AS STRING) AS `_c1` FROM t"),
    ("t.select(t.b.cast('INT').alias('i'))", "SELECT CAST(b AS INT) AS i FROM t"),
    ("t.select((t.a > 2).then('x', t.c).alias('v'))", "SELECT CASE WHEN a > 2 THEN 'x' ELSE c END AS v FROM t"),
    ("t.select(t.r.get('x').alias('x'), t.r.get(1).alias('y'))", "SELECT t.r.x AS x, t.r.y AS y FROM t"),
    ("t.select(t.r.flatten)", "SELECT t.r.x AS `r$x`, t.r.y AS `r$y` FROM t"),
    ("t.select(with_columns(range_(1, 'c')))", "SELECT a, b, c FROM t"),
    ("t.drop_columns(range_('d', 'r'))", "SELECT a, b, c FROM t"),
    ("t.group_by(t.c).select(t.c, t.a.sum.alias('s'))", "SELECT c, SUM(a) AS s FROM t GROUP BY c"),
    (
        "t.group_by((t.a % 2).alias('k')).select(col('k'), t.b.max.alias('m'))",
        "SELECT k, MAX(b) AS m FROM (SELECT b, a % 2 AS k FROM t) GROUP BY k",
    ),
    ("t.select(t.c.count.distinct.alias('n'))", "SELECT COUNT(DISTINCT c) AS n FROM t"),
    ("t.join(u, t.a == u.k).select(t.c, u.v)", "SELECT c, v FROM t JOIN u ON a = k"),
    ("t.left_outer_join(u, t.a == u.k).select(t.a, u.v)", "SELECT a, v FROM t LEFT JOIN u ON a = k"),
    ("t.where(t.a.in_(u.select(u.k))).select(t.a)", "SELECT a FROM t WHERE a IN (SELECT k FROM u)"),
    ("t.select(t.c).distinct()", "SELECT DISTINCT c FROM t"),
    ("t.select(t.a).order_by(t.a.desc).fetch(2)", "SELECT a FROM t ORDER BY a DESC LIMIT 2"),
    ("t.select(lit(2).hours.alias('h'))", "SELECT INTERVAL '2' HOUR AS h FROM t"),
    (
        "e.window(Slide.over(lit(10).seconds).every(lit(5).seconds).on(e.ts).alias('w')).group_by(e.k, col('w'))"
        ".select(e.k, col('w').end.alias('n'), e.v.sum.alias('s'))",
        "SELECT k, HOP_END(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND) AS n, SUM(v) AS s FROM events"
        " GROUP BY k, HOP(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
    ),
    (
        "e.over_window(Over.partition_by(e.k).order_by(e.ts).preceding(row_interval(1)).alias('w'))"
        ".select(e.k, e.v.sum.over(col('w')).alias('s'))",
        "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM events",
    ),
]


@pytest.mark.parametrize(("program", "query"), PAIRS, ids=[program for program, _ in PAIRS])
def test_same_as_sql(program: str, query: str, scope: dict[str, Any], t_env: TableEnvironment) -> None:
    table, expected = eval(program, scope), t_env.sql_query(query)
    assert table.get_resolved_schema().get_columns() == expected.get_resolved_schema().get_columns()
    assert rows(table) == rows(expected)


def test_functions_of_the_program(scope: dict[str, Any]) -> None:
    t = scope["t"]
    double = udf(lambda value: value * 2, result_type=DataTypes.INT())
    assert rows(t.where(t.a < 3).select(double(t.a), call(double, 5))) == ["INSERT (2, 10)", "INSERT (4, 10)"]


def test_lateral_joins(scope: dict[str, Any]) -> None:
    t = scope["t"].where(col("a") <= 2).select(col("a"), col("c"))
    letters = udtf(lambda text: [each for each in text if each != "l"], result_types=[DataTypes.STRING()])
    found = t.join_lateral(letters(t.c).alias("x")).select(col("a"), col("x"))
    assert rows(found) == [f"INSERT ({a}, '{x}')" for a, x in [(1, "H"), (1, "i"), (2, "H"), (2, "e"), (2, "o")]]
    nothing = udtf(lambda text: [], result_types=[DataTypes.STRING()])
    assert rows(t.left_outer_join_lateral(nothing(t.c).alias("x")).select(col("a"), col("x"))) == [
        "INSERT (1, None)",
        "INSERT (2, None)",
    ]


def test_windows_of_rows(t_env: TableEnvironment) -> None:
    t = t_env.from_elements([(n,) for n in range(7)], ["n"]).select(col("n"), call("PROCTIME").alias("p"))
    windows = t.window(Tumble.over(row_interval(3)).on(t.p).alias("w")).group_by(col("w")).select(t.n.sum)
    assert rows(windows) == ["INSERT (12,)", "INSERT (3,)"]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("t.select(col('ab'))", "Unknown column 'ab'"),
        ("t.select(t.a, t.a)", "Ambiguous column name: a"),
        ("t.join(t)", "different names"),
        ("t.group_by(t.c).select(t.a)", "is not being grouped"),
        ("t.select(col('w').start)", "property of a window"),
        ("t.select(t.a.sum.over(col('w')))", "Unknown OVER window 'w'"),
        ("t.select(t.a.desc)", "only be used in order_by"),
        ("t.where(t.a)", "needs a BOOLEAN"),
        ("t.select()", "at least one"),
        ("t.window(1)", "takes a Tumble"),
        ("t.select(None)", "takes expressions"),
        ("e.window(Tumble.over(lit(1).hours).on(e.ts).alias('w')).group_by(e.k)", "must have the window"),
        ("e.window(Tumble.over(lit(1).hours).on(e.ts).alias('k'))", "name of a column"),
        ("t.alias(*'abcdefgh')", "8 names"),
        ("t.select(lit(object()))", "cannot be used as a constant"),
    ],
)
def test_mistakes(program: str, message: str, scope: dict[str, Any]) -> None:
    with pytest.raises(HeadraceError, match=message):
        eval(program, scope)


def test_columns_by_attribute(scope: dict[str, Any]) -> None:
    t = scope["t"]
    assert str(t.a) == str(t["a"]) == "a"
    assert "a" in dir(t)
    with pytest.raises(AttributeError, match="no column 'aa'; did you mean 'a'"):
        _ = t.aa


def test_a_session_of_rows_does_not_exist(scope: dict[str, Any]) -> None:
    t = scope["t"].select(col("a"), call("PROCTIME").alias("p"))
    with pytest.raises(HeadraceError, match="must be intervals"):
        t.window(Session.with_gap(row_interval(2)).on(t.p).alias("w")).group_by(col("w")).select(lit(1).count)
