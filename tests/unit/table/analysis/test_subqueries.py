"""Subqueries and lateral queries as joins."""

from __future__ import annotations

import pytest
from tests.unit.table.analysis.catalogs import analysed, columns, plan

from headrace.table.analysis.trees import expressions
from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.plan.rex import OuterRef, Subquery, walk


def _plan(query: str) -> list[str]:
    """Return the plan, and check that no subquery and no column of an outer query is left."""
    relation = analysed(query)
    for each in expressions(relation):
        assert not any(isinstance(part, (Subquery, OuterRef)) for part in walk(each))
    return plan(relation).splitlines()


def test_in_is_a_semi_join() -> None:
    assert _plan("SELECT id FROM u WHERE id IN (SELECT a FROM t) AND name = 'x'")[:3] == [
        "Project(expressions=[$0])",
        "  Filter(condition==($1, 'x'))",
        "    Join(kind=SEMI, condition==($0, $3))",
    ]


def test_not_in_is_an_anti_join_that_nulls_match() -> None:
    assert _plan("SELECT id FROM u WHERE id NOT IN (SELECT n FROM l)")[1] == (
        "  Join(kind=ANTI, condition==(CAST($0):BIGINT NOT NULL, $3))"
    )
    assert _plan("SELECT id FROM u WHERE id NOT IN (SELECT a FROM t)")[1] == (
        "  Join(kind=ANTI, condition=OR(=($0, $3), IS NULL($3)))"
    )
    assert _plan("SELECT id FROM u WHERE name NOT IN (SELECT k FROM l)")[1] == (
        "  Join(kind=ANTI, condition=OR(OR(=($1, $3), IS NULL($1)), IS NULL($3)))"
    )


def test_in_with_several_columns() -> None:
    assert _plan("SELECT id FROM u WHERE (id, name) IN (SELECT a, b FROM t)")[1] == (
        "  Join(kind=SEMI, condition=AND(=($0, $3), =($1, $4)))"
    )


def test_exists_takes_its_conditions_on_the_outer_query_along() -> None:
    assert _plan("SELECT id FROM u WHERE EXISTS (SELECT 1 FROM t WHERE t.a = u.id AND t.c > u.v AND t.c > 0)")[1] == (
        "  Join(kind=SEMI, condition=AND(=($3, $0), >($5, CAST($2):DOUBLE)))"
    )
    assert _plan("SELECT id FROM u WHERE NOT EXISTS (SELECT 1 FROM t WHERE a = id)")[1].startswith("  Join(kind=ANTI")


def test_exists_of_an_aggregate_is_always_true() -> None:
    assert "  Filter(condition=True)" in _plan("SELECT id FROM u WHERE EXISTS (SELECT COUNT(*) FROM t WHERE a = id)")


def test_nested_subqueries_reach_two_levels_up() -> None:
    query = (
        "SELECT id FROM u WHERE EXISTS (SELECT 1 FROM l WHERE l.k = u.name "
        "AND l.n IN (SELECT x.id FROM u AS x WHERE x.id > 3))"
    )
    assert _plan(query)[1].startswith("  Join(kind=SEMI")
    query = (
        "SELECT id FROM u WHERE EXISTS (SELECT 1 FROM l, LATERAL (SELECT a FROM t WHERE t.a = u.id) q WHERE k = name)"
    )
    assert _plan(query)[1].startswith("  Join(kind=SEMI")


def test_scalar_subquery() -> None:
    assert _plan("SELECT id, (SELECT MAX(c) FROM t) FROM u")[:3] == [
        "Project(expressions=[$0, $3])",
        "  Join(kind=LEFT, condition=True)",
        "    Scan(name=[u])",
    ]
    assert columns("SELECT (SELECT COUNT(*) FROM t), (SELECT b FROM t) FROM u") == ["EXPR$0 BIGINT", "EXPR$1 STRING"]


def test_a_query_of_several_rows_is_checked_when_it_runs() -> None:
    assert any("SINGLE_VALUE" in line for line in _plan("SELECT (SELECT b FROM t) FROM u"))
    assert not any("SINGLE_VALUE" in line for line in _plan("SELECT (SELECT b FROM t LIMIT 1) FROM u"))


def test_correlated_scalar_subquery_groups_by_what_it_compares() -> None:
    found = _plan("SELECT id FROM u WHERE v > (SELECT AVG(c) FROM t WHERE t.a = u.id)")
    assert "      Join(kind=LEFT, condition==($3, $0))" in found
    assert any("Aggregate(groups=" in line and "AVG" in line for line in found)


def test_the_count_of_no_rows_is_zero() -> None:
    assert (
        _plan("SELECT (SELECT COUNT(*) FROM t WHERE t.a = u.id) FROM u")[0] == "Project(expressions=[COALESCE($4, 0)])"
    )


def test_subqueries_inside_of_or() -> None:
    found = _plan("SELECT id FROM u WHERE v > 1 OR EXISTS (SELECT 1 FROM t WHERE a = id) OR id IN (SELECT a FROM t)")
    assert sum("Join(kind=LEFT" in line for line in found) == 3


def test_quantified_comparisons() -> None:
    found = _plan("SELECT id FROM u WHERE v > ALL (SELECT c FROM t)")
    assert any("MAX($0)" in line for line in found)
    assert _plan("SELECT id FROM u WHERE id = ANY (SELECT a FROM t)")[1].startswith("  Join(kind=SEMI")
    assert _plan("SELECT id FROM u WHERE id <> ALL (SELECT a FROM t)")[1].startswith("  Join(kind=ANTI")


def test_subqueries_after_group_by_see_the_groups() -> None:
    found = _plan("SELECT name, (SELECT MAX(n) FROM l WHERE l.k = u.name) FROM u GROUP BY name")
    assert "  Join(kind=LEFT, condition==($1, $0))" in found
    with pytest.raises(SqlValidationError, match="Expression 'id' is not being grouped"):
        analysed("SELECT name, (SELECT MAX(n) FROM l WHERE l.n = u.id) FROM u GROUP BY name")


def test_having_with_a_subquery() -> None:
    assert _plan("SELECT name FROM u GROUP BY name HAVING SUM(v) > (SELECT AVG(v) FROM u)")


# -- LATERAL ----------------------------------------------------------------------------------------------------------


def test_lateral_query() -> None:
    found = _plan("SELECT u.id, q.b FROM u, LATERAL (SELECT b FROM t WHERE t.a = u.id) AS q")
    assert "    Join(kind=INNER, condition==($3, $0))" in found
    query = "SELECT u.id, q.b FROM u LEFT JOIN LATERAL (SELECT b FROM t WHERE t.a = u.id) AS q ON TRUE"
    assert columns(query) == ["id INT NOT NULL", "b STRING"]


def test_a_lateral_aggregate_has_a_row_for_every_row() -> None:
    found = _plan("SELECT u.id, q.c FROM u, LATERAL (SELECT COUNT(*) AS c FROM t WHERE t.a = u.id) AS q")
    assert any("Join(kind=LEFT" in line for line in found)
    assert any("COALESCE" in line for line in found)


def test_a_lateral_limit_is_a_top_n() -> None:
    found = _plan("SELECT u.id, q.b FROM u, LATERAL (SELECT b FROM t WHERE t.a = u.id ORDER BY c DESC LIMIT 3) AS q")
    assert any("ROW_NUMBER" in line for line in found)
    assert any("Filter(condition=<=(" in line for line in found)


def test_a_lateral_query_may_compute_with_outer_columns() -> None:
    found = _plan("SELECT q.s FROM u, LATERAL (SELECT t.c + u.id AS s FROM t) AS q")
    assert any("Join(kind=INNER, condition=True)" in line for line in found)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT (SELECT SUM(c) FROM t WHERE t.a > u.id) FROM u",
        "SELECT id FROM u WHERE EXISTS (SELECT 1 FROM t WHERE a = id UNION ALL SELECT 1 FROM t)",
        "SELECT 1 FROM u AS x JOIN u AS y ON x.id IN (SELECT a FROM t)",
        "SELECT SUM((SELECT MAX(a) FROM t)) FROM u",
    ],
)
def test_what_is_not_supported_says_so(query: str) -> None:
    with pytest.raises(SqlNotSupportedError):
        analysed(query)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT (SELECT a, b FROM t) FROM u", "must have one column, not 2"),
        ("SELECT id FROM u WHERE id IN (SELECT a, b FROM t)", "must have 1 column"),
        ("SELECT id FROM u WHERE id IN (SELECT ts FROM t)", "Invalid arguments of function '='"),
    ],
)
def test_errors(query: str, message: str) -> None:
    with pytest.raises(SqlValidationError) as caught:
        analysed(query)
    assert message in str(caught.value)
