"""DDL, SHOW, DESCRIBE, USE, SET, and statements that cannot run."""

from __future__ import annotations

import pytest

from headrace.common.errors import HeadraceError
from headrace.table import ResultKind, Schema
from headrace.table.errors import SqlNotSupportedError, SqlValidationError

ORDERS = (
    "CREATE TABLE orders (id BIGINT NOT NULL COMMENT 'the id', name STRING, ts TIMESTAMP(3), up AS UPPER(name), "
    "m STRING METADATA FROM 'file.path' VIRTUAL, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, "
    "PRIMARY KEY (id) NOT ENFORCED) COMMENT 'all orders' PARTITIONED BY (name) "
    "WITH ('path' = '/tmp/o', 'connector' = 'filesystem', 'format' = 'json')"
)


def values(t_env, statement):
    return [tuple(row) if len(row) > 1 else row[0] for row in t_env.execute_sql(statement).collect()]


class TestTables:
    def test_show_create_table_is_flinks(self, t_env):
        assert t_env.execute_sql(ORDERS).get_result_kind() == ResultKind.SUCCESS
        (shown,) = values(t_env, "SHOW CREATE TABLE orders")
        assert shown == (
            "CREATE TABLE `default_catalog`.`default_database`.`orders` (\n"
            "  `id` BIGINT NOT NULL COMMENT 'the id',\n"
            "  `name` VARCHAR(2147483647),\n"
            "  `ts` TIMESTAMP(3),\n"
            "  `up` AS UPPER(`name`),\n"
            "  `m` VARCHAR(2147483647) METADATA FROM 'file.path' VIRTUAL,\n"
            "  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,\n"
            "  CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED\n"
            ")\n"
            "COMMENT 'all orders'\n"
            "PARTITIONED BY (`name`)\n"
            "WITH (\n"
            "  'connector' = 'filesystem',\n"
            "  'format' = 'json',\n"
            "  'path' = '/tmp/o'\n"
            ")\n"
        )
        t_env.execute_sql("DROP TABLE orders")
        t_env.execute_sql(shown)
        assert values(t_env, "SHOW CREATE TABLE orders") == [shown]

    def test_describe(self, t_env):
        t_env.execute_sql(ORDERS)
        assert values(t_env, "DESCRIBE orders") == [
            ("id", "BIGINT", False, "PRI(id)", None, None, "the id"),
            ("name", "STRING", True, None, None, None, None),
            ("ts", "TIMESTAMP(3) *ROWTIME*", True, None, None, "`ts` - INTERVAL '5' SECOND", None),
            ("up", "STRING", True, None, "AS UPPER(`name`)", None, None),
            ("m", "STRING", True, None, "METADATA FROM 'file.path' VIRTUAL", None, None),
        ]
        assert [row[0] for row in values(t_env, "SHOW COLUMNS FROM orders NOT LIKE '%m%'")] == ["id", "ts", "up"]

    def test_exists_already(self, t_env):
        t_env.execute_sql("CREATE TABLE t (a INT)")
        t_env.execute_sql("CREATE TABLE IF NOT EXISTS t (b INT)")
        with pytest.raises(SqlValidationError, match="already exists"):
            t_env.execute_sql("CREATE TABLE t (b INT)")
        assert t_env.from_path("t").get_schema().get_field_names() == ["a"]

    def test_a_temporary_table_hides_the_other(self, t_env):
        t_env.execute_sql("CREATE TABLE t (a INT)")
        t_env.execute_sql("CREATE TEMPORARY TABLE t (b INT)")
        assert t_env.from_path("t").get_schema().get_field_names() == ["b"]
        assert t_env.list_temporary_tables() == ["t"]
        with pytest.raises(SqlValidationError, match="Drop it first"):
            t_env.execute_sql("DROP TABLE t")
        assert t_env.drop_temporary_table("t") and not t_env.drop_temporary_table("t")
        assert t_env.from_path("t").get_schema().get_field_names() == ["a"]

    def test_like_and_as(self, t_env, tmp_path):
        t_env.execute_sql(ORDERS)
        t_env.execute_sql("CREATE TABLE copy (extra INT) WITH ('path' = '/tmp/c') LIKE orders (EXCLUDING WATERMARKS)")
        assert "`extra` INT" in values(t_env, "SHOW CREATE TABLE copy")[0]
        assert "WATERMARK" not in values(t_env, "SHOW CREATE TABLE copy")[0]
        t_env.execute_sql(
            f"CREATE TABLE made WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json') AS SELECT 1 AS a, 'x' AS b"
        ).wait()
        assert values(t_env, "SELECT * FROM made") == [(1, "x")]

    def test_dropping_what_does_not_exist(self, t_env):
        t_env.execute_sql("CREATE TABLE orders2 (a INT)")
        with pytest.raises(SqlValidationError, match="does not exist") as raised:
            t_env.execute_sql("DROP TABLE order2")
        assert raised.value.remedy == "did you mean 'orders2'?"
        assert t_env.drop_table("nope") is False
        with pytest.raises(SqlValidationError):
            t_env.drop_table("nope", False)


class TestAlterTable:
    def test_columns(self, t_env):
        t_env.execute_sql("CREATE TABLE t (a INT, b STRING, c AS a + 1) WITH ('connector' = 'datagen')")
        t_env.execute_sql("ALTER TABLE t ADD (x INT AFTER a, y BIGINT FIRST)")
        assert [row[0] for row in values(t_env, "DESCRIBE t")] == ["y", "a", "x", "b", "c"]
        t_env.execute_sql("ALTER TABLE t MODIFY b BIGINT FIRST")
        t_env.execute_sql("ALTER TABLE t RENAME x TO z")
        t_env.execute_sql("ALTER TABLE t DROP y")
        assert [row[:2] for row in values(t_env, "DESCRIBE t")] == [
            ("b", "BIGINT"), ("a", "INT"), ("z", "INT"), ("c", "INT"),
        ]  # fmt: skip
        assert values(t_env, "DESCRIBE t")[-1][4] == "AS `a` + 1"

    def test_expressions_must_keep_their_meaning(self, t_env):
        t_env.execute_sql("CREATE TABLE t (a INT, c AS a + 1) WITH ('connector' = 'datagen')")
        with pytest.raises(SqlValidationError, match="Unknown column 'a'"):
            t_env.execute_sql("ALTER TABLE t DROP a")
        assert [row[0] for row in values(t_env, "DESCRIBE t")] == ["a", "c"]

    def test_keys_and_watermarks(self, t_env):
        t_env.execute_sql("CREATE TABLE t (a INT NOT NULL, ts TIMESTAMP(3)) WITH ('connector' = 'datagen')")
        t_env.execute_sql("ALTER TABLE t ADD (PRIMARY KEY (a) NOT ENFORCED, WATERMARK FOR ts AS ts)")
        assert [row[3] for row in values(t_env, "DESCRIBE t")] == ["PRI(a)", None]
        with pytest.raises(SqlValidationError, match="already defined the watermark"):
            t_env.execute_sql("ALTER TABLE t ADD WATERMARK FOR ts AS ts")
        t_env.execute_sql("ALTER TABLE t MODIFY WATERMARK FOR ts AS ts - INTERVAL '1' SECOND")
        assert values(t_env, "DESCRIBE t")[1][5] == "`ts` - INTERVAL '1' SECOND"
        with pytest.raises(SqlValidationError, match="primary key"):
            t_env.execute_sql("ALTER TABLE t DROP a")
        t_env.execute_sql("ALTER TABLE t DROP PRIMARY KEY")
        t_env.execute_sql("ALTER TABLE t DROP WATERMARK")
        assert [row[3:6] for row in values(t_env, "DESCRIBE t")] == [(None, None, None)] * 2

    def test_options_and_names(self, t_env):
        t_env.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1')")
        t_env.execute_sql("ALTER TABLE t SET ('number-of-rows' = '2')")
        assert len(values(t_env, "SELECT * FROM t")) == 2
        t_env.execute_sql("ALTER TABLE t RESET ('number-of-rows')")
        assert "number-of-rows" not in values(t_env, "SHOW CREATE TABLE t")[0]
        t_env.execute_sql("ALTER TABLE t RENAME TO u")
        assert t_env.list_tables() == ["u"]
        t_env.execute_sql("ALTER TABLE IF EXISTS nope SET ('a' = 'b')")
        with pytest.raises(SqlValidationError, match="Unknown table 'nope'"):
            t_env.execute_sql("ALTER TABLE nope SET ('a' = 'b')")


class TestViews:
    def test_a_view_sees_its_own_database(self, t_env):
        t_env.create_temporary_view("base", t_env.from_elements([(1,)], ["a"]))
        t_env.execute_sql("CREATE VIEW v (renamed) AS SELECT a FROM base")
        t_env.execute_sql("CREATE DATABASE other")
        t_env.execute_sql("USE other")
        assert values(t_env, "SELECT renamed FROM default_database.v") == [1]
        assert values(t_env, "SHOW CREATE VIEW default_database.v") == [
            "CREATE VIEW `default_catalog`.`default_database`.`v` (\n  `renamed`\n)\nAS SELECT a FROM base\n"
        ]

    def test_a_view_follows_its_tables(self, t_env):
        t_env.create_temporary_view("base", t_env.from_elements([(1,)], ["a"]))
        t_env.execute_sql("CREATE TEMPORARY VIEW v AS SELECT * FROM base")
        t_env.drop_temporary_view("base")
        with pytest.raises(SqlValidationError, match="Unknown table 'base'"):
            t_env.execute_sql("SELECT * FROM v")
        t_env.create_temporary_view("base", t_env.from_elements([(2,)], ["a"]))
        assert values(t_env, "SELECT * FROM v") == [2]

    def test_alter_and_drop(self, t_env):
        t_env.execute_sql("CREATE VIEW v AS SELECT 1 AS a")
        t_env.execute_sql("ALTER VIEW v AS SELECT 2 AS b")
        t_env.execute_sql("ALTER VIEW v RENAME TO w")
        assert values(t_env, "SELECT b FROM w") == [2]
        assert t_env.list_views() == ["w"] and t_env.list_tables() == ["w"]
        with pytest.raises(SqlValidationError):
            t_env.execute_sql("DROP TABLE w")
        t_env.execute_sql("DROP VIEW w")
        assert t_env.list_views() == []

    def test_wrong_number_of_names(self, t_env):
        with pytest.raises(SqlValidationError, match="not match"):
            t_env.execute_sql("CREATE VIEW v (a, b) AS SELECT 1")

    def test_views_cannot_be_written(self, t_env):
        t_env.execute_sql("CREATE VIEW v AS SELECT 1 AS a")
        with pytest.raises(SqlValidationError, match="is a view"):
            t_env.execute_sql("INSERT INTO v SELECT 1")


class TestCatalogs:
    def test_databases(self, t_env):
        t_env.execute_sql("CREATE DATABASE db COMMENT 'mine' WITH ('k' = 'v')")
        t_env.execute_sql("CREATE DATABASE IF NOT EXISTS db")
        with pytest.raises(SqlValidationError, match="already exists"):
            t_env.execute_sql("CREATE DATABASE db")
        t_env.execute_sql("CREATE TABLE db.t (a INT)")
        t_env.use_database("db")
        assert t_env.get_current_database() == "db" and t_env.list_tables() == ["t"]
        with pytest.raises(SqlValidationError, match="in use"):
            t_env.execute_sql("DROP DATABASE db")
        t_env.use_database("default_database")
        with pytest.raises(SqlValidationError, match="not empty"):
            t_env.execute_sql("DROP DATABASE db")
        t_env.execute_sql("DROP DATABASE db CASCADE")
        assert values(t_env, "SHOW DATABASES") == ["default_database"]
        with pytest.raises(SqlValidationError, match="does not exist") as raised:
            t_env.use_database("default_databas")
        assert raised.value.remedy == "did you mean 'default_database'?"

    def test_catalogs(self, t_env):
        t_env.execute_sql("CREATE CATALOG c WITH ('type' = 'generic_in_memory', 'default-database' = 'd')")
        t_env.execute_sql("CREATE TABLE c.d.t (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1')")
        assert len(values(t_env, "SELECT * FROM c.d.t")) == 1
        t_env.use_catalog("c")
        assert values(t_env, "SHOW CURRENT DATABASE") == ["d"] and values(t_env, "SHOW TABLES") == ["t"]
        assert t_env.get_catalog("c").list_tables("d") == ["t"] and t_env.get_catalog("x") is None
        t_env.use_catalog("default_catalog")
        t_env.execute_sql("DROP CATALOG c")
        assert t_env.list_catalogs() == ["default_catalog"]
        with pytest.raises(SqlNotSupportedError, match="type 'hive'"):
            t_env.execute_sql("CREATE CATALOG h WITH ('type' = 'hive')")

    def test_names_of_three_parts_with_quotes(self, t_env):
        t_env.execute_sql("CREATE TABLE `default_catalog`.`default_database`.`a b` (x INT)")
        assert t_env.list_tables() == ["a b"]
        assert t_env.from_path("default_database.`a b`").get_schema().get_field_names() == ["x"]


class TestSettings:
    def test_set_and_reset(self, t_env):
        t_env.execute_sql("SET 'table.local-time-zone' = 'Asia/Shanghai'")
        assert t_env.get_config().get_local_timezone() == "Asia/Shanghai"
        assert values(t_env, "SELECT CAST(TO_TIMESTAMP_LTZ(0, 3) AS STRING)") == ["1970-01-01 08:00:00.000"]
        t_env.execute_sql("RESET 'table.local-time-zone'")
        assert values(t_env, "SELECT CAST(TO_TIMESTAMP_LTZ(0, 3) AS STRING)") == ["1970-01-01 00:00:00.000"]
        assert dict(values(t_env, "SET"))["headrace.executor"] == "local"
        t_env.execute_sql("RESET")
        assert dict(values(t_env, "SET"))["headrace.executor"] == "local"

    def test_wrong_values(self, t_env):
        with pytest.raises(HeadraceError, match="time zone is unknown"):
            t_env.execute_sql("SET 'table.local-time-zone' = 'Mars/Olympus'")
        with pytest.raises(SqlNotSupportedError, match="dialect"):
            t_env.get_config().set("table.sql-dialect", "hive")
        with pytest.raises(HeadraceError, match="There is no option"):
            t_env.get_config().set("headrace.no-such-option", "1")


class TestRefused:
    @pytest.mark.parametrize(
        ("statement", "why"),
        [
            ("UPDATE t SET a = 1", "UPDATE"),
            ("DELETE FROM t", "DELETE"),
            ("TRUNCATE TABLE t", "TRUNCATE"),
            ("CALL p(1)", "procedures"),
            ("ANALYZE TABLE t COMPUTE STATISTICS", "statistics"),
            ("COMPILE PLAN 'x' FOR INSERT INTO t SELECT 1", "plans"),
            ("EXECUTE PLAN 'x'", "plans"),
            ("CREATE MODEL m WITH ('provider' = 'x')", "models"),
            ("STOP JOB '1'", "headrace stop"),
            ("SHOW JOBS", "SHOW JOBS"),
            ("SHOW PARTITIONS t", "SHOW PARTITIONS"),
            ("LOAD MODULE hive", "module 'hive'"),
            ("UNLOAD MODULE core", "core"),
            ("CREATE FUNCTION f AS 'a.B' LANGUAGE JAVA", "JAVA"),
            ("BEGIN STATEMENT SET", "create_statement_set"),
        ],
    )
    def test_with_the_reason(self, t_env, statement, why):
        with pytest.raises(SqlNotSupportedError) as raised:
            t_env.execute_sql(statement)
        assert why in str(raised.value)

    def test_errors_have_a_caret(self, t_env):
        with pytest.raises(SqlValidationError) as raised:
            t_env.execute_sql("SELECT a,\n  nam FROM (VALUES (1, 2)) AS t (a, name)")
        assert str(raised.value).startswith("Unknown column 'nam' at line 2, column 3:\n    nam FROM")
        assert raised.value.remedy == "did you mean 'name'?"

    def test_one_statement_at_a_time(self, t_env):
        with pytest.raises(SqlValidationError, match="single SQL statement"):
            t_env.execute_sql("SELECT 1; SELECT 2")
        with pytest.raises(SqlValidationError, match="sql_query"):
            t_env.sql_query("CREATE TABLE t (a INT)")


class TestStatementSets:
    def test_several_sinks_run_as_one_job(self, t_env, tmp_path):
        for name in ("first", "second"):
            t_env.execute_sql(
                f"CREATE TABLE `{name}` (a INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / name}', 'format' = 'csv')"
            )
        t_env.create_temporary_view("v", t_env.sql_query("SELECT * FROM (VALUES (1), (2)) AS t (a)"))
        statements = t_env.create_statement_set().add_insert_sql("INSERT INTO `first` SELECT * FROM v")
        statements.add_insert("`second`", t_env.sql_query("SELECT a FROM v WHERE a > 1"))
        result = statements.execute()
        result.wait()
        assert [tuple(row) for row in result.collect()] == [(-1, -1)]
        assert sorted(values(t_env, "SELECT * FROM `first`")) == [1, 2] and values(t_env, "SELECT * FROM `second`") == [
            2
        ]
        with pytest.raises(HeadraceError, match="empty"):
            statements.execute()

    def test_as_a_statement(self, t_env):
        t_env.execute_sql("CREATE TABLE nothing (a INT) WITH ('connector' = 'blackhole')")
        statement = "EXECUTE STATEMENT SET BEGIN INSERT INTO nothing SELECT 1; INSERT INTO nothing SELECT 2; END"
        assert [tuple(row) for row in t_env.execute_sql(statement).collect()] == [(-1, -1)]

    def test_explain(self, t_env):
        t_env.execute_sql("CREATE TABLE nothing (a INT) WITH ('connector' = 'blackhole')")
        shown = t_env.create_statement_set().add_insert_sql("INSERT INTO nothing SELECT 1").explain()
        assert "== Optimized Execution Plan ==" in shown and "nothing" in shown
        assert "changelogMode" in t_env.explain_sql("SELECT 1 AS a", 1)

    def test_only_inserts(self, t_env):
        with pytest.raises(SqlValidationError, match="Only INSERT"):
            t_env.create_statement_set().add_insert_sql("SELECT 1")


def test_schema_is_kept_as_ddl():
    schema = Schema.new_builder().column("a", "INT").column_by_metadata("m", "STRING", "key", True).build()
    again = Schema.new_builder().from_schema(schema).primary_key_named("k", "a").build()
    assert again.lines == (
        "`a` INT",
        "`m` STRING METADATA FROM 'key' VIRTUAL",
        "CONSTRAINT `k` PRIMARY KEY (`a`) NOT ENFORCED",
    )
