"""SELECT lists, names, filters, order: relations and column types."""

from __future__ import annotations

import pytest
from tests.unit.table.analysis.catalogs import analysed, columns, plan

from headrace.table.errors import SqlValidationError


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


def test_order_by_a_column_that_is_not_selected() -> None:
    assert plan(analysed("SELECT id FROM u ORDER BY name DESC LIMIT 3")).splitlines() == [
        "Project(expressions=[$0])",
        "  Sort(keys=[SortKey(index=1, descending=True, nulls_first=False)], limit=3)",
        "    Project(expressions=[$0, $1])",
        "      Scan(name=[u])",
    ]


def test_unknown_column_names_the_nearest_one() -> None:
    with pytest.raises(SqlValidationError) as caught:
        analysed("SELECT nam FROM u")
    assert "line 1, column 8" in str(caught.value)
    assert caught.value.remedy == "did you mean 'name'?"
