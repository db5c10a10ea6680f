"""The trees of statements: precedence, clauses in their places, names."""

from typing import Any

from headrace.table.sql import parse_statements
from headrace.table.sql.syntax.expressions import (
    Between,
    Binary,
    Call,
    Cast,
    Identifier,
    IntervalLiteral,
    IntervalQualifier,
    Literal,
    NamedArgument,
    Over,
    Subquery,
    TableArgument,
    Unary,
)
from headrace.table.sql.syntax.queries import (
    Aliased,
    AsOf,
    Join,
    MatchRecognize,
    Ordered,
    Select,
    SetOperation,
    TableFunction,
    With,
)
from headrace.table.sql.syntax.statements import AlterObject, CreateTable, Explain, Insert, StatementSet
from headrace.table.sql.syntax.tables import ComputedColumn, Constraint, MetadataColumn, PhysicalColumn, Watermark
from headrace.table.sql.syntax.types import DataType, TypeField


def one(text: str) -> Any:
    [statement] = parse_statements(text)
    return statement


def value(text: str) -> Any:
    return one(f"SELECT {text}").items[0].expression


def column(name: str) -> Identifier:
    return Identifier((name,))


def test_precedence() -> None:
    assert value("a + b * c") == Binary("+", column("a"), Binary("*", column("b"), column("c")))
    assert value("a OR b AND NOT c") == Binary("OR", column("a"), Binary("AND", column("b"), Unary("NOT", column("c"))))
    assert value("-a * b") == Binary("*", Unary("-", column("a")), column("b"))
    assert value("a = b + 1") == Binary("=", column("a"), Binary("+", column("b"), Literal("INTEGER", 1)))
    assert value("a - b - c") == Binary("-", Binary("-", column("a"), column("b")), column("c"))
    assert value("NOT a = b") == Unary("NOT", Binary("=", column("a"), column("b")))


def test_between_ends_at_its_and() -> None:
    found = value("a BETWEEN 1 AND 2 AND b")
    assert found == Binary("AND", Between(column("a"), Literal("INTEGER", 1), Literal("INTEGER", 2)), column("b"))


def test_a_subquery_and_a_union_in_parentheses() -> None:
    assert isinstance(value("(SELECT 1)"), Subquery)
    assert isinstance(value("((SELECT 1) UNION (SELECT 2))").query, SetOperation)
    assert isinstance(value("((SELECT 1) + 2)"), Binary)


def test_intersect_binds_tighter_than_union() -> None:
    found = one("SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 3")
    assert (found.operator, found.all) == ("UNION", True)
    assert found.right.operator == "INTERSECT"


def test_calls() -> None:
    call = value("COUNT(DISTINCT a) FILTER (WHERE b > 1)")
    assert call.quantifier == "DISTINCT"
    assert call.filter == Binary(">", column("b"), Literal("INTEGER", 1))
    over = value("SUM(a) OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)")
    assert isinstance(over, Over)
    assert over.window.frame.start.kind == "PRECEDING"
    assert over.window.frame.end.kind == "CURRENT ROW"
    assert value("CAST(a AS DECIMAL(10, 2))") == Cast(column("a"), DataType("DECIMAL", (10, 2)))
    assert value("CURRENT_TIMESTAMP") == Call(("CURRENT_TIMESTAMP",), bare=True)
    assert value("JSON_VALUE(a, '$.b' NULL ON EMPTY)").clauses == (("ON EMPTY", "NULL"),)


def test_literals() -> None:
    assert value("'it''s'") == Literal("STRING", "it's")
    assert value("X'0AFF'") == Literal("BINARY", b"\x0a\xff")
    assert value(r"U&'\00e9'") == Literal("STRING", "é", "UTF16")
    assert value("1.50").value.as_tuple().exponent == -2
    assert value("INTERVAL '1 2' DAY TO HOUR") == IntervalLiteral("1 2", IntervalQualifier("DAY", None, "HOUR"))


def test_a_window_with_named_arguments() -> None:
    source = one("SELECT * FROM TABLE(TUMBLE(DATA => TABLE t, SIZE => INTERVAL '1' DAY)) AS w").source
    assert isinstance(source, Aliased)
    assert isinstance(source.relation, TableFunction)
    call = source.relation.call
    assert isinstance(call, Call)
    assert call.arguments[0] == NamedArgument("DATA", TableArgument(("t",)))


def test_joins() -> None:
    source = one("SELECT * FROM a, b LEFT JOIN c FOR SYSTEM_TIME AS OF b.ts AS d ON b.x = d.x").source
    assert isinstance(source, Join)
    assert source.kind == "COMMA"
    assert isinstance(source.right, Join)
    assert source.right.kind == "LEFT"
    assert isinstance(source.right.right, Aliased)
    assert isinstance(source.right.right.relation, AsOf)


def test_match_recognize() -> None:
    source = one(
        """
        SELECT * FROM t MATCH_RECOGNIZE (
            PARTITION BY k ORDER BY ts
            MEASURES LAST(b.x) AS last_x
            ONE ROW PER MATCH AFTER MATCH SKIP TO FIRST b
            PATTERN (a b{2,}? c*) WITHIN INTERVAL '1' HOUR
            DEFINE a AS a.x > 1, b AS TRUE)
        """
    ).source
    assert isinstance(source, MatchRecognize)
    assert source.after_match == ("FIRST", "b")
    assert source.pattern == (
        "SEQUENCE",
        (
            ("VARIABLE", "a"),
            ("TIMES", ("VARIABLE", "b"), 2, None, False),
            ("TIMES", ("VARIABLE", "c"), 0, None, True),
        ),
    )


def test_queries_around_queries() -> None:
    found = one("WITH x AS (SELECT 1) SELECT * FROM x ORDER BY 1 DESC NULLS LAST LIMIT 3 OFFSET 1")
    assert isinstance(found, Ordered)
    assert (found.order_by[0].descending, found.order_by[0].nulls_first) == (True, False)
    assert found.limit == Literal("INTEGER", 3)
    assert isinstance(found.query, With)


def test_create_table() -> None:
    found = one(
        """
        CREATE TEMPORARY TABLE IF NOT EXISTS db.t (
            id BIGINT NOT NULL COMMENT 'key',
            total AS price * 2,
            ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL,
            r ROW<a INT, b STRING>,
            WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
            PRIMARY KEY (id) NOT ENFORCED
        ) PARTITIONED BY (id) WITH ('connector' = 'kafka')
        """
    )
    assert isinstance(found, CreateTable)
    assert (found.name, found.temporary, found.if_not_exists) == (("db", "t"), True, True)
    kinds = [type(element) for element in found.elements]
    assert kinds == [PhysicalColumn, ComputedColumn, MetadataColumn, PhysicalColumn, Watermark, Constraint]
    identity = found.elements[0]
    assert isinstance(identity, PhysicalColumn)
    assert identity.type == DataType("BIGINT", nullable=False)
    row = found.elements[3]
    assert isinstance(row, PhysicalColumn)
    assert row.type.arguments == (TypeField("a", DataType("INTEGER")), TypeField("b", DataType("STRING")))
    assert found.options == (("connector", "kafka"),)


def test_statements_about_statements() -> None:
    found = one("EXPLAIN CHANGELOG_MODE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END")
    assert isinstance(found, Explain)
    assert isinstance(found.statement, StatementSet)
    assert all(isinstance(insert, Insert) for insert in found.statement.statements)
    altered = one("ALTER TABLE t ADD (x INT FIRST, WATERMARK FOR ts AS ts)")
    assert isinstance(altered, AlterObject)
    assert altered.action.kind == "ADD"


def test_several_statements_and_their_positions() -> None:
    first, second = parse_statements("-- a comment\nSELECT 1;\n/* another */ SELECT b.`c d`;")
    assert isinstance(first, Select)
    assert isinstance(second, Select)
    assert second.items[0].expression == Identifier(("b", "c d"))
    assert second.position == 37
