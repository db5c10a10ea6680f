"""Tables of files: formats, partitions, metadata, bad records, and what INSERT leaves behind."""

from __future__ import annotations

import datetime
import gzip
import json
from decimal import Decimal

import pytest

from headrace.common import Row
from headrace.common.errors import HeadraceError
from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.formats import line_blocks

ALL_TYPES = (
    "b BOOLEAN, t TINYINT, s SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, n DECIMAL(10, 2), c STRING, y BYTES, "
    "dt DATE, tm TIME, ts TIMESTAMP(3), tz TIMESTAMP_LTZ(3), a ARRAY<INT>, r ROW<x INT, y STRING>"
)
VALUES = (
    "TRUE, CAST(1 AS TINYINT), CAST(2 AS SMALLINT), 3, CAST(4 AS BIGINT), CAST(1.5 AS FLOAT), CAST(2.5 AS DOUBLE), "
    "CAST(12.34 AS DECIMAL(10, 2)), 'a, \"b\"', X'01ff', DATE '2020-12-31', TIME '12:59:59', "
    "TIMESTAMP '2020-12-31 12:59:59.123', TO_TIMESTAMP_LTZ(1500, 3), ARRAY[1, CAST(NULL AS INT)], ROW(1, 'z')"
)
EXPECTED = [
    True, 1, 2, 3, 4, 1.5, 2.5, Decimal("12.34"), 'a, "b"', b"\x01\xff", datetime.date(2020, 12, 31),
    datetime.time(12, 59, 59), datetime.datetime(2020, 12, 31, 12, 59, 59, 123000),
    datetime.datetime(1970, 1, 1, 0, 0, 1, 500000, tzinfo=datetime.timezone.utc), [1, None], Row(x=1, y="z"),
]  # fmt: skip


def rows(result):
    with result.collect() as found:
        return list(found)


def table(t_env, path, columns, form="json", name="t", rest="", options=""):
    t_env.execute_sql(
        f"CREATE TABLE {name} ({columns}) {rest} WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = '{form}'{options})"
    )


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_all_types_survive_a_file(t_env, tmp_path, form):
    table(t_env, tmp_path, ALL_TYPES + ", m MAP<STRING, INT>, nothing STRING", form)
    t_env.execute_sql(f"INSERT INTO t SELECT {VALUES}, MAP['k', 1], CAST(NULL AS STRING)").wait()
    (found,) = rows(t_env.execute_sql("SELECT * FROM t"))
    assert list(found) == [*EXPECTED, {"k": 1}, None]


def test_csv_has_no_maps_but_all_other_types(t_env, tmp_path):
    table(t_env, tmp_path, ALL_TYPES, "csv", options=", 'csv.null-literal' = 'NULL'")
    t_env.execute_sql(f"INSERT INTO t SELECT {VALUES}").wait()
    (found,) = rows(t_env.execute_sql("SELECT * FROM t"))
    assert list(found) == EXPECTED
    table(t_env, tmp_path / "other", "m MAP<STRING, INT>", "csv", name="maps")
    with pytest.raises(SqlNotSupportedError, match="does not support the type MAP<STRING, INT>"):
        t_env.execute_sql("SELECT * FROM maps")


def test_raw_lines(t_env, tmp_path):
    (tmp_path / "in.txt").write_text("to be\r\nor not\n")
    table(t_env, tmp_path, "line STRING", "raw")
    assert [row.line for row in rows(t_env.execute_sql("SELECT * FROM t"))] == ["to be", "or not"]
    table(t_env, tmp_path, "a STRING, b STRING", "raw", name="two")
    with pytest.raises(SqlValidationError, match="only supports single physical column"):
        t_env.execute_sql("SELECT * FROM two")


def test_json_is_written_as_flink_does(t_env, tmp_path):
    table(t_env, tmp_path, "a INT, d DOUBLE, n DECIMAL(20, 8), ts TIMESTAMP(3), s STRING")
    t_env.execute_sql(
        "INSERT INTO t SELECT 1, CAST(1e10 AS DOUBLE), CAST(0.00000001 AS DECIMAL(20, 8)), TIMESTAMP '2020-01-01 00:00:01.500', 'ä\"'"
    ).wait()
    (file,) = [path for path in tmp_path.iterdir() if not path.name.startswith(".")]
    assert file.read_text() == '{"a":1,"d":1.0E10,"n":1E-8,"ts":"2020-01-01 00:00:01.5","s":"ä\\""}\n'


class TestReadingJson:
    def test_conversions_of_odd_values(self, t_env, tmp_path):
        lines = ['{"i": "12", "s": 5, "b": "true", "d": "1.5"}', '{"i": 1.9, "s": {"x": 1}, "b": 1}', "", "[]"]
        (tmp_path / "in.json").write_text("\n".join(lines))
        table(t_env, tmp_path, "i INT, s STRING, b BOOLEAN, d DOUBLE")
        found = [tuple(row) for row in rows(t_env.execute_sql("SELECT * FROM t"))]
        assert found == [(12, "5", True, 1.5), (1, '{"x":1}', False, None)]

    def test_a_bad_line_fails_with_its_place(self, t_env, tmp_path):
        (tmp_path / "in.json").write_text('{"i": 1}\n{"i": 2}\n{"i": nope}\n')
        table(t_env, tmp_path, "i INT")
        with pytest.raises(HeadraceError, match=r"in\.json' cannot be read, line 3"):
            rows(t_env.execute_sql("SELECT * FROM t"))

    def test_a_bad_field_is_named(self, t_env, tmp_path):
        (tmp_path / "in.json").write_text('{"i": "x"}\n')
        table(t_env, tmp_path, "i INT")
        with pytest.raises(HeadraceError, match="Fail to deserialize at field: i"):
            rows(t_env.execute_sql("SELECT * FROM t"))

    def test_errors_can_be_ignored(self, t_env, tmp_path):
        (tmp_path / "in.json").write_text('{"i": 1, "j": 1}\nnope\n{"i": "x", "j": 2}\n')
        table(t_env, tmp_path, "i INT, j INT", options=", 'json.ignore-parse-errors' = 'true'")
        assert [tuple(row) for row in rows(t_env.execute_sql("SELECT * FROM t"))] == [(1, 1), (None, 2)]

    def test_missing_fields_can_fail(self, t_env, tmp_path):
        (tmp_path / "in.json").write_text('{"i": 1}\n')
        table(t_env, tmp_path, "i INT, j INT", options=", 'json.fail-on-missing-field' = 'true'")
        with pytest.raises(HeadraceError, match="Could not find field with name 'j'"):
            rows(t_env.execute_sql("SELECT * FROM t"))

    def test_large_files_are_read_as_columns(self, t_env, tmp_path):
        lines = [json.dumps({"i": number, "s": f"user-{number % 7}"}) for number in range(20_000)]
        (tmp_path / "in.json").write_text("\n".join(lines) + "\n")
        table(t_env, tmp_path, "i BIGINT, s STRING")
        found = rows(t_env.execute_sql("SELECT s, i FROM t WHERE MOD(i, 5000) = 1"))
        assert [tuple(row) for row in found] == [(f"user-{n % 7}", n) for n in (1, 5001, 10001, 15001)]

    def test_iso_timestamps(self, t_env, tmp_path):
        (tmp_path / "in.json").write_text('{"ts": "2020-01-01T00:00:01"}\n')
        table(t_env, tmp_path, "ts TIMESTAMP(3)", options=", 'json.timestamp-format.standard' = 'ISO-8601'")
        assert rows(t_env.execute_sql("SELECT * FROM t"))[0].ts == datetime.datetime(2020, 1, 1, 0, 0, 1)

    def test_compressed_files(self, t_env, tmp_path):
        with gzip.open(tmp_path / "in.json.gz", "wt") as file:
            file.write('{"i": 1}\n{"i": 2}\n')
        table(t_env, tmp_path, "i INT")
        assert [row.i for row in rows(t_env.execute_sql("SELECT * FROM t"))] == [1, 2]


class TestReadingCsv:
    def test_options(self, t_env, tmp_path):
        (tmp_path / "in.csv").write_text("# a comment\n1;'a;b';NULL\n2;c;3\n")
        options = ", 'csv.field-delimiter' = ';', 'csv.quote-character' = '''', 'csv.null-literal' = 'NULL', 'csv.allow-comments' = 'true'"
        table(t_env, tmp_path, "i INT, s STRING, j INT", "csv", options=options)
        assert [tuple(row) for row in rows(t_env.execute_sql("SELECT * FROM t"))] == [(1, "a;b", None), (2, "c", 3)]

    def test_some_columns_are_read_by_position(self, t_env, tmp_path):
        (tmp_path / "in.csv").write_text("1,x,10\n2,y,20\n")
        table(t_env, tmp_path, "a INT, b STRING, c INT", "csv")
        assert [tuple(row) for row in rows(t_env.execute_sql("SELECT c, a FROM t"))] == [(10, 1), (20, 2)]

    def test_wrong_number_of_fields(self, t_env, tmp_path):
        (tmp_path / "in.csv").write_text("1,2\n1\n")
        table(t_env, tmp_path, "a INT, b INT", "csv")
        with pytest.raises(HeadraceError, match="Row length mismatch. 2 fields expected but was 1"):
            rows(t_env.execute_sql("SELECT * FROM t"))

    def test_errors_can_be_ignored(self, t_env, tmp_path):
        (tmp_path / "in.csv").write_text("1,2\nx,4\n5\n")
        table(t_env, tmp_path, "a INT, b INT", "csv", options=", 'csv.ignore-parse-errors' = 'true'")
        assert [tuple(row) for row in rows(t_env.execute_sql("SELECT * FROM t"))] == [(1, 2), (None, 4), (5, None)]


class TestPartitions:
    def test_rows_go_to_directories_and_come_back(self, t_env, tmp_path):
        table(t_env, tmp_path, "v INT, dy DATE, hr STRING", rest="PARTITIONED BY (dy, hr)")
        t_env.execute_sql(
            "INSERT INTO t VALUES (1, DATE '2020-01-01', '1:0'), (2, DATE '2020-01-02', CAST(NULL AS STRING))"
        ).wait()
        folders = sorted(str(path.parent.relative_to(tmp_path)) for path in tmp_path.rglob("part-*"))
        assert folders == ["dy=2020-01-01/hr=1%3A0", "dy=2020-01-02/hr=__DEFAULT_PARTITION__"]
        assert json.loads(next(tmp_path.glob("dy=2020-01-01/*/part-*")).read_text()) == {"v": 1}
        found = sorted(tuple(row) for row in rows(t_env.execute_sql("SELECT * FROM t")))
        assert found == [(1, datetime.date(2020, 1, 1), "1:0"), (2, datetime.date(2020, 1, 2), None)]

    def test_static_partition(self, t_env, tmp_path):
        table(t_env, tmp_path, "v INT, k STRING", rest="PARTITIONED BY (k)")
        t_env.execute_sql("INSERT INTO t PARTITION (k = 'x') SELECT 1").wait()
        assert [path.parent.name for path in tmp_path.rglob("part-*")] == ["k=x"]

    @pytest.mark.parametrize("form", ["parquet", "csv"])
    def test_other_formats(self, t_env, tmp_path, form):
        table(t_env, tmp_path, "v INT, k STRING, w INT", form, rest="PARTITIONED BY (k)")
        t_env.execute_sql("INSERT INTO t VALUES (1, 'x', 2)").wait()
        assert [tuple(row) for row in rows(t_env.execute_sql("SELECT w, k, v FROM t"))] == [(2, "x", 1)]


def test_metadata_of_files(t_env, tmp_path):
    (tmp_path / "in.json").write_text('{"i": 1}\n')
    columns = "i INT, name STRING METADATA FROM 'file.name', size BIGINT METADATA FROM 'file.size' VIRTUAL"
    table(t_env, tmp_path, columns)
    assert [tuple(row) for row in rows(t_env.execute_sql("SELECT i, name, size FROM t"))] == [(1, "in.json", 9)]
    table(t_env, tmp_path, "i INT, x STRING METADATA", name="wrong")
    with pytest.raises(SqlValidationError, match="Invalid metadata key 'x'"):
        t_env.execute_sql("SELECT * FROM wrong")


def test_overwrite_replaces_files_in_batch_mode(batch_env, t_env, tmp_path):
    for env in (batch_env, t_env):
        table(env, tmp_path, "i INT")
    batch_env.execute_sql("INSERT INTO t VALUES (1)").wait()
    batch_env.execute_sql("INSERT OVERWRITE t VALUES (2)").wait()
    assert [row.i for row in rows(batch_env.execute_sql("SELECT * FROM t"))] == [2]
    with pytest.raises(SqlNotSupportedError, match="Streaming mode not support overwrite"):
        t_env.execute_sql("INSERT OVERWRITE t VALUES (3)")


class TestWrongOptions:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ("'connector' = 'filesystem', 'path' = '/x'", "the option 'format'"),
            ("'connector' = 'filesystem', 'format' = 'json'", "the option 'path'"),
            ("'connector' = 'filesystem', 'path' = '/x', 'format' = 'jsn'", "did you mean 'json'"),
            ("'connector' = 'filesystem', 'pth' = '/x', 'path' = '/x', 'format' = 'json'", "did you mean 'path'"),
            (
                "'connector' = 'filesystem', 'path' = '/x', 'format' = 'json', 'json.ignore-parse-error' = 'true'",
                "did you mean 'ignore-parse-errors'",
            ),
            (
                "'connector' = 'filesystem', 'path' = '/x', 'format' = 'json', 'json.ignore-parse-errors' = 'maybe'",
                "true or false",
            ),
            ("'connector' = 'kafka'", "There is no table connector 'kafka'"),
            ("'connector' = 'pritn'", "did you mean 'print'"),
        ],
    )
    def test_errors_name_the_nearest(self, t_env, options, message):
        t_env.execute_sql(f"CREATE TABLE t (a INT) WITH ({options})")
        with pytest.raises(SqlValidationError) as raised:
            t_env.execute_sql("SELECT * FROM t")
        assert message in str(raised.value)

    def test_a_hint_can_change_an_option(self, t_env, tmp_path):
        (tmp_path / "in.json").write_text('{"i": 1}\nnope\n')
        table(t_env, tmp_path, "i INT")
        query = "SELECT * FROM t /*+ OPTIONS('json.ignore-parse-errors' = 'true') */"
        assert [row.i for row in rows(t_env.execute_sql(query))] == [1]

    def test_updates_are_refused(self, t_env, tmp_path):
        table(t_env, tmp_path, "i INT, n BIGINT")
        t_env.create_temporary_view("v", t_env.from_elements([(1,), (1,)], ["i"]))
        with pytest.raises(HeadraceError, match="update"):
            t_env.execute_sql("INSERT INTO t SELECT CAST(i AS INT), COUNT(*) FROM v GROUP BY i")


@pytest.mark.parametrize("mode", ["t_env", "batch_env"])
def test_a_stream_has_the_rows_of_a_large_file_in_their_order(mode, request, tmp_path, monkeypatch):
    monkeypatch.setattr(line_blocks, "_PART", 1000)  # above this size, several subtasks of a batch job read a file
    environment = request.getfixturevalue(mode)
    environment.get_config().set("parallelism.default", "2")
    (tmp_path / "in.json").write_text("".join(json.dumps({"n": n}) + "\n" for n in range(30_000)))
    table(environment, tmp_path, "n INT")
    found = [row.n for row in rows(environment.execute_sql("SELECT n FROM t WHERE n >= 0"))]
    assert sorted(found) == list(range(30_000))
    assert found == sorted(found) or mode == "batch_env"
