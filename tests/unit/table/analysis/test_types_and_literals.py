"""Types as SQL writes them, and constants."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.unit.table.analysis.catalogs import analysed, types

from headrace.table.analysis.types import logical_type
from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.functions.type_text import sql_text
from headrace.table.plan.relations import Project
from headrace.table.plan.rex import Literal
from headrace.table.sql import parse_statements


def _column_type(text: str) -> str:
    [node] = parse_statements(f"CREATE TABLE t (c {text})")
    return sql_text(logical_type(node.elements[0].type))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("INT", "INT"),
        ("INTEGER NOT NULL", "INT NOT NULL"),
        ("DECIMAL", "DECIMAL(10, 0)"),
        ("NUMERIC(5)", "DECIMAL(5, 0)"),
        ("DEC(38, 10) NOT NULL", "DECIMAL(38, 10) NOT NULL"),
        ("VARCHAR", "STRING"),
        ("VARCHAR(3)", "VARCHAR(3)"),
        ("CHAR", "CHAR(1)"),
        ("BINARY(4)", "BINARY(4)"),
        ("BYTES", "BYTES"),
        ("DOUBLE PRECISION", "DOUBLE"),
        ("REAL", "FLOAT"),
        ("TIME", "TIME(0)"),
        ("TIMESTAMP", "TIMESTAMP(6)"),
        ("TIMESTAMP(3) WITHOUT TIME ZONE", "TIMESTAMP(3)"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP_LTZ(3)"),
        ("TIMESTAMP_LTZ", "TIMESTAMP_LTZ(6)"),
        ("ARRAY<INT NOT NULL>", "ARRAY<INT NOT NULL>"),
        ("INT ARRAY", "ARRAY<INT>"),
        ("MAP<STRING, ARRAY<INT>>", "MAP<STRING, ARRAY<INT>>"),
        ("MULTISET<STRING> NOT NULL", "MULTISET<STRING> NOT NULL"),
        ("ROW<a INT, `b c` STRING NOT NULL 'note'>", "ROW<`a` INT, `b c` STRING NOT NULL 'note'>"),
        ("ROW(a INT)", "ROW<`a` INT>"),
    ],
)
def test_types(written: str, expected: str) -> None:
    assert _column_type(written) == expected


@pytest.mark.parametrize("written", ["DECIMAL(39)", "DECIMAL(5, 6)", "TIMESTAMP(10)", "VARCHAR(0)"])
def test_impossible_types(written: str) -> None:
    with pytest.raises(SqlValidationError):
        _column_type(written)


def test_user_types_are_not_supported() -> None:
    with pytest.raises(SqlNotSupportedError, match="my_type"):
        _column_type("my_type")


def _constant(text: str) -> Literal:
    relation = analysed(f"SELECT {text}")
    assert isinstance(relation, Project)
    [value] = relation.expressions
    assert isinstance(value, Literal)
    return value


@pytest.mark.parametrize(
    ("written", "value", "kind"),
    [
        ("1", 1, "INT NOT NULL"),
        ("-1", -1, "INT NOT NULL"),
        ("2147483648", 2147483648, "BIGINT NOT NULL"),
        ("-2147483648", -2147483648, "INT NOT NULL"),
        ("99999999999999999999", Decimal("99999999999999999999"), "DECIMAL(20, 0) NOT NULL"),
        ("0.50", Decimal("0.50"), "DECIMAL(3, 2) NOT NULL"),
        ("-12.5", Decimal("-12.5"), "DECIMAL(3, 1) NOT NULL"),
        ("1e2", 100.0, "DOUBLE NOT NULL"),
        ("'abc'", "abc", "CHAR(3) NOT NULL"),
        ("''", "", "CHAR(0) NOT NULL"),
        ("X'0A0b'", b"\x0a\x0b", "BINARY(2) NOT NULL"),
        ("TRUE", True, "BOOLEAN NOT NULL"),
        ("UNKNOWN", None, "BOOLEAN"),
        ("NULL", None, "NULL"),
        ("DATE '1970-01-03'", 2, "DATE NOT NULL"),
        ("TIME '00:01:00'", 60_000, "TIME(0) NOT NULL"),
        ("TIMESTAMP '1970-01-01 00:00:01.5'", 1_500_000, "TIMESTAMP(1) NOT NULL"),
        ("TIMESTAMP '1969-12-31 23:59:59'", -1_000_000, "TIMESTAMP(0) NOT NULL"),
        ("INTERVAL '1' DAY", 86_400_000, "INTERVAL SECOND(3) NOT NULL"),
        ("INTERVAL '-1' DAY", -86_400_000, "INTERVAL SECOND(3) NOT NULL"),
        ("INTERVAL '1 2:3:4.5' DAY TO SECOND", 93_784_500, "INTERVAL SECOND(3) NOT NULL"),
        ("INTERVAL '10:30' MINUTE TO SECOND", 630_000, "INTERVAL SECOND(3) NOT NULL"),
        ("INTERVAL '0.5' SECOND", 500, "INTERVAL SECOND(3) NOT NULL"),
        ("INTERVAL '1-2' YEAR TO MONTH", 14, "INTERVAL MONTH NOT NULL"),
        ("INTERVAL 3 HOUR", 10_800_000, "INTERVAL SECOND(3) NOT NULL"),
        ("INTERVAL '2' WEEK", 1_209_600_000, "INTERVAL SECOND(3) NOT NULL"),
    ],
)
def test_constants(written: str, value: object, kind: str) -> None:
    found = _constant(written)
    assert found.value == value
    assert sql_text(found.type) == kind


@pytest.mark.parametrize(
    "written", ["DATE '2020-02-30'", "TIME '25:00:00'", "TIMESTAMP '2020-01-01'", "INTERVAL 'x' DAY", "1" * 39]
)
def test_impossible_constants(written: str) -> None:
    with pytest.raises(SqlValidationError, match="line 1, column 8"):
        analysed(f"SELECT {written}")


def test_casts_of_constants_are_folded_where_no_value_is_lost() -> None:
    relation = analysed("SELECT v + 1, name = 'x' FROM u")
    assert "CAST" not in repr([getattr(each, "arguments", ())[1] for each in relation.expressions])


def test_casts() -> None:
    assert types("SELECT CAST(a AS BIGINT), CAST(b AS VARCHAR(3)), TRY_CAST(b AS INT), CAST(NULL AS INT) FROM t") == [
        "BIGINT",
        "VARCHAR(3) NOT NULL",
        "INT",
        "INT",
    ]


def test_impossible_casts() -> None:
    with pytest.raises(SqlValidationError, match="Cannot cast INT to ARRAY<INT>"):
        analysed("SELECT CAST(a AS ARRAY<INT>) FROM t")
