"""Streams to tables and tables to streams: columns, kinds, event time."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from headrace.common import Row, RowKind, Types, WatermarkStrategy
from headrace.common.errors import HeadraceError
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import ProcessFunction
from headrace.table import ChangelogMode, DataTypes, Schema
from headrace.table.errors import SqlValidationError

PEOPLE = Types.ROW_NAMED(["name", "score"], [Types.STRING(), Types.INT()])


def collected(stream):
    with stream.execute_and_collect() as found:
        return list(found)


def rows(table):
    with table.execute().collect() as found:
        return list(found)


class ByScore(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1] * 1000


def people(env, *pairs):
    return env.from_collection([Row(*pair) for pair in pairs], PEOPLE)


class TestFromStreams:
    def test_fields_of_rows_are_columns(self, env, s_env):
        table = s_env.from_data_stream(people(env, ("Ada", 1), ("Bob", None)))
        assert table.get_schema().get_field_names() == ["name", "score"]
        assert [tuple(row) for row in rows(table)] == [("Ada", 1), ("Bob", None)]

    def test_tuples_and_single_values(self, env, s_env):
        pairs = env.from_collection([(1, "a")], Types.TUPLE([Types.LONG(), Types.STRING()]))
        assert s_env.from_data_stream(pairs).get_schema().get_field_names() == ["f0", "f1"]
        numbers = s_env.from_data_stream(env.from_collection([1, 2], Types.INT()))
        assert rows(numbers) == [Row(f0=1), Row(f0=2)]
        assert numbers.get_schema().get_field_data_types() == [DataTypes.INT()]

    def test_names_rename_or_select(self, env, s_env):
        stream = people(env, ("Ada", 1))
        assert rows(s_env.from_data_stream(stream, "score")) == [Row(score=1)]
        assert rows(s_env.from_data_stream(stream, "a", "b")) == [Row(a="Ada", b=1)]

    def test_a_view_of_a_stream(self, env, s_env):
        s_env.create_temporary_view("people", people(env, ("Ada", 1)))
        assert rows(s_env.sql_query("SELECT UPPER(name) AS n FROM people")) == [Row(n="ADA")]

    def test_computed_columns_and_types_of_a_schema(self, env, s_env):
        schema = (
            Schema.new_builder()
            .column("score", "BIGINT")
            .column("name", DataTypes.STRING())
            .column_by_expression("twice", "score * 2")
            .build()
        )
        found = rows(s_env.from_data_stream(people(env, ("Ada", 3)), schema))
        assert found == [Row(score=3, name="Ada", twice=6)]

    def test_a_field_that_does_not_exist(self, env, s_env):
        schema = Schema.new_builder().column("scor", DataTypes.INT()).build()
        with pytest.raises(SqlValidationError, match="Unable to find a field named 'scor'"):
            s_env.from_data_stream(people(env, ("Ada", 3)), schema)

    def test_timestamps_and_watermarks_of_the_stream(self, env, s_env):
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByScore())
        stream = people(env, ("a", 1), ("b", 3), ("a", 11)).assign_timestamps_and_watermarks(strategy)
        schema = (
            Schema.new_builder()
            .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
            .watermark("rowtime", "SOURCE_WATERMARK()")
            .build()
        )
        s_env.create_temporary_view("t", s_env.from_data_stream(stream, schema))
        query = (
            "SELECT window_end, COUNT(*) AS n FROM TUMBLE(TABLE t, DESCRIPTOR(rowtime), INTERVAL '10' SECOND) "
            "GROUP BY window_start, window_end"
        )
        end = datetime.datetime(1970, 1, 1, 0, 0, 10)
        assert [tuple(row) for row in rows(s_env.sql_query(query))] == [
            (end, 2),
            (end + datetime.timedelta(seconds=10), 1),
        ]

    def test_a_value_of_a_wrong_type_fails_with_its_field(self, env, s_env):
        stream = env.from_collection([("Ada", "x")]).map(lambda pair: Row(*pair))
        schema = Schema.new_builder().column("name", DataTypes.STRING()).column("score", DataTypes.INT()).build()
        with pytest.raises(HeadraceError, match="in field 'score'"):
            rows(s_env.from_data_stream(stream, schema))

    def test_streams_of_another_environment_are_refused(self, s_env):
        from headrace.datastream import StreamExecutionEnvironment

        other = StreamExecutionEnvironment.get_execution_environment()
        with pytest.raises(HeadraceError, match="another StreamExecutionEnvironment"):
            s_env.from_data_stream(other.from_collection([1], Types.INT()))


class TestChangelogs:
    CHANGES = (
        Row.of_kind(RowKind.INSERT, "Ada", 12),
        Row.of_kind(RowKind.INSERT, "Bob", 5),
        Row.of_kind(RowKind.UPDATE_BEFORE, "Ada", 12),
        Row.of_kind(RowKind.UPDATE_AFTER, "Ada", 100),
        Row.of_kind(RowKind.DELETE, "Bob", 5),
    )

    def test_kinds_reach_the_query(self, env, s_env):
        table = s_env.from_changelog_stream(env.from_collection(list(self.CHANGES), PEOPLE))
        s_env.create_temporary_view("t", table)
        found = rows(s_env.sql_query("SELECT SUM(score) AS s, COUNT(*) AS n FROM t"))
        assert tuple(found[-1]) == (100, 1)
        assert [str(row.get_row_kind()) for row in rows(table)] == ["+I", "+I", "-U", "+U", "-D"]

    def test_upserts_need_a_key(self, env, s_env):
        schema = (
            Schema.new_builder()
            .column("name", DataTypes.STRING().not_null())
            .column("score", DataTypes.INT())
            .primary_key("name")
            .build()
        )
        changes = [
            Row.of_kind(RowKind.INSERT, "Ada", 1),
            Row.of_kind(RowKind.UPDATE_AFTER, "Ada", 2),
            Row.of_kind(RowKind.DELETE, "Ada", 2),
        ]
        table = s_env.from_changelog_stream(env.from_collection(changes, PEOPLE), schema, ChangelogMode.upsert())
        s_env.create_temporary_view("t", table)
        found = rows(s_env.sql_query("SELECT SUM(score) AS s FROM t"))
        assert [(str(row.get_row_kind()), row.s) for row in found][-1] in [("+U", None), ("-D", 2)]

    def test_changes_of_a_query_as_a_stream(self, env, s_env):
        s_env.create_temporary_view("t", people(env, ("a", 1), ("a", 2)))
        stream = s_env.to_changelog_stream(s_env.sql_query("SELECT name, SUM(score) AS s FROM t GROUP BY name"))
        found = [(str(row.get_row_kind()), row.name, row.s) for row in collected(stream)]
        assert found == [("+I", "a", 1), ("-U", "a", 1), ("+U", "a", 3)]

    def test_without_the_rows_before_updates(self, env, s_env):
        s_env.create_temporary_view("t", people(env, ("a", 1), ("a", 2)))
        table = s_env.sql_query("SELECT name, SUM(score) AS s FROM t GROUP BY name")
        stream = s_env.to_changelog_stream(table, None, ChangelogMode.upsert())
        assert [str(row.get_row_kind()) for row in collected(stream)] == ["+I", "+U"]

    def test_updates_are_refused_where_rows_are_only_added(self, env, s_env):
        s_env.create_temporary_view("t", people(env, ("a", 1)))
        table = s_env.sql_query("SELECT name, SUM(score) AS s FROM t GROUP BY name")
        for convert in (s_env.to_data_stream, lambda t: s_env.to_append_stream(t, PEOPLE)):
            with pytest.raises(SqlValidationError, match="to_changelog_stream"):
                convert(table)

    def test_retract_stream(self, env, s_env):
        s_env.create_temporary_view("t", people(env, ("a", 1), ("a", 2)))
        table = s_env.sql_query("SELECT name, CAST(SUM(score) AS INT) AS s FROM t GROUP BY name")
        stream = s_env.to_retract_stream(table, Types.TUPLE([Types.STRING(), Types.INT()]))
        assert collected(stream) == [(True, ("a", 1)), (False, ("a", 1)), (True, ("a", 3))]


class TestToStreams:
    def test_rows_with_python_values(self, env, s_env):
        table = s_env.sql_query(
            "SELECT 1 AS i, CAST(1.5 AS DECIMAL(3, 1)) AS d, DATE '2020-01-01' AS day_, ARRAY['x'] AS a, MAP['k', 1] AS m, ROW(1, 'y') AS r"
        )
        (row,) = collected(s_env.to_data_stream(table))
        assert row.i == 1 and row.d == Decimal("1.5") and row.day_ == datetime.date(2020, 1, 1)
        assert row.a == ["x"] and row.m == {"k": 1} and tuple(row.r) == (1, "y")

    def test_operators_can_follow(self, env, s_env):
        s_env.create_temporary_view("t", people(env, ("a", 1), ("b", 2)))
        stream = s_env.to_data_stream(s_env.sql_query("SELECT * FROM t WHERE score > 1"))
        assert collected(stream.map(lambda row: row.name + "!", Types.STRING())) == ["b!"]

    def test_event_time_goes_on(self, env, s_env):
        class Times(ProcessFunction):
            def process_element(self, value, ctx):
                yield value[0], ctx.timestamp()

        schema = (
            Schema.new_builder()
            .column_by_expression("ts", "TO_TIMESTAMP_LTZ(score * 1000, 3)")
            .watermark("ts", "ts - INTERVAL '1' SECOND")
            .build()
        )
        table = s_env.from_data_stream(people(env, ("a", 1), ("b", 2)), schema)
        assert collected(s_env.to_data_stream(table).process(Times())) == [("a", 1000), ("b", 2000)]

    def test_append_stream_of_tuples(self, env, s_env):
        table = s_env.from_data_stream(people(env, ("a", 1)))
        stream = s_env.to_append_stream(table, Types.TUPLE([Types.STRING(), Types.INT()]))
        assert collected(stream) == [("a", 1)]

    def test_tables_and_streams_run_in_jobs_of_their_own(self, env, s_env, tmp_path):
        """An INSERT does not start the sinks of the stream environment, and the other way round."""
        seen = []
        people(env, ("a", 1)).map(lambda row: seen.append(row) or row).print()
        s_env.create_temporary_view("t", people(env, ("b", 2)))
        s_env.execute_sql("CREATE TABLE sink (name STRING, score INT) WITH ('connector' = 'blackhole')")
        s_env.execute_sql("INSERT INTO sink SELECT * FROM t").wait()
        names = [vertex.name for vertex in env.get_job_graph().vertices.values()]
        assert all("blackhole" not in name and "sink" not in name for name in names), names
        assert any("Print" in name for name in names)
