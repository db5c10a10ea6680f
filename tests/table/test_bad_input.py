"""Mistakes of users: each error names the place, the value and what to do, and nothing is written by a job that fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from headrace.errors import HeadraceError
from headrace.table import EnvironmentSettings, TableEnvironment

_T = "CREATE TABLE t ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = {format})"


@pytest.fixture
def environment() -> TableEnvironment:
    found = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    found.get_config().set("headrace.executor", "local").set("parallelism.default", "1")
    found.execute_sql("CREATE TABLE s (a INT, b STRING, c TIMESTAMP(3)) WITH ('connector' = 'datagen')")
    timed = "c TIMESTAMP(3), WATERMARK FOR c AS c"
    found.execute_sql(f"CREATE TABLE timed (a INT, b STRING, {timed}) WITH ('connector' = 'datagen')")
    found.execute_sql("CREATE TABLE p (a INT, b STRING) WITH ('connector' = 'print')")
    return found


def _error(environment: TableEnvironment, *statements: str) -> str:
    with pytest.raises(HeadraceError) as raised:
        for statement in statements:
            result = environment.execute_sql(statement)
            if statement.startswith("INSERT"):
                result.wait()
            elif statement.startswith("SELECT"):
                list(result.collect())
    return str(raised.value)


@pytest.mark.parametrize(
    ("statement", "parts"),
    [
        ("SELECT aa FROM s", ["'aa'", "column 8", "did you mean 'a'"]),
        ("SELECT a FROM ss", ["'ss'", "column 15", "did you mean 's'"]),
        ("SELECT x.a FROM s", ["'x'", "use one of: s"]),
        ("SELECT uper(b) FROM s", ["'uper'", "did you mean 'UPPER'"]),
        ("SELECT a + b FROM s", ["'+'", "argument 2 must be a number, got STRING"]),
        ("SELECT -b FROM s", ["must be a number or an interval"]),
        ("SELECT COALESCE() FROM s", ["at least 1 argument, got 0"]),
        ("SELECT UPPER(a) FROM s", ["UPPER(INT)"]),
        ("SELECT IF(TRUE, 1) FROM s", ["expected: 3 arguments, got 2"]),
        ("SELECT a FROM s WHERE b", ["WHERE needs a BOOLEAN, got STRING"]),
        ("SELECT a, COUNT(*) FROM s GROUP BY b", ["'a' is not being grouped", "add 'a' to GROUP BY"]),
        ("SELECT a FROM s JOIN p ON s.a = p.a", ["'a' is ambiguous", "add the name of its table"]),
        ("SELECT value FROM s", ["reserved word", "`value`"]),
        ("SELECT a FROM s UNION ALL SELECT b FROM s", ["INT, STRING", "CAST"]),
        ("SELECT CAST(TRUE AS DATE)", ["Cannot cast BOOLEAN NOT NULL to DATE"]),
        (
            "SELECT * FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(c), INTERVAL '1' MINUTE))",
            ["'c' is TIMESTAMP(3)", "WATERMARK"],
        ),
        ("SELECT * FROM TABLE(TUMBLE(TABLE timed, DESCRIPTOR(d), INTERVAL '1' DAY))", ["'d'", "use one of: a, b, c"]),
        ("SELECT COUNT(*) FROM s GROUP BY TUMBLE(c, INTERVAL '1' MINUTE)", ["time attribute", "WATERMARK"]),
        ("SELECT SUM(a) OVER (ORDER BY a ROWS 2 PRECEDING) FROM s", ["time attribute"]),
        ("SELECT a FROM s ORDER BY a", ["add LIMIT"]),
        ("INSERT INTO p SELECT b, a FROM s", ["'a'", "is INT, the query has STRING", "CAST"]),
        ("INSERT INTO p SELECT a FROM s", ["1 columns, but 2", "are: a, b"]),
        ("INSERT INTO p (z) SELECT a FROM s", ["'z'", "use one of: a, b"]),
        ("INSERT INTO q SELECT a FROM s", ["'q'"]),
        ("INSERT INTO s SELECT a, b, c FROM s", ["'datagen' can only be used as a source"]),
        ("SELECT * FROM p", ["'print' can only be used as a sink"]),
        ("CREATE TABLE s (a INT) WITH ('connector' = 'print')", ["`s` already exists", "IF NOT EXISTS"]),
        ("CREATE TABLE x (a INT, a INT)", ["'a' is declared twice", "column 24"]),
        ("CREATE TABLE x (a INT, WATERMARK FOR a AS a)", ["'a' must be TIMESTAMP(p)", "not INT"]),
        ("CREATE TABLE x (a INT, PRIMARY KEY (a))", ["NOT ENFORCED"]),
        ("CREATE TABLE x (a INT, PRIMARY KEY (b) NOT ENFORCED)", ["'b'", "use one of: a"]),
        ("DROP TABLE nowhere", ["nowhere' does not exist", "use one of: p, s, timed"]),
    ],
)
def test_statement(environment, statement, parts):
    message = _error(environment, statement)
    assert [part for part in parts if part not in message] == [], message


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ("'connector' = 'filesytem'", ["'filesytem'", "filesystem"]),
        ("'path' = 'x'", ["'connector'", "default_database.t"]),
        ("'connector' = 'filesystem', 'format' = 'json'", ["'path'", "default_database.t"]),
        ("'connector' = 'filesystem', 'path' = 'x'", ["'format'", "default_database.t"]),
        ("'connector' = 'filesystem', 'path' = 'x', 'format' = 'jsn'", ["'jsn'", "json"]),
        ("'connector' = 'datagen', 'rows-per-sec' = '1'", ["'rows-per-sec'", "did you mean 'rows-per-second'"]),
        (
            "'connector' = 'datagen', 'rows-per-second' = 'many'",
            ["'rows-per-second'", "many", "an integer", "_database.t"],
        ),
        (
            "'connector' = 'filesystem', 'path' = 'x', 'format' = 'csv', 'csv.ignore-parse-errors' = 'ja'",
            ["'ignore-parse-errors'", "'csv'", "ja", "true or false", "_database.t"],
        ),
        (
            "'connector' = 'filesystem', 'path' = 'x', 'format' = 'csv', 'csv.nope' = 'ja'",
            ["'nope'", "ignore-parse-errors"],
        ),
    ],
)
def test_options(environment, options, parts):
    message = _error(environment, f"CREATE TABLE t (a INT) WITH ({options})", "SELECT * FROM t")
    assert [part for part in parts if part not in message] == [], message


_JSON = b'{"a": 1, "b": "x"}\n'


@pytest.mark.parametrize(
    ("format_", "data", "parts"),
    [
        ("json", _JSON + b'{"a": "two", "b": "y"}\n', ["line 2", "field: a", '"two"', "json.ignore-parse-errors"]),
        ("json", _JSON + b'{"a": 2, "b": \n' + _JSON, ["line 2", '{"a": 2, "b": ', "json.ignore-parse-errors"]),
        ("json", _JSON + b'{"a": 2, "b": "\xff"}\n' + _JSON, ["line 2", "utf-8", "json.ignore-parse-errors"]),
        ("json", _JSON * 200 + b'{"a": 2, "b": "\xff"}\n', ["line 201", "utf-8", "json.ignore-parse-errors"]),
        ("csv", b"1,x\ntwo,y\n", ["row 2", "field: a", "two", "csv.ignore-parse-errors"]),
        ("csv", b"1,x\n2\n", ["row 2", "2 fields expected but was 1", "csv.ignore-parse-errors"]),
    ],
)
def test_record(environment, tmp_path, format_, data, parts):
    path = tmp_path / f"data.{format_}"
    path.write_bytes(data)
    environment.execute_sql(_T.format(columns="a INT, b STRING", path=path, format=f"'{format_}'"))
    sink = f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'out'}', 'format' = 'json')"
    environment.execute_sql(f"CREATE TABLE written (a INT, b STRING) {sink}")
    message = _error(environment, "INSERT INTO written SELECT * FROM t")
    assert [part for part in [*parts, str(path)] if part not in message] == [], message
    assert _visible(tmp_path / "out") == []


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("SELECT CAST(b AS INT), b FROM t", ["'x'", "INT", "TRY_CAST"]),
        ("SELECT a / (a - 1), b FROM t", ["Division by zero", "NULLIF"]),
        ("SELECT NULLIF(a, 1), b FROM t", ["'a' is NOT NULL", "table.exec.sink.not-null-enforcer"]),
    ],
)
def test_value(environment, tmp_path, query, parts):
    path = tmp_path / "data.json"
    path.write_bytes(_JSON)
    environment.execute_sql(_T.format(columns="a INT, b STRING", path=path, format="'json'"))
    sink = f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'out'}', 'format' = 'json')"
    environment.execute_sql(f"CREATE TABLE written (a INT NOT NULL, b STRING) {sink}")
    message = _error(environment, f"INSERT INTO written {query}")
    assert [part for part in parts if part not in message] == [], message
    assert _visible(tmp_path / "out") == []


@pytest.mark.parametrize(
    "query",
    [
        "SELECT CAST(COUNT(*) AS INT), b FROM s GROUP BY b",
        "SELECT s.a, x.b FROM s LEFT JOIN s AS x ON s.a = x.a",
        "SELECT a, b FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY a) AS n FROM s) WHERE n <= 2",
    ],
)
def test_sink_that_takes_only_insertions(environment, tmp_path, query):
    sink = f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'out'}', 'format' = 'json')"
    environment.execute_sql(f"CREATE TABLE written (a INT, b STRING) {sink}")
    message = _error(environment, f"INSERT INTO written {query}")
    assert "written' doesn't support consuming update" in message
    assert "append-only" in message
    assert _visible(tmp_path / "out") == []


def _visible(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith((".", "_"))]
