"""CREATE TABLE and INSERT."""

from __future__ import annotations

import pytest
from tests.unit.table.analysis.catalogs import CATALOG, TABLES, MemoryCatalog, plan, shown

from headrace.table.analysis.catalog_view import ColumnKind
from headrace.table.analysis.entries import analyse_expression, analyse_insert, analyse_table
from headrace.table.errors import SqlValidationError
from headrace.table.functions.type_text import sql_text
from headrace.table.plan.relations import Sink
from headrace.table.sql import parse_statements
from headrace.table.sql.syntax.queries import Select


def _schema(body: str, rest: str = "") -> list[str]:
    catalog = MemoryCatalog(*TABLES)
    row = catalog.create(f"CREATE TABLE x ({body}) {rest}").schema.row_type
    return [f"{each.name} {sql_text(each.data_type)}" for each in row.fields]


def test_computed_and_metadata_columns() -> None:
    catalog = MemoryCatalog()
    schema = catalog.create(
        "CREATE TABLE x (a INT, b AS a + m, m BIGINT METADATA FROM 'offset' VIRTUAL, n INT METADATA)"
    ).schema
    assert [column.kind for column in schema.columns] == [
        ColumnKind.PHYSICAL,
        ColumnKind.COMPUTED,
        ColumnKind.METADATA,
        ColumnKind.METADATA,
    ]
    assert schema.source_type.field_names() == ["a", "m", "n"]
    assert schema.sink_type.field_names() == ["a", "n"]
    assert shown(schema.columns[1].expression) == "+(CAST($0):BIGINT, $1)"
    assert schema.columns[2].metadata_key == "offset"


def test_watermark_makes_a_time_attribute() -> None:
    assert _schema("ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND") == ["ts TIMESTAMP(3) *ROWTIME*"]
    found = _schema("s STRING, ts AS CAST(s AS TIMESTAMP_LTZ(3)), WATERMARK FOR ts AS ts")
    assert found == ["s STRING", "ts TIMESTAMP_LTZ(3) *ROWTIME*"]


def test_primary_key_columns_are_not_null() -> None:
    assert _schema("a INT, b INT, PRIMARY KEY (a) NOT ENFORCED") == ["a INT NOT NULL", "b INT"]
    assert _schema("a INT PRIMARY KEY NOT ENFORCED") == ["a INT NOT NULL"]


def test_create_table_like() -> None:
    assert _schema("z INT", "LIKE u") == ["id INT NOT NULL", "name STRING", "v DECIMAL(10, 2)", "z INT"]
    assert _schema("z INT", "LIKE t (EXCLUDING GENERATED EXCLUDING WATERMARKS)")[3] == "ts TIMESTAMP(3)"


def test_like_takes_options_over() -> None:
    catalog = MemoryCatalog("CREATE TABLE a (x INT) WITH ('k' = '1', 'm' = '2')")
    table = catalog.create("CREATE TABLE b WITH ('k' = '3') LIKE a")
    assert dict(table.options) == {"k": "3", "m": "2"}
    assert catalog.create("CREATE TABLE c WITH ('k' = '3') LIKE a (EXCLUDING OPTIONS)").options == (("k", "3"),)


def test_create_table_as() -> None:
    [node] = parse_statements("CREATE TABLE x WITH ('k' = 'v') AS SELECT ts, a + 1 AS b FROM t")
    table, relation = analyse_table(node, CATALOG)
    assert relation is not None
    assert [f"{each.name} {sql_text(each.type)}" for each in table.schema.columns] == ["ts TIMESTAMP(3)", "b INT"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a INT, a INT", "Column 'a' is declared twice"),
        ("a INT, b AS c + 1", "Unknown column 'c'"),
        ("a INT, b AS a, c AS b", "Unknown column 'b'"),
        ("a INT, WATERMARK FOR a AS a", "must be TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p up to 3, not INT"),
        ("a TIMESTAMP(6), WATERMARK FOR a AS a", "not TIMESTAMP(6)"),
        ("a TIMESTAMP(3), WATERMARK FOR b AS a", "Unknown column 'b'"),
        ("a TIMESTAMP(3), WATERMARK FOR a AS 'x'", "The watermark must be a TIMESTAMP"),
        ("a INT, PRIMARY KEY (b) NOT ENFORCED", "Unknown column 'b'"),
        ("a INT, PRIMARY KEY (a)", "must be NOT ENFORCED"),
        ("a INT, b AS a, PRIMARY KEY (b) NOT ENFORCED", "not a physical column"),
        ("a INT, b AS SUM(a)", "Aggregate function 'SUM' is not allowed in the computed column 'b'"),
    ],
)
def test_schema_errors(body: str, message: str) -> None:
    with pytest.raises(SqlValidationError) as caught:
        _schema(body)
    assert message in str(caught.value)


# -- INSERT -----------------------------------------------------------------------------------------------------------

_SINKS = MemoryCatalog(
    *TABLES,
    "CREATE TABLE s (id BIGINT NOT NULL, name STRING, v DOUBLE, double_id AS id * 2)",
    "CREATE TABLE p (x INT, day STRING, hour INT) PARTITIONED BY (day, hour)".replace("day", "d").replace("hour", "h"),
)


def _sink(text: str) -> Sink:
    [node] = parse_statements(text)
    return analyse_insert(node, _SINKS, text=text)


def test_insert_casts_to_the_types_of_the_sink() -> None:
    sink = _sink("INSERT INTO s SELECT id, name, v FROM u")
    assert plan(sink).splitlines()[1] == "  Project(expressions=[CAST($0):BIGINT NOT NULL, $1, CAST($2):DOUBLE])"
    assert sink.row_type.field_names() == ["id", "name", "v"]


def test_insert_into_some_columns() -> None:
    sink = _sink("INSERT INTO s (v, id) SELECT v, id FROM u")
    assert plan(sink).splitlines()[1] == "  Project(expressions=[CAST($1):BIGINT NOT NULL, None, CAST($0):DOUBLE])"


def test_insert_without_casts_adds_nothing() -> None:
    assert (
        plan(_sink("INSERT INTO u SELECT id, name, v FROM u")).splitlines()[1] == "  Project(expressions=[$0, $1, $2])"
    )


def test_static_partition() -> None:
    sink = _sink("INSERT OVERWRITE p PARTITION (d = 'x') SELECT id, 1 FROM u")
    assert sink.overwrite
    assert sink.static_partition == (("d", "x"),)
    assert plan(sink).splitlines()[1] == "  Project(expressions=[$0, 'x', $1])"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("INSERT INTO nope SELECT 1", "Unknown table 'nope'"),
        ("INSERT INTO s SELECT id FROM u", "The query has 1 columns, but 3 are to be written to 's'"),
        ("INSERT INTO s SELECT name, name, v FROM u", "Column 'id' of 's' is BIGINT NOT NULL, the query has STRING"),
        ("INSERT INTO s (name) SELECT name FROM u", "Column 'id' is NOT NULL and needs a value"),
        ("INSERT INTO s (nam) SELECT name FROM u", "Unknown column 'nam'"),
        ("INSERT INTO p PARTITION (x = 1) SELECT 'a', 1", "Unknown partition column 'x'"),
    ],
)
def test_insert_errors(statement: str, message: str) -> None:
    with pytest.raises(SqlValidationError) as caught:
        _sink(statement)
    assert message in str(caught.value)


def test_expressions_over_a_row() -> None:
    [query] = parse_statements("SELECT id + 1")
    assert isinstance(query, Select)
    row = CATALOG.tables["u"].schema.row_type
    assert shown(analyse_expression(query.items[0].expression, row)) == "+($0, 1)"
