"""Joins, table functions and temporal joins."""

from __future__ import annotations

import pytest
from tests.unit.table.analysis.catalogs import TABLES, MemoryCatalog, analysed, columns, plan

from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.functions.definition import Argument, Session, Signature, TableFunction
from headrace.table.plan.relations import TemporalJoin
from headrace.types.logical_types import IntType, RowField, RowType, VarCharType

ORDERS = "CREATE TABLE o (oid INT, currency STRING, ot TIMESTAMP(3), WATERMARK FOR ot AS ot)"
RATES = """CREATE TABLE rates (currency STRING, rate INT, ut TIMESTAMP(3), WATERMARK FOR ut AS ut,
    PRIMARY KEY (currency) NOT ENFORCED)"""


@pytest.mark.parametrize(
    ("join", "types"),
    [
        ("JOIN u AS y ON x.id = y.id", ["id INT NOT NULL", "id0 INT NOT NULL"]),
        ("LEFT JOIN u AS y ON x.id = y.id", ["id INT NOT NULL", "id0 INT"]),
        ("RIGHT JOIN u AS y ON x.id = y.id", ["id INT", "id0 INT NOT NULL"]),
        ("FULL JOIN u AS y ON x.id = y.id", ["id INT", "id0 INT"]),
        ("CROSS JOIN u AS y", ["id INT NOT NULL", "id0 INT NOT NULL"]),
        (", u AS y", ["id INT NOT NULL", "id0 INT NOT NULL"]),
    ],
)
def test_outer_sides_are_nullable(join: str, types: list[str]) -> None:
    assert columns(f"SELECT x.id, y.id FROM u AS x {join}") == types


def test_conditions_count_columns_of_both_sides() -> None:
    assert plan(analysed("SELECT 1 FROM u AS x JOIN u AS y ON x.id = y.id AND y.name = 'x'")).splitlines()[1] == (
        "  Join(kind=INNER, condition=AND(=($0, $3), =($4, 'x')))"
    )


def test_using_merges_columns() -> None:
    assert columns("SELECT * FROM u AS x JOIN u AS y USING (id)") == [
        "id INT NOT NULL",
        "name STRING",
        "v DECIMAL(10, 2)",
        "name0 STRING",
        "v0 DECIMAL(10, 2)",
    ]
    assert columns("SELECT id, y.id FROM u AS x LEFT JOIN u AS y USING (id)") == ["id INT NOT NULL", "id0 INT"]


def test_merged_columns_of_a_full_join_take_the_side_that_has_a_row() -> None:
    assert plan(analysed("SELECT id FROM u AS x FULL JOIN u AS y USING (id)")).splitlines()[0] == (
        "Project(expressions=[COALESCE($0, $3)])"
    )


def test_natural_join_merges_all_common_columns() -> None:
    assert columns("SELECT * FROM u NATURAL JOIN (SELECT id, 'x' AS extra FROM u)") == [
        "id INT NOT NULL",
        "name STRING",
        "v DECIMAL(10, 2)",
        "extra CHAR(1) NOT NULL",
    ]


def test_a_chain_of_using() -> None:
    query = "SELECT id, x.name FROM u AS x JOIN u AS y USING (id) LEFT JOIN u AS z USING (id)"
    assert columns(query) == ["id INT NOT NULL", "name STRING"]


def test_joins_in_parentheses() -> None:
    query = "SELECT x.id, z.id FROM u AS x LEFT JOIN (u AS y JOIN u AS z ON y.id = z.id) ON x.id = y.id"
    assert columns(query) == ["id INT NOT NULL", "id0 INT"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT 1 FROM u AS x JOIN u AS y USING (idd)", "Unknown column 'idd'"),
        ("SELECT 1 FROM u AS x JOIN u AS y ON id = 1", "Column 'id' is ambiguous"),
        ("SELECT 1 FROM u AS x JOIN u AS y ON x.id", "ON needs a BOOLEAN"),
        ("SELECT 1 FROM u AS x JOIN u AS y ON SUM(x.id) = 1", "not allowed in ON"),
        ("SELECT 1 FROM t RIGHT JOIN UNNEST(arr) ON TRUE", "cannot be the right side of a RIGHT JOIN"),
    ],
)
def test_errors(query: str, message: str) -> None:
    with pytest.raises(SqlValidationError) as caught:
        analysed(query)
    assert message in str(caught.value)


# -- table functions --------------------------------------------------------------------------------------------------


def test_unnest_of_arrays_and_maps() -> None:
    assert columns("SELECT a, x FROM t CROSS JOIN UNNEST(arr) AS q(x)") == ["a INT", "x INT"]
    assert columns("SELECT q FROM t, UNNEST(t.arr) AS q") == ["q INT"]
    assert columns("SELECT k, n FROM t, UNNEST(m) AS q(k, n)") == ["k STRING", "n INT"]
    assert columns("SELECT x, i FROM t, UNNEST(arr) WITH ORDINALITY AS q(x, i)") == ["x INT", "i INT NOT NULL"]


def test_a_left_join_keeps_rows_without_elements() -> None:
    found = plan(analysed("SELECT x FROM t LEFT JOIN UNNEST(arr) AS q(x) ON TRUE")).splitlines()
    assert found[1] == "  Correlate(kind=LEFT)"


def _split(arguments: list[Argument]) -> Signature:
    row = RowType((RowField("word", VarCharType()), RowField("length", IntType(is_nullable=False))))
    return Signature((VarCharType(),), row)


def test_table_functions_of_users() -> None:
    catalog = MemoryCatalog(*TABLES)
    catalog.functions["SPLIT"] = TableFunction("split", _split, lambda site: lambda text: [])  # type: ignore[arg-type]
    query = "SELECT id, word, length FROM u, LATERAL TABLE(split(name))"
    assert columns(query, catalog) == ["id INT NOT NULL", "word STRING", "length INT NOT NULL"]
    query = "SELECT id, w, n FROM u LEFT JOIN LATERAL TABLE(split(name)) AS s(w, n) ON n > 3"
    assert columns(query, catalog) == ["id INT NOT NULL", "w STRING", "n INT"]
    assert "condition=>($4, 3)" in plan(analysed(query, catalog))
    assert columns("SELECT * FROM TABLE(split('a b'))", catalog) == ["word STRING", "length INT NOT NULL"]
    with pytest.raises(SqlValidationError, match="'split' is a table function"):
        analysed("SELECT split(name) FROM u", catalog)


# -- temporal joins ---------------------------------------------------------------------------------------------------


def test_temporal_join() -> None:
    catalog = MemoryCatalog(ORDERS, RATES)
    query = "SELECT * FROM o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ot AS r ON o.currency = r.currency"
    relation = analysed(query, catalog).inputs[0]
    assert isinstance(relation, TemporalJoin)
    assert relation.kind == "LEFT"
    assert columns(query, catalog)[3:5] == ["currency0 STRING", "rate INT"]


def test_temporal_joins_need_a_time_attribute() -> None:
    catalog = MemoryCatalog(ORDERS, RATES)
    query = (
        "SELECT 1 FROM o JOIN rates FOR SYSTEM_TIME AS OF CAST(o.ot AS TIMESTAMP(3)) AS r ON o.currency = r.currency"
    )
    with pytest.raises(SqlValidationError, match="needs a time attribute"):
        analysed(query, catalog)
    assert analysed(query, catalog, Session(batch=True)) is not None
    with pytest.raises(SqlNotSupportedError, match="only supported in joins"):
        analysed("SELECT * FROM o FOR SYSTEM_TIME AS OF TIMESTAMP '2020-01-01 00:00:00'", catalog)


# -- hints ------------------------------------------------------------------------------------------------------------


def test_state_ttl_of_a_join_and_of_an_aggregate() -> None:
    query = "SELECT /*+ STATE_TTL('x' = '1d', 'y' = '2h') */ 1 FROM u AS x JOIN u AS y ON x.id = y.id"
    assert "hints=[[STATE_TTL, [86400000, 7200000]]]" in plan(analysed(query))
    query = "SELECT /*+ STATE_TTL('u' = '1d') */ name, COUNT(*) FROM u GROUP BY name"
    assert "hints=[[STATE_TTL, [86400000]]]" in plan(analysed(query))


def test_strategies_name_a_side() -> None:
    query = "SELECT /*+ BROADCAST(y) */ 1 FROM u AS x JOIN u AS y ON x.id = y.id"
    assert "hints=[[BROADCAST, [right]]]" in plan(analysed(query))


@pytest.mark.parametrize("hint", ["STATE_TTL('z' = '1d')", "BROADCAST(z)", "STATE_TTL('u' = 'long')", "BROADCST(u)"])
def test_hints_are_checked(hint: str) -> None:
    with pytest.raises(SqlValidationError):
        analysed(f"SELECT /*+ {hint} */ id FROM u")
