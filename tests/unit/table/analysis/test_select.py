"""SELECT lists, names, filters, order: relations and column types."""

from __future__ import annotations

import pytest
from tests.unit.table.analysis.catalogs import TABLES, MemoryCatalog, analysed, columns, plan, types

from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.plan.relations import Sort


def test_columns_have_names_and_types() -> None:
    assert columns("SELECT a, b, a + 1, r.y.z AS z, a AS x, t.a FROM t") == [
        "a INT",
        "b STRING NOT NULL",
        "EXPR$2 INT",
        "z STRING",
        "x INT",
        "a0 INT",
    ]


def test_star_keeps_the_order_of_columns_and_time_attributes() -> None:
    found = columns("SELECT * FROM t")
    assert found[3] == "ts TIMESTAMP(3) *ROWTIME*"
    assert found[-1] == "p INT"
    assert len(columns("SELECT t.*, a FROM t")) == len(found) + 1


def test_a_table_is_a_scan_with_its_computed_columns_and_watermark() -> None:
    assert plan(analysed("SELECT a FROM t")).splitlines() == [
        "Project(expressions=[$0])",
        "  WatermarkAssigner(time=3, watermark=-($3, 5000))",
        "    Project(expressions=[$0, $1, $2, $3, $4, $5, $6, +($0, 1)])",
        "      Scan(name=[t])",
    ]


def test_options_of_a_table_hint() -> None:
    assert "options=[[k, v]]" in plan(analysed("SELECT id FROM u /*+ OPTIONS('k' = 'v') */"))


def test_time_attributes_are_lost_in_expressions() -> None:
    assert types("SELECT ts, ts + INTERVAL '1' SECOND, CAST(ts AS TIMESTAMP(3)), COALESCE(ts, ts) FROM t") == [
        "TIMESTAMP(3) *ROWTIME*",
        "TIMESTAMP(3)",
        "TIMESTAMP(3)",
        "TIMESTAMP(3)",
    ]


def test_where() -> None:
    found = plan(analysed("SELECT id FROM u WHERE id > 1 AND name IS NOT NULL")).splitlines()
    assert found[1] == "  Filter(condition=AND(>($0, 1), IS NOT NULL($1)))"


def test_without_from() -> None:
    assert plan(analysed("SELECT 1 + 1")).splitlines() == [
        "Project(expressions=[+(1, 1)])",
        "  Values(rows=[[0]])",
    ]


def test_order_by_a_column_that_is_not_selected() -> None:
    assert plan(analysed("SELECT id FROM u ORDER BY name DESC LIMIT 3")).splitlines() == [
        "Project(expressions=[$0])",
        "  Sort(keys=[SortKey(index=1, descending=True, nulls_first=False)], limit=3)",
        "    Project(expressions=[$0, $1])",
        "      Scan(name=[u])",
    ]


@pytest.mark.parametrize("order", ["2", "x", "name", "u.name"])
def test_order_by_number_alias_or_column(order: str) -> None:
    relation = analysed(f"SELECT id, name AS x FROM u ORDER BY {order}")
    assert isinstance(relation, Sort)
    assert relation.keys[0].index == 1


def test_aliases_come_before_columns_in_order_by() -> None:
    relation = analysed("SELECT id AS name, name AS id FROM u ORDER BY id")
    assert isinstance(relation, Sort)
    assert relation.keys[0].index == 1


def test_nulls_are_the_lowest_values() -> None:
    relation = analysed("SELECT id, name, v FROM u ORDER BY id, name DESC, v NULLS LAST")
    assert isinstance(relation, Sort)
    assert [each.nulls_first for each in relation.keys] == [True, False, False]


def test_offset_and_fetch() -> None:
    relation = analysed("SELECT id FROM u OFFSET 2 ROWS FETCH NEXT 3 ROWS ONLY")
    assert isinstance(relation, Sort)
    assert (relation.offset, relation.limit) == (2, 3)


def test_distinct_is_an_aggregate_without_calls() -> None:
    assert plan(analysed("SELECT DISTINCT name FROM u")).splitlines()[0] == "Aggregate(groups=[0])"


def test_with() -> None:
    query = "WITH q AS (SELECT id, name FROM u), z(x) AS (SELECT id FROM q) SELECT x, q.name FROM z, q WHERE x = q.id"
    assert columns(query) == ["x INT NOT NULL", "name STRING"]


def test_views_are_expanded() -> None:
    catalog = MemoryCatalog(*TABLES)
    catalog.view("big", "SELECT id, v FROM u WHERE v > 100")
    assert "Filter" in plan(analysed("SELECT id FROM big", catalog))


def test_nested_fields() -> None:
    assert types("SELECT r.x, t.r.y.z, (r).x FROM t") == ["INT", "STRING", "INT"]
    assert columns("SELECT r.* FROM t") == ["x INT", "y ROW<`z` STRING>"]


def test_long_chains_of_conditions() -> None:
    condition = " OR ".join(f"id = {number}" for number in range(3000))
    assert columns(f"SELECT id FROM u WHERE {condition}") == ["id INT NOT NULL"]


# -- set operations and VALUES ----------------------------------------------------------------------------------------


def test_set_operations_unify_types() -> None:
    relation = analysed("SELECT id, name FROM u UNION ALL SELECT n, 'x' FROM l")
    assert columns("SELECT id, name FROM u UNION ALL SELECT n, 'x' FROM l") == ["id BIGINT NOT NULL", "name STRING"]
    assert plan(relation).splitlines()[:2] == [
        "SetOperation(kind=UNION, all=True)",
        "  Project(expressions=[CAST($0):BIGINT NOT NULL, $1])",
    ]


def test_set_operations_bind_intersect_first() -> None:
    found = plan(analysed("SELECT id FROM u UNION SELECT a FROM t INTERSECT SELECT id FROM u")).splitlines()
    assert found[0] == "SetOperation(kind=UNION)"
    assert "  SetOperation(kind=INTERSECT)" in found


def test_union_all_keeps_time_attributes() -> None:
    assert types("SELECT ts FROM t UNION ALL SELECT ts FROM t") == ["TIMESTAMP(3) *ROWTIME*"]


def test_values() -> None:
    assert columns("VALUES (1, 'a'), (2.5, 'bcd')") == ["EXPR$0 DECIMAL(11, 1) NOT NULL", "EXPR$1 VARCHAR(3) NOT NULL"]
    assert columns("SELECT * FROM (VALUES (1, NULL), (2, 3)) AS v(x, y)") == ["x INT NOT NULL", "y INT"]
    assert "SetOperation" in plan(analysed("VALUES (1 + 1), (2)"))


# -- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "message", "column"),
    [
        ("SELECT nam FROM u", "Unknown column 'nam'", 8),
        ("SELECT NAME FROM u", "Unknown column 'NAME'", 8),
        ("SELECT x.id FROM u", "Unknown table 'x'", 8),
        ("SELECT u.nam FROM u", "Unknown column 'nam'", 8),
        ("SELECT id FROM uu", "Unknown table 'uu'", 16),
        ("SELECT uper(name) FROM u", "Unknown function 'uper'", 8),
        ("SELECT id FROM u AS x, u AS y", "Column 'id' is ambiguous", 8),
        ("SELECT r.nope FROM t", "Unknown field 'nope'", 8),
        ("SELECT a.b FROM t", "'b' is not a field", 8),
        ("SELECT id FROM u WHERE id", "WHERE needs a BOOLEAN, got INT NOT NULL", 24),
        ("SELECT id + name FROM u", "Invalid arguments of function '+'", 11),
        ("SELECT id FROM u WHERE SUM(id) > 1", "Aggregate function 'SUM' is not allowed in WHERE", 24),
        ("SELECT id FROM u ORDER BY 3", "ORDER BY 3 is not the number of a column", 27),
        ("SELECT DISTINCT id FROM u ORDER BY name", "With SELECT DISTINCT", 1),
        ("SELECT id FROM u UNION SELECT id, name FROM u", "the same number of columns", 18),
        ("SELECT id FROM u UNION SELECT ts FROM t", "no common type: INT NOT NULL, TIMESTAMP(3)", 18),
        ("SELECT * FROM u AS x(i)", "'x' has 1 column names, but 3 columns", 17),
        ("VALUES (1, 2), (3)", "All rows of VALUES must have 2 values", 16),
        ("SELECT *", "SELECT * needs a FROM clause", 8),
    ],
)
def test_errors_have_a_position(query: str, message: str, column: int) -> None:
    with pytest.raises(SqlValidationError) as caught:
        analysed(query)
    assert message in str(caught.value)
    assert f"line 1, column {column}:" in str(caught.value)


def test_the_nearest_name_is_suggested() -> None:
    with pytest.raises(SqlValidationError) as caught:
        analysed("SELECT nam FROM u")
    assert caught.value.remedy == "did you mean 'name'?"
    with pytest.raises(SqlValidationError) as caught:
        analysed("SELECT uppr(name) FROM u")
    assert caught.value.remedy == "did you mean 'UPPER'?"


def test_wrong_arguments_show_the_types() -> None:
    with pytest.raises(SqlValidationError) as caught:
        analysed("SELECT id + name FROM u")
    assert caught.value.seen == "+(INT NOT NULL, STRING)"


@pytest.mark.parametrize(
    "query",
    [
        "WITH RECURSIVE q AS (SELECT id FROM u) SELECT * FROM q",
        "SELECT id FROM u TABLESAMPLE BERNOULLI(10)",
        "SELECT id FROM u WHERE id = ?",
    ],
)
def test_what_is_not_supported_says_so(query: str) -> None:
    with pytest.raises(SqlNotSupportedError):
        analysed(query)
